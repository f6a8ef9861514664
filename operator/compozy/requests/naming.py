"""Names of requests: they follow from what asks, so opening the same question twice cannot make two of it."""

import hashlib
import json
import re

MAX_NAME = 253
"""Longest name of a Kubernetes object."""

_MAX_RUN = 100
_MAX_NODE = 80


def request_name(run: str, run_uid: str, generation: int, node: str, item: int | None = None) -> str:
    """Return the name of the request that a node of a run opens: a DNS-1123 subdomain.

    Readable first, then eight digits that tell apart what the readable part cannot: the run's uid (a run of
    the same name may have been deleted), and nodes that differ only in characters a name cannot hold.

    Args:
        run: name of the PlanRun.
        run_uid: its `metadata.uid`.
        generation: the attempt, from 1.
        node: the step or node as a path, such as `E3/do.2/E10`.
        item: index of the source item in a fan-out, from 0; None outside of one.

    Raises:
        ValueError: for a generation below 1 or a negative item.
    """
    if generation < 1 or (item is not None and item < 0):
        raise ValueError(f"generation {generation} must be at least 1, item {item} at least 0")
    exact = json.dumps([run_uid, generation, node, item])
    parts = [
        _slug(run, _MAX_RUN),
        _slug(node, _MAX_NODE),
        f"g{generation}" if generation > 1 else "",
        str(item) if item is not None else "",
        hashlib.sha256(exact.encode()).hexdigest()[:8],
    ]
    return "-".join(part for part in parts if part)


def _slug(text: str, longest: int) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:longest].rstrip("-")
