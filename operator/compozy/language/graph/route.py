"""`route` in a graph plan: the first condition that holds chooses the way."""

from collections.abc import Mapping
from typing import Any

from compozy.language.compiled import Condition, RouteSpec
from compozy.language.graph.fields import Fields
from compozy.language.keys import read_keys


def compile_route(values: Mapping[str, Any], fields: Fields) -> RouteSpec | None:
    """Compile a route; None where it cannot be right, with the problems recorded."""
    before = len(fields.problems)
    routes = values.get("routes")
    if not isinstance(routes, list) or not routes:
        fields.report("routes", "route_empty", "a route has at least one {when, to}")
        routes = []
    compiled: list[tuple[str, Condition, str]] = []
    for index, route in enumerate(routes):
        entry = _entry(route, f"routes[{index}]", fields)
        if entry is not None:
            compiled.append(entry)
    default = values.get("default")
    if default is None:
        fields.report("default", "route_default_required", "a route needs a `default` for when nothing holds")
    destinations = [entry[2] for entry in compiled] + ([default] if isinstance(default, str) else [])
    _check_destinations(destinations, fields)
    if len(fields.problems) > before or not isinstance(default, str):
        return None
    return RouteSpec(routes=tuple(compiled), default=default)


def _entry(route: Any, key: str, fields: Fields) -> tuple[str, Condition, str] | None:
    path = f"{fields.path}.{key}"
    values = read_keys(route, path, ("when", "to"), fields.problems, required=("when", "to"))
    if len(values) != 2:
        return None
    condition = fields.condition(values["when"], f"{key}.when")
    if condition is None:
        return None
    return values["when"], condition, values["to"]


def _check_destinations(destinations: list[Any], fields: Fields) -> None:
    forward = fields.edges.out(fields.node)
    for index, destination in enumerate(destinations):
        if destination not in forward:
            message = f"`{destination}` is not a direct forward edge of `{fields.node}`; add the edge"
            fields.report("routes", "route_destination_invalid", message)
        elif destination in destinations[:index]:
            message = f"`{destination}` is the destination of two routes; each needs its own"
            fields.report("routes", "route_destination_duplicate", message)
    for target in forward:
        if target not in destinations:
            message = f"the edge to `{target}` is never chosen; add a route to it or remove the edge"
            fields.report("routes", "route_edge_undeclared", message)
