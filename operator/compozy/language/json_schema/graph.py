"""The graph grammar as JSON Schema: nodes of every kind, edges, and what they hold."""

from collections.abc import Mapping
from typing import Final

from compozy.api.limits import MAX_APPROVALS
from compozy.language.graph.envelope import MAX_ATTEMPTS
from compozy.language.graph.fan_out import MAX_LANES, MAX_PARALLEL
from compozy.language.graph.gate import MAX_REVISIONS
from compozy.language.graph.kinds import KINDS, UNSUPPORTED
from compozy.language.graph.review import DECISIONS
from compozy.language.json_schema import graph_tables as tables
from compozy.language.json_schema.steps import Schema, table_schema

_TEXT: Final[Schema] = {"type": "string"}
_NODE: Final[Schema] = {"type": "string", "pattern": "^[a-z][a-z0-9_]{0,62}$"}
_NAME: Final[Schema] = {"type": "string", "minLength": 1}
_DURATION: Final[Schema] = {"type": "string", "pattern": "^([0-9]+(\\.[0-9]+)?(ns|us|µs|ms|s|m|h))+$"}
_ALLOW: Final[Schema] = {"enum": ["allow", "deny"]}
_TEXTS: Final[Schema] = {"type": "array", "items": _TEXT}
_RESPONDERS: Final[Mapping[str, Schema]] = {
    "agents": _ALLOW,
    "initiator": _ALLOW,
    "users": _TEXTS,
    "groups": _TEXTS,
}
_ROUTE: Final[Schema] = {
    "type": "object",
    "properties": {"route": _NODE},
    "required": ["route"],
    "additionalProperties": False,
}
_ACTIONS: Final = ("continue", "revise", "next_generation", "halt")


def _part(name: str) -> Schema:
    return {"$ref": f"#/definitions/{name}"}


def _whole(least: int, most: int) -> Schema:
    return {"type": "integer", "minimum": least, "maximum": most}


def _closed(properties: Mapping[str, Schema], *required: str) -> Schema:
    found: Schema = {"type": "object", "properties": dict(properties), "additionalProperties": False}
    return {**found, "required": list(required)} if required else found


_ENVELOPE: Final[Mapping[str, Schema]] = {
    "id": _NODE,
    "timeout": _DURATION,
    "deadline": _DURATION,
    "retry": _part("graph_retry"),
    "on_error": _part("graph_on_error"),
}

_RETRY: Final[Mapping[str, Schema]] = {
    "max_attempts": _whole(0, MAX_ATTEMPTS),
    "backoff": _closed({"base": _DURATION, "max": _DURATION}),
    "non_retryable": _TEXTS,
}

_ON_ERROR: Final[Schema] = {
    "oneOf": [
        _ROUTE,
        _closed({"allow_fail": {"type": "boolean"}}, "allow_fail"),
        _closed({"route": _NODE, "allow_fail": {"const": False}}, "route", "allow_fail"),
    ]
}

_STRATEGY: Final[Schema] = {
    "anyOf": [
        {"enum": ["wait_all", "fail_fast", "race"]},
        _closed({"kind": {"enum": ["wait_all", "fail_fast", "race"]}}, "kind"),
        _closed(
            {
                "kind": {"const": "best_effort"},
                "threshold": {
                    "anyOf": [
                        {"type": "string", "pattern": "^([1-9][0-9]?|100)%$"},
                        _closed({"count": {"type": "integer", "minimum": 1}}, "count"),
                    ]
                },
                "missing": {"const": "acceptable"},
            },
            "kind",
        ),
    ]
}

_FIELDS: Final[Mapping[str, Mapping[str, Schema]]] = {
    "route": {
        "routes": {"type": "array", "minItems": 1, "items": _closed({"when": _TEXT, "to": _NODE}, "when", "to")},
        "default": _NODE,
    },
    "branch": {"on_eval_error": {"enum": ["fail", "exit"]}},
    "fan-out": {
        "collection": {"type": ["string", "array"]},
        "max_fan_out": _whole(1, MAX_LANES),
        "batch_size": _whole(1, MAX_LANES),
        "max_parallel": _whole(1, MAX_PARALLEL),
        "strategy": _part("graph_strategy"),
        "bind_as": _NODE,
        "index_as": _NODE,
    },
    "gate": {
        "criteria": {"type": "array", "minItems": 1, "items": _part("graph_criterion")},
        "verdict_policy": {"enum": ["revise_until_clean", "fixed_passes"]},
        "on_result": _part("graph_results"),
        "max_revisions": _whole(1, MAX_REVISIONS),
    },
    "sub-loop": {
        "body": _part("graph"),
        "contract": _closed({"stop_when": _TEXT, "iteration_cap": _whole(1, 1000)}, "stop_when"),
    },
    "run-loop": {"on_parent_close": {"enum": ["terminate", "abandon"]}},
    "input": {"input_ref": _NAME},
}
"""By kind: what the tables do not say of the keys of its nodes."""

_PARAMS: Final[Mapping[str, Mapping[str, Schema]]] = {
    "ask": {
        "context": {"type": "object"},
        "responders": _part("graph_responders"),
        "expires": _part("graph_expires"),
        "when_unanswered": {"enum": ["fail", "default"]},
    },
    "transform": {
        "map": {
            "type": "object",
            "additionalProperties": {
                "oneOf": [
                    _closed({"from": _TEXT}, "from"),
                    _closed({"template": _TEXT}, "template"),
                    _closed({"value": {}}, "value"),
                ]
            },
        }
    },
    "run-loop": {"inputs": {"type": ["object", "string"]}, "mode": {"enum": ["await", "detach"]}},
    "run-agent": {"allowed_tools": _TEXTS, "max_turns": _whole(1, 1000)},
}

