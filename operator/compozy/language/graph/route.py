"""`route` in a graph plan: the first condition that holds chooses the way."""

from collections.abc import Mapping
from typing import Any, Final

from compozy.language.compiled import Condition, RouteSpec
from compozy.language.graph.fields import Fields
from compozy.language.graph.made import Made
from compozy.language.graph.shapes import TEXT, Members

OUTPUT: Final = Members({"to": TEXT, "cause": TEXT, "matched_when": TEXT})


def compile_route(values: Mapping[str, Any], fields: Fields) -> Made | None:
    """Compile a route; None where it cannot be right, with the problems recorded."""
    before = len(fields.problems)
    routes = values.get("routes")
    if not isinstance(routes, list) or not routes:
        fields.report("routes", "route_empty", "a route has at least one {when, to}")
        routes = []
    entries = [_entry(route, f"routes[{index}]", fields) for index, route in enumerate(routes)]
    compiled = [entry for entry in entries if entry is not None]
    default = values.get("default")
    if default is None:
        fields.report("default", "route_default_required", "a route needs a `default` for when nothing holds")
    destinations = [(f"routes[{index}].to", route["to"]) for index, route in enumerate(routes) if _has_to(route)]
    destinations += [] if default is None else [("default", default)]
    _check_destinations(destinations, values.get("on_error"), fields)
    if len(fields.problems) > before or not isinstance(default, str):
        return None
    return Made(RouteSpec(routes=tuple(compiled), default=default), OUTPUT)


def _has_to(route: Any) -> bool:
    """Whether an entry says where it leads, whatever else is wrong with it."""
    return isinstance(route, Mapping) and "to" in route


def _entry(route: Any, key: str, fields: Fields) -> tuple[str, Condition, Any] | None:
    values = fields.keys(route, key, ("when", "to"), required=("when", "to"))
    if len(values) != 2:
        return None
    condition = fields.condition(values["when"], f"{key}.when")
    if condition is None:
        return None
    return values["when"], condition, values["to"]


def _check_destinations(destinations: list[tuple[str, Any]], on_error: Any, fields: Fields) -> None:
    """Every edge out is the destination of one route, except that a failure may have one to itself."""
    forward = dict.fromkeys(fields.forward, False)
    failing = on_error.get("route") if isinstance(on_error, Mapping) else None
    for key, destination in destinations:
        if not isinstance(destination, str) or destination not in forward:
            message = f"`{destination}` is not a direct forward edge of `{fields.node}`; add the edge"
            fields.report(key, "route_destination_invalid", message)
        elif forward[destination]:
            message = f"`{destination}` is the destination of two routes; each needs its own"
            fields.report(key, "route_destination_duplicate", message)
        else:
            forward[destination] = True
    for target, is_chosen in forward.items():
        if not is_chosen and target != failing:
            message = f"the edge to `{target}` is never chosen; add a route to it or remove the edge"
            fields.report("routes", "route_edge_undeclared", message)
