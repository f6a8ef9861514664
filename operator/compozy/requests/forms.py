"""A schema as a form: the fields a person fills in, one after the other, and what their words mean as JSON.

The ask-steps page: the schema is walked field by field, the description is the label, an enum is a choice,
and typed text is coerced to the schema's types. Nested objects of the graph dialect are flattened to dotted
names; what cannot be asked field by field is asked as one line of JSON.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from compozy.language.annotations import ENTITY_KIND
from compozy.language.field_order import ORDER
from compozy.language.schema import PRIMITIVES
from compozy.requests.choices import Choice, Names, choices_of

JSON_TYPE: Final = "json"
"""Type of a field that takes any JSON value."""

MAX_NAMES = 20
"""Names of entities that a form shows; of more only the kind is told."""

_MAX_NESTING = 8
_PLAIN_OBJECT = frozenset(
    (
        *(
            "$comment",
            "$defs",
            "$id",
            "$schema",
            "additionalProperties",
            "default",
            "deprecated",
            "description",
        ),
        *(
            "examples",
            "properties",
            "readOnly",
            "required",
            "title",
            "type",
            "unevaluatedProperties",
            "writeOnly",
        ),
        ORDER,
    )
)


class _Missing:
    """The type of `MISSING`."""

    def __repr__(self) -> str:
        return "MISSING"


MISSING: Final = _Missing()
"""Says that there is no value, where null would be one."""


@dataclass(frozen=True, slots=True)
class FormField:
    """One line of a form."""

    path: tuple[str, ...]
    """Names of properties from the root; empty where the whole answer is this one field."""
    type: str
    """`string`, `integer`, `number`, `boolean`, `enum` or `json`."""
    description: str
    """The label a person sees; empty when the author gave none."""
    required: bool
    default: Any = MISSING
    """What Enter stands for; `MISSING` when the schema has no default."""
    choices: tuple[Choice, ...] = ()
    """Of an `enum`: what can be chosen."""
    schema: Mapping[str, Any] = field(default_factory=dict)
    """The part of the schema that the value must conform to."""
    entity_kind: str | None = None
    """What the text must name, where the schema says so with `x-compozy-kind`."""
    names: tuple[Choice, ...] = ()
    """Of such a text: what there is to choose from, where that is known and not too long to show."""

    @property
    def name(self) -> str:
        """The dotted name, as faults name it: `payload` for the whole answer."""
        return ".".join(self.path) or "payload"

    @property
    def hint(self) -> str:
        """What can be typed: the choices, the kind of name, `y/n`, `integer`, `number`, `text` or `json`."""
        if self.choices or self.names:
            return " | ".join(choice.text for choice in self.choices or self.names)
        if self.entity_kind and self.type == "string":
            return f"{self.entity_kind} name"
        return {"boolean": "y/n", "string": "text"}.get(self.type, self.type)


def fields(schema: Mapping[str, Any]) -> list[FormField]:
    """Return the fields of the form for `schema`, in the order in which the author wrote them.

    An object without properties has no field at all: agreeing to it is the whole answer. The schema must be
    usable (`compozy.language.schema.check_schema` finds nothing).
    """
    return list(_walk(schema, schema, (), required=True))


def with_names(field: FormField, names: Names) -> FormField:
    """Return the field with the names to choose from, where it takes one and they fit a line."""
    if field.type != "string" or field.entity_kind is None:
        return field
    known = names(field.entity_kind) or ()
    return replace(field, names=tuple(known)) if len(known) <= MAX_NAMES else field


def payload_of(values: Mapping[tuple[str, ...], Any]) -> Any:
    """Return the answer that the values of fields make: nested again where names were dotted."""
    if () in values:
        return values[()]
    payload: dict[str, Any] = {}
    for path, value in values.items():
        place = payload
        for name in path[:-1]:
            place = place.setdefault(name, {})
        place[path[-1]] = value
    return payload


def _walk(root: Mapping[str, Any], schema: Any, path: tuple[str, ...], *, required: bool) -> Iterator[FormField]:
    declared = _resolved(root, schema)
    if not _is_plain_object(declared, path) or len(path) > _MAX_NESTING:
        yield _field(declared, path, required=required)
        return
    needed = declared.get("required", [])
    for name in _names(declared):
        part = declared.get("properties", {}).get(name, {})
        if part is False and name not in needed:
            continue
        yield from _walk(root, part, (*path, name), required=required and name in needed)


def _resolved(root: Mapping[str, Any], schema: Any) -> Mapping[str, Any]:
    """Follow a reference such as `#/$defs/reviewer`; what stands beside it wins."""
    declared: Mapping[str, Any] = schema if isinstance(schema, Mapping) else {}
    for _ in range(_MAX_NESTING):
        reference = declared.get("$ref")
        if not isinstance(reference, str) or not reference.startswith("#/"):
            break
        target: Any = root
        for segment in reference[2:].split("/"):
            target = target.get(segment) if isinstance(target, Mapping) else None
        if not isinstance(target, Mapping):
            break
        declared = {**target, **{key: value for key, value in declared.items() if key != "$ref"}}
    return declared


def _is_plain_object(schema: Mapping[str, Any], path: tuple[str, ...]) -> bool:
    """Whether every rule of the object is about one property at a time, and a form can make it up."""
    named = bool(schema.get("properties") or schema.get("required"))
    whole = not path and "properties" in schema
    return (
        schema.get("type", "object") == "object"
        and (named or whole)
        and all(key in _PLAIN_OBJECT for key in schema)
    )


def _names(schema: Mapping[str, Any]) -> list[str]:
    """The properties in the author's order, then those that are required without being described."""
    properties, order = schema.get("properties", {}), schema.get(ORDER)
    ordered = [name for name in order if name in properties] if isinstance(order, list) else []
    return list(dict.fromkeys((*ordered, *properties, *schema.get("required", ()))))


def _field(schema: Mapping[str, Any], path: tuple[str, ...], *, required: bool) -> FormField:
    choices, kind = choices_of(schema), schema.get("type")
    if choices:
        shown = "enum"
    else:
        shown = kind if isinstance(kind, str) and kind in PRIMITIVES and _is_simple(schema) else JSON_TYPE
    return FormField(
        path=path,
        type=shown,
        description=str(schema.get("description") or schema.get("title") or ""),
        required=required,
        default=schema.get("default", MISSING),
        choices=choices,
        schema=schema,
        entity_kind=schema.get(ENTITY_KIND),
    )


def _is_simple(schema: Mapping[str, Any]) -> bool:
    return not any(key in schema for key in ("allOf", "anyOf", "oneOf", "$ref"))
