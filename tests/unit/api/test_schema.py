"""From pydantic's JSON Schema to a structural schema."""

from typing import Annotated, Any, Literal

import pytest
from pydantic import Field

from compozy.api.base import ApiModel, Duration, FreeForm, FreeFormObject, Timestamp
from compozy.api.rules import Rule
from compozy.api.schema import SchemaError, structural_schema

pytestmark = pytest.mark.unit

NEVER = Rule("false", "never")


class Inner(ApiModel):
    """What the inner part is."""

    some_name: Annotated[str, Field(max_length=5)]


def property_of(annotation: Any, **field: Any) -> dict[str, Any]:
    """The schema of a field with the annotation."""
    model = type("Outer", (ApiModel,), {"__annotations__": {"it": annotation}, **field})
    schema = structural_schema(model, {Inner: (NEVER,)}, given={})
    found: dict[str, Any] = schema["properties"]["it"]
    return found


INNER = {
    "type": "object",
    "description": "What the inner part is.",
    "properties": {"someName": {"type": "string", "maxLength": 5}},
    "required": ["someName"],
    "x-kubernetes-validations": [{"rule": "false", "message": "never", "reason": "FieldValueForbidden"}],
}


@pytest.mark.parametrize(
    ("annotation", "field", "expected"),
    [
        (str, {}, {"type": "string"}),
        (int, {}, {"type": "integer", "format": "int64"}),
        (bool | None, {"it": None}, {"type": "boolean"}),
        (
            Annotated[int, Field(ge=1)] | None,
            {"it": None},
            {"type": "integer", "format": "int64", "minimum": 1},
        ),
        (Literal["a", "b"], {"it": "a"}, {"type": "string", "enum": ["a", "b"], "default": "a"}),
        (Literal["a"], {}, {"type": "string", "enum": ["a"]}),
        (
            Annotated[list[Annotated[str, Field(max_length=2)]], Field(max_length=3)],
            {},
            {"type": "array", "maxItems": 3, "items": {"type": "string", "maxLength": 2}},
        ),
        (
            Annotated[dict[str, int], Field(max_length=3)],
            {},
            {
                "type": "object",
                "maxProperties": 3,
                "additionalProperties": {"type": "integer", "format": "int64"},
            },
        ),
        (FreeForm, {"it": None}, {"x-kubernetes-preserve-unknown-fields": True, "nullable": True}),
        (FreeFormObject, {}, {"type": "object", "x-kubernetes-preserve-unknown-fields": True}),
        (Inner, {}, INNER),
        (Inner | None, {"it": None}, INNER),
        (list[Inner], {}, {"type": "array", "items": INNER}),
        (Inner, {"it": Field(description="Its own.")}, INNER | {"description": "Its own."}),
    ],
)
def test_each_form_of_field(annotation: Any, field: dict[str, Any], expected: dict[str, Any]) -> None:
    assert property_of(annotation, **field) == expected


def test_a_time_is_a_bounded_date_time() -> None:
    found = property_of(Timestamp)
    assert (found["type"], found["format"], "pattern" in found) == ("string", "date-time", True)


def test_a_duration_keeps_its_own_rule() -> None:
    (rule,) = property_of(Duration | None, it=None)["x-kubernetes-validations"]
    assert rule["rule"] == "duration(self) > duration('0s')"


def test_the_root_has_its_rules_and_the_given_properties() -> None:
    schema = structural_schema(Inner, {Inner: (NEVER,)}, given={"someName": {"type": "object"}})
    assert schema == INNER | {"properties": {"someName": {"type": "object"}}}


@pytest.mark.parametrize(
    ("annotation", "keyword"),
    [
        (str | int, "anyOf"),
        (tuple[str, int], "prefixItems"),
        (Annotated[int, Field(gt=1)], "exclusiveMinimum"),
        (Annotated[int, Field(multiple_of=2)], "multipleOf"),
        (dict[str, Any], "additionalProperties"),
        (Annotated[dict[Annotated[str, Field(max_length=3)], str], Field()], "propertyNames"),
    ],
)
def test_what_a_crd_cannot_say_is_an_error_with_its_place(annotation: Any, keyword: str) -> None:
    with pytest.raises(SchemaError, match=rf"^Outer\.it: a CRD schema cannot say `{keyword}`"):
        property_of(annotation)
