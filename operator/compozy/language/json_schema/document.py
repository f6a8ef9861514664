"""A plan file as JSON Schema: a bare document or a Plan manifest, in either dialect."""

from typing import Any, Final

from compozy.api.base import API_VERSION
from compozy.language.authoring.grammar import IDENTITY, REQUESTS, SPEC
from compozy.language.graph.inputs import REFERENCES, TYPES
from compozy.language.json_schema import graph
from compozy.language.json_schema.steps import Schema, definitions, table_schema
from compozy.language.keys import camel

_TEXT: Final[Schema] = {"type": "string"}
_TEXTS: Final[Schema] = {"type": "array", "items": _TEXT}

_INPUT: Final[Schema] = {
    "type": "object",
    "properties": {
        "type": {"enum": list(TYPES)},
        "required": {"type": "boolean"},
        "description": _TEXT,
        "default": {},
        "enum": {"type": "array", "minItems": 1},
        "ref": {
            "type": "object",
            "properties": {"kind": {"enum": list(REFERENCES)}},
            "required": ["kind"],
            "additionalProperties": False,
        },
    },
    "required": ["type"],
    "if": {"properties": {"type": {"const": "ref"}}, "required": ["type"]},
    "then": {"required": ["ref"]},
    "else": {"properties": {"ref": False}},
    "additionalProperties": False,
}

_RULES: Final[list[Schema]] = [
    {"oneOf": [{"required": ["steps"]}, {"required": ["graph"]}]},
    {"not": {"required": ["solver", "output"]}},
    {"if": {"required": ["graph"]}, "then": {"properties": {"solver": False}}},
    {"if": {"required": ["steps"]}, "then": {"properties": {"inputs": False}}},
]
"""A plan has one dialect. Only steps have a solver, and only graphs have declared inputs."""


def plan_schema() -> Schema:
    """The whole schema, in draft 07: the one that editors know best."""
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "Plan",
        "description": "A plan of Compozy for Kubernetes, in its normal spelling.",
        "type": "object",
        "if": {"required": ["apiVersion", "kind"]},
        "then": {"$ref": "#/definitions/manifest"},
        "else": {"$ref": "#/definitions/bare"},
        "definitions": {
            "bare": _plan(is_resource=False),
            "manifest": _manifest(),
            "spec": _plan(is_resource=True),
            **graph.definitions(),
            **definitions(),
        },
    }


def _manifest() -> Schema:
    return {
        "type": "object",
        "properties": {
            "apiVersion": {"const": API_VERSION},
            "kind": {"const": "Plan"},
            "metadata": {"type": "object"},
            "spec": {"$ref": "#/definitions/spec"},
        },
        "required": ["spec"],
        "additionalProperties": False,
    }


def _plan(*, is_resource: bool) -> Schema:
    """A plan, with the keys of a bare document or with those of the resource's `spec`."""
    spelling: Any = camel if is_resource else str
    fields: dict[str, Schema] = {
        "identifier": {"type": "string", "minLength": 1},
        "name": {"type": "string", "minLength": 1},
        "description": _TEXT,
        "profile": {"enum": ["delivery", "watch"]},
        "exemplars": _TEXTS,
        "requires_servers": _TEXTS,
        "inputs": {"type": "object", "additionalProperties": _INPUT},
        "requests": table_schema(REQUESTS, {"expire_after": _TEXT}, spelling),
        "steps": {"type": "array", "minItems": 1, "items": {"$ref": "#/definitions/top_step"}},
        "graph": {"$ref": "#/definitions/graph"},
        "solver": {"$ref": "#/definitions/solver"},
    }
    inputs_once = {"not": {"required": [spelling("input_schema"), "inputs"]}}
    table = SPEC if is_resource else {**IDENTITY, **SPEC}
    return {**table_schema(table, fields, spelling), "allOf": [*_RULES, inputs_once]}
