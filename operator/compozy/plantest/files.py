"""Plans in files: one by its path, and those that it calls by name among the files beside it."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from compozy.language.document import PlanDocument, object_name, parse_document
from compozy.language.problems import PlanInvalid
from compozy.language.steps.context import PlanSource


def read_document(path: Path) -> PlanDocument:
    """A plan from a file, not yet compiled. Raises OSError, UnicodeDecodeError, PlanInvalid."""
    return parse_document(path.read_text("utf-8"))


def plans_beside(path: Path) -> PlanSource:
    """Finds plans among the files of a file's directory, by their own names. Reads them when first needed."""
    found: dict[str, dict[str, Any]] | None = None

    def source(name: str) -> Mapping[str, Any] | None:
        nonlocal found
        if found is None:
            found = _plans_in(path.parent)
        return found.get(object_name(name) or "")

    return source


def _plans_in(directory: Path) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for path in sorted(directory.glob("*.y*ml")):
        try:
            document = read_document(path)
        except (OSError, UnicodeDecodeError, PlanInvalid):
            continue
        name = document.name or object_name(path.stem)
        if name is not None:
            found.setdefault(name, document.spec)
    return found
