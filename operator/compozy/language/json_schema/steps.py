"""The steps grammar as JSON Schema: control steps, calls of tools and plans, bodies and gates."""

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from compozy.language.authoring.grammar import CALL, CONTROL, GATE, OPERATIONS, SOLVER, STEP, Kind, Table
from compozy.language.schema import PRIMITIVES
from compozy.language.steps.block import RESERVED

Schema = dict[str, Any]

_NOT_NESTING: Final = ("decide", "map", "reduce")
PLACES: Final[Mapping[str, tuple[str, ...]]] = {
    "top": tuple(CONTROL),
    "branch": tuple(name for name in CONTROL if name not in _NOT_NESTING),
    "do": tuple(name for name in CONTROL if name not in (*_NOT_NESTING, "exit")),
}
"""The control steps that may stand at the top level, in a branch of `decide` and in the body of an iteration."""

_TEMPLATE: Final[Schema] = {"type": "string", "pattern": r"\{\{"}
_COUNT: Final[Schema] = {"type": "integer", "minimum": 1}
_NAME: Final[Schema] = {"type": "string", "minLength": 1}
_STEP_ID: Final[Schema] = {
    "type": "string",
    "pattern": f"^(?!(?:{'|'.join(sorted(map(re.escape, RESERVED)))})$)[A-Za-z_][A-Za-z0-9_]*$",
}

_OF_KIND: Final[Mapping[Kind, Schema]] = {
    Kind.PLAIN: {},
    Kind.TEXT: {"type": "string"},
    Kind.VALUE: {},
    Kind.SCHEMA: {"type": "object"},
    Kind.GATE: {"$ref": "#/definitions/gate"},
}

_FIELDS: Final[Mapping[str, Mapping[str, Schema]]] = {
    "exit": {"status": {"anyOf": [{"enum": ["success", "error"]}, _TEMPLATE]}, "output": {"type": "object"}},
    "agent": {"tools": {"type": "array", "minItems": 1, "items": _NAME}, "max_iterations": _COUNT},
    "ask": {
        "output_schema": {"$ref": "#/definitions/answer_schema"},
        "when_unanswered": {"enum": ["fail", "default"]},
    },
    "decide": {"then": {"$ref": "#/definitions/branch_body"}, "else": {"$ref": "#/definitions/branch_body"}},
    "filter": {"concurrency": _COUNT},
    "map": {"concurrency": _COUNT, "do": {"$ref": "#/definitions/do_body"}},
    "reduce": {"do": {"$ref": "#/definitions/do_body"}},
}
"""What the kind of a field does not say of its values."""


def _one_of(*names: str) -> Schema:
    return {"oneOf": [{"required": [name]} for name in names]}


_RULES: Final[Mapping[str, Schema]] = {
    "exit": {"not": {"required": ["when", "infer"]}},
    "ask": {
        "if": {"properties": {"when_unanswered": {"const": "default"}}, "required": ["when_unanswered"]},
        "then": {"required": ["default"]},
        "else": {"not": {"required": ["default"]}},
    },
    "decide": _one_of("if", "infer"),
    "filter": _one_of("where", "infer"),
}
"""What holds between the fields of an input."""


def table_schema(table: Table, fields: Mapping[str, Schema] | None = None, spelling: Any = str) -> Schema:
    """The schema of a mapping with the keys of a table; `fields` says more of some, by snake_case name."""
    properties = {}
    for name, field in table.items():
        says = (fields or {}).get(name, _OF_KIND.get(field.kind, {}))
        # Beside a `$ref` a draft-07 reader ignores everything else.
        says = {"allOf": [says]} if "$ref" in says else says
        properties[spelling(name)] = {"description": field.about, **says}
    required = [spelling(name) for name, field in table.items() if field.required]
    return {
        "type": "object",
        "properties": properties,
        "additionalProperties": False,
        **({"required": required} if required else {}),
    }


def definitions() -> Schema:
    """Every part of the steps grammar, by the name under which the others refer to it."""
    inputs = {
        f"{tool}_input": {**table_schema(table, _FIELDS.get(tool)), **_RULES.get(tool, {})}
        for tool, table in CONTROL.items()
    }
    places: Schema = {}
    for place, tools in PLACES.items():
        places[f"{place}_step"] = _call(STEP, tools, {"id": _STEP_ID})
        if place != "top":
            places[f"{place}_call"] = _call(CALL, tools, {})
            places[f"{place}_body"] = _body(place)
    return {
        "gate": table_schema(GATE, {"op": {"enum": list(OPERATIONS)}}),
        "answer_schema": _answer_schema(),
        "solver": table_schema(SOLVER),
        **inputs,
        **places,
    }


def _call(table: Table, tools: Iterable[str], fields: Mapping[str, Schema]) -> Schema:
    """A step or a call: what its input is depends on its tool."""
    names: Schema = {
        "anyOf": [
            {"enum": [*tools, "plan_and_execute"]},
            {"type": "string", "pattern": "^(?!workbench__).*__"},
        ]
    }
    base = table_schema(table, {**fields, "tool_name": names, "input": {"type": "object"}})
    chosen = [
        {
            "if": {"properties": {"tool_name": {"const": tool}}, "required": ["tool_name"]},
            "then": {"properties": {"input": {"$ref": f"#/definitions/{tool}_input"}}},
        }
        for tool in tools
    ]
    return {**base, "allOf": chosen}


def _body(place: str) -> Schema:
    return {
        "type": ["object", "array"],
        "if": {"type": "array"},
        "then": {"minItems": 1, "items": {"$ref": f"#/definitions/{place}_step"}},
        "else": {"$ref": f"#/definitions/{place}_call"},
    }


def _answer_schema() -> Schema:
    """The ask-steps page: a flat object whose properties are primitives or enums."""
    enum = {"type": "array", "minItems": 1, "items": {"type": ["string", "number", "boolean", "null"]}}
    field = {
        "type": "object",
        "properties": {"description": {"type": "string"}, "enum": enum},
        "anyOf": [
            {"properties": {"type": {"enum": list(PRIMITIVES)}}, "required": ["type"]},
            {"required": ["enum"]},
        ],
    }
    return {
        "type": "object",
        "properties": {
            "type": {"const": "object"},
            "required": {"type": "array", "items": {"type": "string"}},
            "properties": {"type": "object", "minProperties": 1, "additionalProperties": field},
        },
        "required": ["properties"],
    }
