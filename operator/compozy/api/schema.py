"""From the JSON Schema that pydantic gives to the structural schema that a CRD takes.

A structural schema has no references, no unions and no closed objects: what a model refuses as an unknown
field the API server prunes, and refuses when the client asks for strict field validation (kubectl's default).
A keyword that neither side of this translation knows is an error, never left out in silence.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from compozy.api.base import ApiModel
from compozy.api.rules import Rule

Schema = dict[str, Any]

_REFERENCE = "#/$defs/"
_KEPT = frozenset(
    {
        "default", "description", "enum", "format", "maxItems", "maxLength", "maxProperties", "maximum",
        "minItems", "minLength", "minProperties", "minimum", "nullable", "pattern", "required", "type",
    }
)  # fmt: skip
_DROPPED = frozenset({"$defs", "examples", "title"})
_EXTENSION = "x-kubernetes-"
_VALIDATIONS = "x-kubernetes-validations"


class SchemaError(ValueError):
    """A model uses what a structural schema cannot say. The message has the path and the keyword."""


def structural_schema(
    model: type[ApiModel], rules: Mapping[type[ApiModel], Sequence[Rule]], given: Mapping[str, Schema]
) -> Schema:
    """Return the structural schema of `model`, with each rule at the part whose model it is written for.

    The properties in `given` are taken as they are in place of the model's own. Raises SchemaError where the
    model uses what CRDs cannot express.
    """
    document = model.model_json_schema(by_alias=True)
    document["properties"].update(given)
    by_name = {part.__name__: tuple(part_rules) for part, part_rules in rules.items()}
    converter = _Converter(document.get("$defs", {}), by_name)
    schema = converter.convert(document, model.__name__)
    return _with_rules(schema, by_name.get(model.__name__, ()))


class _Converter:
    """Translates one document, whose definitions it knows."""

    def __init__(self, definitions: Mapping[str, Schema], rules: Mapping[str, tuple[Rule, ...]]) -> None:
        self._definitions = definitions
        self._rules = rules

    def convert(self, schema: Schema, path: str) -> Schema:
        """Return the structural form of the schema at `path`."""
        result: Schema = {}
        for keyword, value in self._expand(schema, path):
            if keyword in _DROPPED or (keyword == "default" and value is None):
                continue
            if keyword in _KEPT or keyword.startswith(_EXTENSION):
                result[keyword] = value
            elif keyword == "const":
                result["enum"] = [value]
            elif keyword == "properties":
                result[keyword] = {name: self.convert(part, f"{path}.{name}") for name, part in value.items()}
            elif keyword == "items":
                result[keyword] = self.convert(value, f"{path}[]")
            elif keyword == "additionalProperties" and isinstance(value, dict):
                result[keyword] = self.convert(value, f"{path}.*")
            elif keyword == "additionalProperties" and value is False:
                continue  # the API server prunes what a structural schema does not name
            else:
                raise SchemaError(f"{path}: a CRD schema cannot say `{keyword}`: {value!r}")
        if result.get("type") == "integer":
            result.setdefault("format", "int64")
        return result

    def _expand(self, schema: Schema, path: str) -> Iterator[tuple[str, Any]]:
        """Yield the keywords of a schema with its reference or its only alternative to null put in place.

        What is said beside a reference comes last and so wins: the description of a field says more than that
        of its type.
        """
        for keyword, value in schema.items():
            if keyword == "anyOf":
                yield from self._expand(_only_alternative(value, path), path)
            elif keyword == "$ref":
                name = value.removeprefix(_REFERENCE)
                yield from _with_rules(self._definitions[name], self._rules.get(name, ())).items()
        for keyword, value in schema.items():
            if keyword not in {"anyOf", "$ref"}:
                yield keyword, value


def _only_alternative(alternatives: Sequence[Schema], path: str) -> Schema:
    """Return the one alternative that is not null: on the wire, an optional field is absent."""
    others = [one for one in alternatives if one.get("type") != "null"]
    if len(others) != 1:
        raise SchemaError(f"{path}: a CRD schema cannot say `anyOf`: declare one type")
    return others[0]


def _with_rules(schema: Schema, rules: Sequence[Rule]) -> Schema:
    """Return the schema with rules added after its own."""
    if not rules:
        return schema
    return {**schema, _VALIDATIONS: [*schema.get(_VALIDATIONS, []), *(rule.manifest() for rule in rules)]}
