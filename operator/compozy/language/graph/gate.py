"""`gate` in a graph plan: go on only where every criterion passes."""

from collections.abc import Mapping
from typing import Any, Final

from compozy.language.compiled import Criterion, GateRoute, GateSpec, Node, block_of
from compozy.language.graph.criteria import compile_criterion
from compozy.language.graph.fields import Fields, join
from compozy.language.graph.made import Made
from compozy.language.graph.numbers import whole_number
from compozy.language.graph.shapes import LIST, TEXT, Members

MAX_REVISIONS: Final = 64
DEFAULT_REVISIONS: Final = 10
MAX_CRITERIA: Final = 50

OUTPUT: Final = Members({"outcome": TEXT, "criteria": LIST})

_DEFAULTS: Final[Mapping[str, GateRoute]] = {
    "pass": GateRoute("continue"),
    "fail": GateRoute("revise"),
    "error": GateRoute("halt"),
}
_READ_AS: Final[Mapping[str, str]] = {
    **{name: name for name in _DEFAULTS},
    **dict.fromkeys(("blocked", "timeout", "invalid_output"), "error"),
}
"""By a key of `on_result`: the verdict that it speaks of here."""

_INVALID: Final = "gate_route_invalid"


def compile_gate(values: Mapping[str, Any], fields: Fields) -> Made | None:
    """Compile a gate; None where it cannot be right, with the problems recorded."""
    before = len(fields.problems)
    criteria = _criteria(values.get("criteria"), fields)
    _check_policy(values.get("verdict_policy"), criteria, fields)
    routes = _routes(values.get("on_result"), fields)
    revisions = values.get("max_revisions", DEFAULT_REVISIONS)
    code = "gate_max_revisions_invalid"
    revisions = whole_number(revisions, "max_revisions", fields, 1, MAX_REVISIONS, code)
    if len(fields.problems) > before:
        return None
    nodes = {
        criterion.id: Node(criterion.id, criterion.spec, join(fields.path, f"criteria[{index}]"))
        for index, criterion in enumerate(criteria)
    }
    return Made(GateSpec(tuple(criteria), block_of(nodes), routes, revisions), OUTPUT)


def _criteria(value: Any, fields: Fields) -> list[Criterion]:
    """Every criterion that can be right. Ids are unique and one person decides at most."""
    if not isinstance(value, list) or not 1 <= len(value) <= MAX_CRITERIA:
        message = f"a gate has 1 to {MAX_CRITERIA} criteria: a list of {{id, type, ...}}"
        fields.report("criteria", "gate_criteria_required", message)
        return []
    found: dict[str, Criterion] = {}
    for index, written in enumerate(value):
        criterion = compile_criterion(written, f"criteria[{index}]", fields)
        if criterion is None:
            continue
        if criterion.id in found:
            message = f"the id `{criterion.id}` is used twice in this gate"
            fields.report(f"criteria[{index}].id", "gate_criterion_duplicate", message)
        elif criterion.type == "human" and any(other.type == "human" for other in found.values()):
            message = "a gate has at most one human criterion; ask for both in one prompt, or use two gates"
            fields.report(f"criteria[{index}].type", "gate_human_multiple", message)
        found[criterion.id] = criterion
    return list(found.values())


def _check_policy(value: Any, criteria: list[Criterion], fields: Fields) -> None:
    if value not in (None, "revise_until_clean", "fixed_passes"):
        message = "must be `revise_until_clean` or `fixed_passes`"
        fields.report("verdict_policy", "invalid_value", message)
    judges = any(criterion.type in ("agent-judge", "human") for criterion in criteria)
    if value == "revise_until_clean" and criteria and not judges:
        message = "`revise_until_clean` needs a criterion of type agent-judge or human: somebody who tells why"
        fields.report("verdict_policy", "verdict_policy_requires_judge", message)


def _routes(value: Any, fields: Fields) -> dict[str, GateRoute]:
    """What follows on each verdict."""
    routes, named = dict(_DEFAULTS), dict[str, str]()
    written = {} if value is None else fields.keys(value, "on_result", (*_READ_AS, "approval"), refusal=_INVALID)
    for name, result in written.items():
        key = f"on_result.{name}"
        if name == "approval":
            _check_approval(result, key, fields)
            continue
        route = _route(result, key, fields)
        verdict = _READ_AS[name]
        if route is not None and verdict in named and route != routes[verdict]:
            message = f"`{named[verdict]}` and `{name}` are one verdict here; say the same for both"
            fields.report(key, _INVALID, message)
        if route is not None:
            routes[verdict], named[verdict] = route, name
    return routes


def _check_approval(value: Any, key: str, fields: Fields) -> None:
    """While an approval is pending there is nothing to choose: a person is asked."""
    if value != "escalate":
        message = "can only be `escalate`: while a person has not decided, the gate waits"
        fields.report(key, _INVALID, message)


def _route(value: Any, key: str, fields: Fields) -> GateRoute | None:
    if not isinstance(value, Mapping):
        return _action(value, None, None, key, fields)
    values = fields.keys(value, key, ("route", "branch", "terminal_status", "reason_code"), refusal=_INVALID)
    if values.get("terminal_status", "failed") != "failed":
        message = "a gate that halts fails its node: only `failed` can be written"
        fields.report(f"{key}.terminal_status", _INVALID, message)
    action, branch = values.get("route"), values.get("branch")
    if action in fields.forward and branch is None and len(values) == 1:
        return GateRoute("branch", str(action))
    reason = values.get("reason_code")
    if reason is not None and not (isinstance(reason, str) and reason):
        fields.report(f"{key}.reason_code", _INVALID, "must be a code, such as `tests_failed`")
        reason = None
    return _action(action, branch, reason, key, fields)


def _action(action: Any, branch: Any, reason: str | None, key: str, fields: Fields) -> GateRoute | None:
    if (action == "branch") != (branch is not None):
        fields.report(key, _INVALID, "`branch` names a node and belongs to the action `branch`")
        return None
    match action:
        case "continue" | "revise" | "next_generation" | "halt":
            return GateRoute(action, None, reason)
        case "branch" if branch in fields.forward:
            return GateRoute("branch", branch, reason)
        case "branch":
            message = f"`branch` must be a direct forward edge of `{fields.node}`; add the edge"
            fields.report(f"{key}.branch", _INVALID, message)
        case "escalate":
            fields.report(key, _INVALID, "`escalate` is not supported: add a criterion of type human")
        case _:
            message = "must be continue, revise, next_generation or halt, or {route: branch, branch: <node>}"
            fields.report(key, _INVALID, message)
    return None
