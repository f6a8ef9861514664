"""Where a node of a graph may lead to, and when: the labels of its edges."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from compozy.cli.drawing.model import field_of, list_of, text_of


@dataclass(frozen=True, slots=True)
class Way:
    """When a node leads along an edge."""

    label: str
    is_exception: bool = False
    """Whether that is when nobody answered, a person refused, or something failed."""


def ways_of(node: Mapping[str, Any]) -> dict[str, Way]:
    """The ways that the node itself names, by the id that each leads to. Several to one node share a label."""
    found: dict[str, Way] = {}
    for target, way in (*_chosen(node), *_exceptional(node)):
        if not target:
            continue
        known = found.get(target)
        if known is None:
            found[target] = way
        else:
            found[target] = Way(f"{known.label}, {way.label}", known.is_exception and way.is_exception)
    return found


def _chosen(node: Mapping[str, Any]) -> Iterator[tuple[str, Way]]:
    if node.get("kind") == "route":
        for route in list_of(node.get("routes")):
            yield text_of(field_of(route, "to")), Way(text_of(field_of(route, "when")))
        yield text_of(node.get("default")), Way("default")
    if node.get("kind") == "gate":
        results = field_of(node, "on_result")
        for result, action in results.items() if isinstance(results, Mapping) else ():
            yield text_of(field_of(action, "branch")), Way(text_of(result))


def _exceptional(node: Mapping[str, Any]) -> Iterator[tuple[str, Way]]:
    review = node.get("review")
    for expires in (field_of(node.get("params"), "expires"), field_of(review, "expires")):
        after = text_of(field_of(expires, "after"))
        yield text_of(field_of(expires, "route")), Way(f"expires after {after}" if after else "expires", True)
    yield text_of(field_of(field_of(review, "on_reject"), "route")), Way("rejected", True)
    yield text_of(field_of(field_of(node, "on_error"), "route")), Way("on error", True)
