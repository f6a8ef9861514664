"""A schema as a form: the fields a person fills in, one after the other, and what their words mean as JSON.

The ask-steps page: the schema is walked field by field, the description is the label, an enum is a choice,
and typed text is coerced to the schema's types. Nested objects of the graph dialect are flattened to dotted
names, a list of options is one field, and what cannot be asked field by field is asked as one line of JSON.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from compozy.language.annotations import ENTITY_KIND
from compozy.language.field_order import ORDER, properties_in_order
from compozy.language.schema import PRIMITIVES
from compozy.requests.choices import Choice, Names, choices_of
from compozy.requests.hints import options_hint, several_hint, type_hint

JSON_TYPE: Final = "json"
"""Type of a field that takes any JSON value."""

LIST_TYPE: Final = "list"
"""Type of a field that takes several of its choices."""

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
    """`string`, `integer`, `number`, `boolean`, `enum`, `list` or `json`."""
    description: str
    """The label a person sees; empty when the author gave none."""
    required: bool
    default: Any = MISSING
    """What Enter stands for; `MISSING` when the schema has no default."""
    choices: tuple[Choice, ...] = ()
    """Of an `enum` or a `list`: what can be chosen."""
    schema: Mapping[str, Any] = field(default_factory=dict)
    """The part of the schema that the value must conform to."""
    entity_kind: str | None = None
    """What the text must name, where the schema says so with `x-compozy-kind`."""
    names: tuple[Choice, ...] = ()
    """Of such a text: what there is to choose from, where that is known and not too long to show."""
    hidden: bool = False
    """Whether it has a value that is not shown in full, so that only a new one can be given."""

    @property
    def name(self) -> str:
        """The dotted name, as faults name it: `payload` for the whole answer."""
        return ".".join(self.path) or "payload"

    group: tuple[str, ...] = ()
    """The optional object that the field is in, the innermost of several; empty where there is none."""

    @property
    def hint(self) -> str:
        """What can be typed: the options, the kind of name, or the type with its bounds; `y/n`, `json`."""
        if self.type == LIST_TYPE:
            return several_hint(self.choices, self.schema)
        if self.choices:
            return options_hint(self.choices)
        if self.names:
            return " | ".join(choice.text for choice in self.names)
        if self.entity_kind and self.type == "string":
            return f"{self.entity_kind} name"
        return type_hint(self.type, self.schema)


def fields(schema: Mapping[str, Any]) -> list[FormField]:
    """Return the fields of the form for `schema`, in the order in which the author wrote them.

    An object without properties has no field at all: agreeing to it is the whole answer. The schema must be
    usable (`compozy.language.schema.check_schema` finds nothing).
    """
    return list(_walk(schema, schema, _Place()))


def with_names(field: FormField, names: Names) -> FormField:
    """Return the field with the names to choose from, where it takes one and they fit a line."""
    if field.type != "string" or field.entity_kind is None:
        return field
    known = names(field.entity_kind) or ()
    return replace(field, names=tuple(known)) if len(known) <= MAX_NAMES else field


def payload_of(values: Mapping[tuple[str, ...], Any], objects: Iterable[tuple[str, ...]] = ()) -> Any:
    """Return the answer that the values of fields make: nested again where names were dotted.

    Args:
        values: by the paths of fields.
        objects: paths of objects that are there even if no field is in them.
    """
    if () in values:
        return values[()]
    payload: dict[str, Any] = {}
    for path in objects:
        _object_at(payload, path)
    for path, value in values.items():
        _object_at(payload, path[:-1])[path[-1]] = value
    return payload


def _object_at(payload: dict[str, Any], path: tuple[str, ...]) -> dict[str, Any]:
    for name in path:
        payload = payload.setdefault(name, {})
    return payload


@dataclass(frozen=True, slots=True)
class _Place:
    """Where in the answer a part of the schema stands, and what the objects around it say about it."""

    path: tuple[str, ...] = ()
    required: bool = True
    """Whether the object that it is in must hold it."""
    always: bool = True
    """Whether all objects around it must be there too."""
    default: Any = MISSING
    """What the default of an object around it has for it."""
    group: tuple[str, ...] = ()

    def below(self, name: str, *, required: bool, default: Any) -> "_Place":
        group = self.group if self.required else self.path
        return _Place((*self.path, name), required, self.always and self.required, default, group)


def _walk(root: Mapping[str, Any], schema: Any, place: _Place) -> Iterator[FormField]:
    declared = _resolved(root, schema)
    if place.default is not MISSING:
        declared = {**declared, "default": place.default}
    if not _is_plain_object(declared, place.path) or len(place.path) > _MAX_NESTING:
        yield _field(root, declared, place)
        return
    needed, default = declared.get("required", []), declared.get("default")
    defaults = default if isinstance(default, Mapping) else {}
    for name in _names(declared):
        part = declared.get("properties", {}).get(name, {})
        if part is False and name not in needed:
            continue
        below = place.below(name, required=name in needed, default=defaults.get(name, MISSING))
        yield from _walk(root, part, below)


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
    return list(dict.fromkeys((*properties_in_order(schema), *schema.get("required", ()))))


def _field(root: Mapping[str, Any], schema: Mapping[str, Any], place: _Place) -> FormField:
    kind, choices = _type(root, schema)
    return FormField(
        path=place.path,
        type=kind,
        description=_label(schema),
        required=place.required and place.always,
        default=schema.get("default", MISSING),
        choices=choices,
        schema=schema,
        entity_kind=schema.get(ENTITY_KIND),
        group=place.group,
    )


def _type(root: Mapping[str, Any], schema: Mapping[str, Any]) -> tuple[str, tuple[Choice, ...]]:
    kind = schema.get("type")
    if choices := choices_of(schema):
        return "enum", choices
    if kind == "array" and "prefixItems" not in schema:
        options = choices_of(_resolved(root, schema.get("items")))
        if options and not any(isinstance(option.value, list | dict) for option in options):
            return LIST_TYPE, options
    simple = isinstance(kind, str) and kind in PRIMITIVES and _is_simple(schema)
    return (str(kind) if simple else JSON_TYPE), ()


def _label(schema: Mapping[str, Any]) -> str:
    """The description, behind the title where there are both."""
    said = dict.fromkeys(str(schema[key]).strip() for key in ("title", "description") if schema.get(key))
    return ": ".join(said)


def _is_simple(schema: Mapping[str, Any]) -> bool:
    return not any(key in schema for key in ("allOf", "anyOf", "oneOf", "$ref"))
