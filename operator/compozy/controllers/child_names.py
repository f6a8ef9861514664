"""Names of runs that runs start: they follow from what starts them, so starting one twice cannot make two."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from compozy.api.base import MAX_NAME


def child_name(run: Mapping[str, Any], generation: int, path: str, attempt: int) -> str:
    """The name of the run that a place in a run starts: readable first, then what tells it apart."""
    metadata = run["metadata"]
    exact = json.dumps([metadata["uid"], generation, path, attempt])
    digest = hashlib.sha256(exact.encode()).hexdigest()[:8]
    node = path.rpartition("/")[2].replace("_", "-").replace(".", "-").lower().strip("-")
    return f"{metadata['name'][: MAX_NAME - 30]}-{node[:18].strip('-')}-{digest}"
