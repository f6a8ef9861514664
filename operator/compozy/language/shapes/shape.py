"""A checked schema, ready to judge values.

`jsonschema` does the judging, changed in four ways. Patterns are matched by RE2, wherever a pattern may
stand. Every keyword that is evaluated counts against a budget, and counts for more where it holds much against
much: a schema of two kilobytes can otherwise ask for 2^40 evaluations by referring to the same definition
twice, again and again. A reference is looked up in the schema itself, nowhere else. And 19.99 is a multiple of
0.01, as it is in writing though not in the arithmetic of computers.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from fractions import Fraction
from itertools import islice
from typing import Any

from jsonschema import Draft202012Validator, ValidationError
from jsonschema.protocols import Validator
from jsonschema.validators import extend
from referencing import Registry
from referencing.jsonschema import DRAFT202012

from compozy.language.shapes.bounds import MAX_FAULTS
from compozy.language.shapes.canonical import canonical_json
from compozy.language.shapes.formats import format_checker
from compozy.language.shapes.patterns import found, search_cost, undeclared_names

MAX_EVALUATIONS = 100_000
"""Keywords evaluated for one value: a second or two, and far more than a large form needs."""


class TooCostlyError(ValueError):
    """Holding a value to the schema takes too many steps, or nests too deeply."""


class _Budget:
    def __init__(self, shape: "Shape") -> None:
        self.shape = shape
        self._left = MAX_EVALUATIONS

    def spend(self, evaluations: int) -> None:
        self._left -= evaluations
        if self._left < 0:
            raise TooCostlyError("takes too many steps to check against its schema: simplify the schema")


_budget: ContextVar[_Budget] = ContextVar("budget")

_NAMES = 16
"""Names or branches that cost as much to go through as one keyword to evaluate."""

_PARTS = 4
"""Parts of a value that cost as much to compare as one keyword to evaluate."""

_SEARCH = 2000
"""Units of `search_cost` that cost as much as one keyword to evaluate."""

_CALL = 20
"""Characters that cost as much to search, with the shortest pattern, as to begin a search."""

_OVER_PARTS = frozenset(("contains", "items", "propertyNames", "unevaluatedItems"))
"""Keywords that go through the value, whatever they then do with its items."""


def _spend_on_parts(value: Any) -> None:
    stack, parts = [value], 0
    while stack:
        node = stack.pop()
        parts += 1
        stack.extend(node.values() if isinstance(node, dict) else node if isinstance(node, list) else ())
    _budget.get().spend(parts // _PARTS)


def _spend_on_names(patterns: Iterable[str], value: Mapping[str, Any]) -> None:
    """What it takes to hold every name to every pattern."""
    characters = sum(map(len, value)) + len(value) * _CALL
    _budget.get().spend(sum(search_cost(pattern, characters) for pattern in patterns) // _SEARCH)


class Shape:
    """A schema that has passed `compozy.language.shapes.check`, with what it takes to judge values by it."""

    def __init__(self, schema: Mapping[str, Any]) -> None:
        self.schema = {key: value for key, value in schema.items() if key not in ("$schema", "$id")}
        self._options: dict[int, frozenset[str]] = {}
        registry: Registry[Any] = Registry()
        resource = DRAFT202012.create_resource(self.schema)
        self._resolver = registry.resolver_with_root(resource)
        self._validator = _BoundedValidator(self.schema, registry=registry, format_checker=format_checker())

    def resolve(self, reference: str) -> Any:
        """Return the schema that a local `$ref` refers to."""
        return self._resolver.lookup(reference).contents

    @contextmanager
    def evaluating(self) -> Iterator[None]:
        """Bound everything judged inside. Raises `TooCostlyError`."""
        token = _budget.set(_Budget(self))
        try:
            yield
        except RecursionError:
            raise TooCostlyError("is nested too deeply to be checked") from None
        finally:
            _budget.reset(token)

    def errors(self, value: Any) -> list[ValidationError]:
        """Return what is wrong with `value`, at most 100 faults. Raises `TooCostlyError`."""
        with self.evaluating():
            return list(islice(self._validator.iter_errors(value), MAX_FAULTS))

    def count(self) -> None:
        """Count a step of whoever walks the schema. Only inside `evaluating`. Raises `TooCostlyError`."""
        _budget.get().spend(1)

    def conforms(self, value: Any, schema: Any) -> bool:
        """Return whether `value` conforms to `schema`, a part of this one. Only inside `evaluating`."""
        self.count()
        part: Validator = self._validator.evolve(schema=schema)
        return part.is_valid(value)

    def options(self, enum: list[Any]) -> frozenset[str]:
        """Return the values of an `enum` of this schema in canonical text."""
        # Lists are told apart by their identity, which stays as long as the schema that holds them does.
        if id(enum) not in self._options:
            self._options[id(enum)] = frozenset(map(canonical_json, enum))
        return self._options[id(enum)]

    def applied_in_place(self, schema: Mapping[str, Any], value: Any) -> Iterator[Any]:
        """Yield the schemas that `schema` applies to the same value, of alternatives only those that fit.

        Only inside `evaluating`.
        """
        if "$ref" in schema:
            yield self.resolve(schema["$ref"])
        for keyword in ("allOf", "anyOf", "oneOf"):
            yield from (branch for branch in schema.get(keyword, ()) if self.conforms(value, branch))
        if "if" in schema:
            chosen = "then" if self.conforms(value, schema["if"]) else "else"
            if chosen == "then":
                yield schema["if"]
            yield schema.get(chosen, True)
        if isinstance(value, Mapping):
            dependent = schema.get("dependentSchemas", {})
            yield from (branch for name, branch in dependent.items() if name in value)

    def unevaluated_names(self, schema: Mapping[str, Any], value: Mapping[str, Any]) -> list[str]:
        """Return the names that `unevaluatedProperties` of `schema` is about. Only inside `evaluating`."""
        others = {key: part for key, part in schema.items() if key != "unevaluatedProperties"}
        evaluated = self._evaluated_names(others, value)
        return [name for name in value if name not in evaluated]

    def _evaluated_names(self, schema: Any, value: Mapping[str, Any]) -> set[str]:
        if not isinstance(schema, Mapping):
            return set()
        if "additionalProperties" in schema or "unevaluatedProperties" in schema:
            return set(value)
        _spend_on_names(schema.get("patternProperties", ()), value)
        names = set(value) - set(undeclared_names(schema, value))
        for part in self.applied_in_place(schema, value):
            names |= self._evaluated_names(part, value)
        return names

    def unevaluated_items(self, schema: Mapping[str, Any], value: list[Any]) -> list[int]:
        """Return the places that `unevaluatedItems` of `schema` is about. Only inside `evaluating`."""
        others = {key: part for key, part in schema.items() if key != "unevaluatedItems"}
        evaluated = self._evaluated_items(others, value)
        return [index for index in range(len(value)) if index not in evaluated]

    def _evaluated_items(self, schema: Any, value: list[Any]) -> set[int]:
        if not isinstance(schema, Mapping):
            return set()
        if "items" in schema or "unevaluatedItems" in schema:
            return set(range(len(value)))
        indexes = set(range(min(len(schema.get("prefixItems", ())), len(value))))
        if "contains" in schema:
            indexes |= {i for i, item in enumerate(value) if self.conforms(item, schema["contains"])}
        for part in self.applied_in_place(schema, value):
            indexes |= self._evaluated_items(part, value)
        return indexes


Keyword = Callable[[Any, Any, Any, Any], Iterator[ValidationError] | None]


def _below(validator: Any, value: Any, schema: Any, name: str | int) -> Iterator[ValidationError]:
    """Judge a property or an item. The library forgets which one where its schema is `false`."""
    for error in validator.descend(value, schema):
        error.path.appendleft(name)
        yield error


def _properties(validator: Any, declared: Any, instance: Any, _schema: Any) -> Iterator[ValidationError]:
    if validator.is_type(instance, "object"):
        for name, schema in declared.items():
            if name in instance:
                yield from _below(validator, instance[name], schema, name)


def _pattern(validator: Any, pattern: str, instance: Any, _schema: Any) -> Iterator[ValidationError]:
    if not validator.is_type(instance, "string"):
        return
    _budget.get().spend(search_cost(pattern, len(instance)) // _SEARCH)
    if not found(pattern, instance):
        yield ValidationError(f"does not match {pattern}")


def _pattern_properties(validator: Any, patterns: Any, instance: Any, _schema: Any) -> Iterator[ValidationError]:
    if not validator.is_type(instance, "object"):
        return
    _spend_on_names(patterns, instance)
    for pattern, schema in patterns.items():
        for name, value in instance.items():
            if found(pattern, name):
                yield from _below(validator, value, schema, name)


def _additional_properties(
    validator: Any, additional: Any, instance: Any, schema: Any
) -> Iterator[ValidationError]:
    if validator.is_type(instance, "object"):
        _spend_on_names(schema.get("patternProperties", ()), instance)
        for name in undeclared_names(schema, instance):
            yield from _below(validator, instance[name], additional, name)


def _unevaluated_properties(
    validator: Any, unevaluated: Any, instance: Any, schema: Any
) -> Iterator[ValidationError]:
    if not validator.is_type(instance, "object"):
        return
    for name in _budget.get().shape.unevaluated_names(schema, instance):
        yield from _below(validator, instance[name], unevaluated, name)


def _property_names(validator: Any, names: Any, instance: Any, _schema: Any) -> Iterator[ValidationError]:
    """The library reports a name at the object that has it."""
    if validator.is_type(instance, "object"):
        for name in instance:
            for error in validator.descend(name, names):
                yield ValidationError("has a bad name", validator="propertyNames", path=[name], context=[error])


def _unevaluated_items(validator: Any, unevaluated: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    if not validator.is_type(instance, "array"):
        return
    for index in _budget.get().shape.unevaluated_items(schema, instance):
        yield from _below(validator, instance[index], unevaluated, index)


def _unique_items(validator: Any, unique: bool, instance: Any, _schema: Any) -> Iterator[ValidationError]:
    """The library compares objects pairwise: minutes for the largest list."""
    if not unique or not validator.is_type(instance, "array"):
        return
    _spend_on_parts(instance)
    if len({canonical_json(item) for item in instance}) < len(instance):
        yield ValidationError("holds an item twice")


def _enum(_validator: Any, options: Any, instance: Any, _schema: Any) -> Iterator[ValidationError]:
    """The library goes through all options for every value: minutes for the largest lists of both."""
    _spend_on_parts(instance)
    if canonical_json(instance) not in _budget.get().shape.options(options):
        yield ValidationError("is none of the options")


def _const(_validator: Any, wanted: Any, instance: Any, _schema: Any) -> Iterator[ValidationError]:
    _spend_on_parts(instance)
    if canonical_json(instance) != canonical_json(wanted):
        yield ValidationError("is not the constant")


def _multiple_of(validator: Any, step: float, instance: Any, _schema: Any) -> Iterator[ValidationError]:
    """The library divides floats, by which 19.99 is no multiple of 0.01."""
    if validator.is_type(instance, "number") and Fraction(repr(instance)) % Fraction(repr(step)):
        yield ValidationError("is no multiple")


def _counted(name: str, keyword: Keyword) -> Keyword:
    def counted(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[ValidationError] | None:
        through = len(instance) // _PARTS if name in _OVER_PARTS and isinstance(instance, list | dict) else 0
        _budget.get().spend(1 + through + (len(value) // _NAMES if isinstance(value, list | dict) else 0))
        return keyword(validator, value, instance, schema)

    return counted


_OWN: dict[str, Keyword] = {
    "additionalProperties": _additional_properties,
    "const": _const,
    "enum": _enum,
    "multipleOf": _multiple_of,
    "pattern": _pattern,
    "patternProperties": _pattern_properties,
    "properties": _properties,
    "propertyNames": _property_names,
    "unevaluatedItems": _unevaluated_items,
    "unevaluatedProperties": _unevaluated_properties,
    "uniqueItems": _unique_items,
}

_BoundedValidator = extend(  # type: ignore[no-untyped-call]
    Draft202012Validator,
    {name: _counted(name, keyword) for name, keyword in {**Draft202012Validator.VALIDATORS, **_OWN}.items()},
)