_CRITERIA: Final[Mapping[str, Mapping[str, Schema]]] = {
    "command": {"expect": {"enum": ["exit_zero", "exit_nonzero", "stdout_contains"]}, "contains": _TEXT},
    "human": {"responders": _part("graph_deciders"), "expires": _closed({"after": _DURATION}, "after")},
    "extension": {"tool": _TEXT, "inputs": {"type": "object"}},
}


def definitions() -> Schema:
    """Every part of the graph grammar, by the name under which the others refer to it."""
    verdicts = dict.fromkeys(tables.RESULTS, _part("graph_result"))
    return {
        "graph": _graph(),
        "graph_node": _by("kind", {kind: f"graph_{_name(kind)}" for kind in KINDS}, "graph_tool"),
        **{f"graph_{_name(kind)}": _node(kind) for kind in KINDS},
        "graph_tool": _tool(),
        "graph_retry": table_schema(tables.RETRY, _RETRY),
        "graph_on_error": _ON_ERROR,
        "graph_strategy": _STRATEGY,
        "graph_review": table_schema(tables.REVIEW, _review()),
        "graph_responders": table_schema(tables.RESPONDERS, _RESPONDERS),
        "graph_deciders": table_schema(tables.DECIDERS, {**_RESPONDERS, "approvals": _whole(1, MAX_APPROVALS)}),
        "graph_expires": table_schema(tables.EXPIRES, {"after": _DURATION, "route": _NODE}),
        "graph_criterion": _by("type", {kind: f"graph_by_{_name(kind)}" for kind in tables.CRITERIA}),
        **{f"graph_by_{_name(kind)}": _criterion(kind) for kind in tables.CRITERIA},
        "graph_results": table_schema(tables.RESULTS, {**verdicts, "approval": {"const": "escalate"}}),
        "graph_result": _result(),
    }


def _name(kind: str) -> str:
    return kind.replace("-", "_")


def _graph() -> Schema:
    edge = _closed({"from": _NODE, "to": _NODE}, "from", "to")
    nodes = {"type": "array", "minItems": 1, "items": _part("graph_node")}
    return _closed({"nodes": nodes, "edges": {"type": "array", "items": edge}}, "nodes")


def _by(key: str, parts: Mapping[str, str], other: str | None = None) -> Schema:
    """A mapping whose `key` says by which part of the grammar it goes."""
    names: Schema = {"type": "string"} if other is not None else {"enum": list(parts)}
    names["description"] = f"One of {', '.join(parts)}{' or the name of a tool' if other is not None else ''}."
    chosen = [
        {"if": {"properties": {key: {"const": value}}, "required": [key]}, "then": _part(name)}
        for value, name in parts.items()
    ]
    if other is not None:
        chosen.append({"if": {"properties": {key: {"not": {"enum": list(parts)}}}}, "then": _part(other)})
    return {"type": "object", "properties": {key: names}, "required": [key], "allOf": chosen}


def _node(kind: str) -> Schema:
    node_class = KINDS[kind].node_class
    table = {**tables.ENVELOPE, **tables.NODES[kind]}
    fields = {**_ENVELOPE, **_FIELDS.get(kind, {}), "class": {"const": node_class}, "kind": {"const": kind}}
    if node_class == "action":
        table["review"], fields["review"] = tables.REVIEWED, _part("graph_review")
    if kind in tables.PARAMS:
        fields["params"] = table_schema(tables.PARAMS[kind], _PARAMS.get(kind))
    if kind == "wait":
        fields["params"]["oneOf"] = [{"required": ["for"]}, {"required": ["until"]}]
    return table_schema(table, fields)


def _tool() -> Schema:
    name: Schema = {"type": "string", "pattern": "^[A-Za-z][A-Za-z0-9_.-]*$", "not": {"enum": list(UNSUPPORTED)}}
    more: dict[str, Schema] = {"class": {"const": "action"}, "kind": name, "params": {"type": "object"}}
    table = {**tables.ENVELOPE, **tables.TOOL}
    return table_schema(table, {**_ENVELOPE, **more, "review": _part("graph_review")})


def _review() -> Mapping[str, Schema]:
    decisions: Schema = {"type": "array", "minItems": 1, "uniqueItems": True, "items": {"enum": list(DECISIONS)}}
    people = {"responders": _part("graph_deciders"), "expires": _part("graph_expires")}
    return {"decisions": decisions, "on_reject": _ROUTE, **people}


def _criterion(kind: str) -> Schema:
    fields = {"id": _NODE, "type": {"const": kind}, **_CRITERIA.get(kind, {})}
    return table_schema({**tables.CRITERION, **tables.CRITERIA[kind]}, fields)


def _result() -> Schema:
    more: dict[str, Schema] = {"terminal_status": {"const": "failed"}, "reason_code": _NAME}
    return {
        "anyOf": [
            {"enum": list(_ACTIONS)},
            _closed({"route": {"enum": list(_ACTIONS)}, **more}, "route"),
            _closed({"route": {"const": "branch"}, "branch": _NODE, **more}, "route", "branch"),
            _ROUTE,
        ]
    }
