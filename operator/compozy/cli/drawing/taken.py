"""Which ways a run has taken."""

from collections.abc import Mapping
from typing import Any

from compozy.cli.drawing.cells import Cells
from compozy.cli.drawing.model import Drawing, Link, Shape

_NOT_REACHED = ("Pending", "Skipped")
_EXIT_FIRED = "exit_fired"
"""Reason of a gate that ended its run."""


def mark_links(drawing: Drawing, cells: Cells, *, has_ended: bool) -> None:
    """Says of every link whether the run went that way. Once a run has ended nothing is open any more."""
    for link in drawing.links:
        target = drawing.shapes[link.target]
        taken = _taken(drawing.shapes[link.source], target, link, cells)
        if target.status == "Skipped" or (taken is None and has_ended):
            taken = False
        link.taken = taken


def _taken(source: Shape, target: Shape, link: Link, cells: Cells) -> bool | None:
    if link.kind == "body":
        return True if target.status not in _NOT_REACHED else None
    if source.kind == "fan-out" and target.group == source.id and target.status not in _NOT_REACHED:
        return True
    known = cells.of(source.id) or {(): {"status": source.status}}
    verdicts = [_verdict(source, target, link, told) for told in known.values()]
    if True in verdicts:
        return True
    return None if None in verdicts else False


def _verdict(source: Shape, target: Shape, link: Link, told: Mapping[str, Any]) -> bool | None:
    """Whether the source led this way, in one lane."""
    if told["status"] in ("Failed", "Skipped", "Canceled"):
        return False
    if told["status"] != "Succeeded":
        return None
    if told.get("reason") == _EXIT_FIRED:
        return False
    if told.get("route"):
        return bool(told["route"] == target.title)
    output = told.get("output")
    if source.kind == "branch" and isinstance(output, Mapping) and output.get("taken") is False:
        return False
    return link.kind != "exception"
