"""What holds of every CRD, whatever is added to the models."""

import re
from collections.abc import Iterator
from typing import Any

import pytest

from compozy.api.crds import AGE, KINDS, MAX_SELECTABLE_FIELDS, Column, Kind, all_crds, crd, object_schema
from compozy.api.generate import render
from compozy.api.plan import Plan

pytestmark = pytest.mark.unit

PRESERVE = "x-kubernetes-preserve-unknown-fields"
CLIENT_SIDE_APPLY_LIMIT = 262144


def nodes(schema: dict[str, Any], path: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every part of a schema with its path."""
    yield path, schema
    for name, part in schema.get("properties", {}).items():
        yield from nodes(part, f"{path}.{name}")
    for keyword in ("items", "additionalProperties"):
        if keyword in schema:
            yield from nodes(schema[keyword], f"{path}[]")


NODES = [node for kind in KINDS for node in nodes(object_schema(kind), kind.name)]
OWN = [(path, part) for path, part in NODES if not re.fullmatch(r"\w+(\.(apiVersion|kind|metadata))?", path)]


def at(kind: Kind, path: str) -> dict[str, Any]:
    """The part of the kind's schema that a simple path such as `.spec.run` leads to."""
    found = object_schema(kind)
    for name in re.findall(r"\.(\w+)|\[[^]]*\]", path):
        found = found["properties"][name] if name else found["items"]
    return found


@pytest.mark.parametrize(("path", "part"), OWN, ids=[path for path, _ in OWN])
class TestEveryField:
    def test_is_bounded(self, path: str, part: dict[str, Any]) -> None:
        match part.get("type"):
            case "string":
                assert part.keys() & {"maxLength", "enum"} or part.get("format") == "date-time"
            case "array":
                assert "maxItems" in part
            case "object" if "additionalProperties" in part:
                assert "maxProperties" in part

    def test_has_a_type_or_is_free_form(self, path: str, part: dict[str, Any]) -> None:
        assert "type" in part or part.get(PRESERVE) is True
        if part.get("type") == "object":
            assert part.keys() & {"properties", "additionalProperties", PRESERVE}

    def test_is_structural(self, path: str, part: dict[str, Any]) -> None:
        assert not part.keys() & {
            "$ref",
            "$defs",
            "anyOf",
            "oneOf",
            "allOf",
            "not",
            "const",
            "title",
            "examples",
        }
        assert not {"properties", "additionalProperties"} <= part.keys()
        assert part.get("default", "") is not None

    def test_is_explained(self, path: str, part: dict[str, Any]) -> None:
        if not path.endswith("[]"):
            assert part.get("description", "").endswith(".")

    def test_is_named_in_camel_case(self, path: str, part: dict[str, Any]) -> None:
        assert all(re.fullmatch(r"[a-z][A-Za-z]*", name) for name in part.get("properties", {}))

    def test_rules_say_what_was_wrong_about_a_field_that_exists(self, path: str, part: dict[str, Any]) -> None:
        for rule in part.get("x-kubernetes-validations", []):
            assert rule["message"]
            if "fieldPath" in rule:
                assert rule["fieldPath"].removeprefix(".") in part["properties"]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
class TestEveryKind:
    def test_shows_fields_that_exist_and_ends_with_the_age_or_with_free_text(self, kind: Kind) -> None:
        columns = [column for column in kind.columns if column != AGE]
        assert len(columns) == len(kind.columns) - 1
        # kubectl pads rows to the longest value of every column but the last.
        assert kind.columns[-1] in (AGE, Column("Prompt", ".spec.prompt"))
        for column in columns:
            assert " " not in column.name
            if column.json_path.startswith(".metadata."):
                continue  # the API server knows what is there
            assert at(kind, column.json_path)["type"] == column.type

    def test_selects_by_scalars_that_exist(self, kind: Kind) -> None:
        for path in kind.selectable:
            assert at(kind, path)["type"] in {"string", "boolean", "integer"}

    def test_has_a_status_subresource_exactly_when_it_has_a_status(self, kind: Kind) -> None:
        (version,) = crd(kind)["spec"]["versions"]
        properties = version["schema"]["openAPIV3Schema"]["properties"]
        assert ("status" in version.get("subresources", {})) is ("status" in properties)

    def test_fits_into_a_client_side_apply(self, kind: Kind) -> None:
        assert len(render([crd(kind)]).encode()) < CLIENT_SIDE_APPLY_LIMIT


def test_the_kinds_are_those_of_the_group() -> None:
    names = {manifest["metadata"]["name"]: manifest["spec"]["names"] for manifest in all_crds()}
    assert {name: (one["kind"], *one["shortNames"], *one["categories"]) for name, one in names.items()} == {
        "plans.compozy.dev": ("Plan", "plan", "compozy"),
        "planruns.compozy.dev": ("PlanRun", "run", "compozy"),
        "humanrequests.compozy.dev": ("HumanRequest", "hreq", "compozy"),
        "agents.compozy.dev": ("Agent", "agent", "compozy"),
        "catalogentries.compozy.dev": ("CatalogEntry", "cat", "compozy"),
    }


def test_a_question_is_pending_without_a_second_write() -> None:
    (request,) = [kind for kind in KINDS if kind.name == "HumanRequest"]
    assert at(request, ".status")["default"] == {}
    assert at(request, ".status.state")["default"] == "Pending"


def test_more_selectable_fields_than_the_api_server_takes_are_refused() -> None:
    paths = tuple(f".spec.field{number}" for number in range(MAX_SELECTABLE_FIELDS + 1))
    with pytest.raises(ValueError, match="plans: at most 8 selectable fields"):
        Kind(Plan, plural="plans", short_names=(), columns=(AGE,), selectable=paths)
