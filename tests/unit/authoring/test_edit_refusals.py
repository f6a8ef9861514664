"""Edits that are refused, for new problems only, and places where there is nothing."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from compozy.language.authoring.changes import AuthoringError
from compozy.language.authoring.edits import (
    Edited,
    EditRefused,
    set_fields,
    step_add,
    step_rename,
    step_rm,
    step_set,
    unset_fields,
)
from compozy.language.problems import PlanInvalid
from support.edited_plan import PLAN

pytestmark = pytest.mark.unit


REFUSED: dict[str, tuple[Callable[[str], Edited], list[tuple[str, str]]]] = {
    "a reference to nothing": (
        lambda text: set_fields(text, {"steps.E0.input.prompt": "{{E9.x}}"}),
        [("steps[0].input.prompt", "unknown_reference")],
    ),
    "an unknown key": (lambda text: set_fields(text, {"colour": 1}), [("colour", "unknown_key")]),
    "a required key": (
        lambda text: unset_fields(text, ["steps.E0.input.prompt"]),
        [("steps[0].input.prompt", "missing_key")],
    ),
    "one half of a rule": (
        lambda text: unset_fields(text, ["steps.E0.input.default"]),
        [("steps[0].input.default", "default_missing")],
    ),
    "a step of an unknown tool": (
        lambda text: step_add(text, {"tool_name": "aks", "input": {}}, before="E0"),
        [("steps[0].tool_name", "tool_unknown")],
    ),
    "an id that is taken": (lambda text: step_rename(text, "E0", "E1"), [("steps[1].id", "duplicate_step_id")]),
    "an id that is taken in a body": (
        lambda text: step_rename(text, "E1", "B0"),
        [("steps[2].input.do[0].id", "duplicate_step_id")],
    ),
    "a step that others refer to": (
        lambda text: step_rm(text, "E2/do/B0"),
        [(f"steps[2].input.do[1].input.{key}", "unknown_reference") for key in ("a", "b")],
    ),
    "a name that a section uses for something else": (
        lambda text: step_rename(text, "E0", "channel"),
        [("steps[1].input.message", "name_captured")],
    ),
    "a wrong value deep in a default": (
        lambda text: set_fields(text, {"steps.E0.input.default.channel": "gold"}),
        [("steps[0].input.default.channel", "default_invalid")],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("edit", "expected"), REFUSED.values(), ids=REFUSED)
def test_refused(edit: Callable[[str], Edited], expected: list[tuple[str, str]]) -> None:
    with pytest.raises(EditRefused) as caught:
        edit(PLAN)
    found = [(problem.path, problem.code) for problem in caught.value.introduced]
    assert found == expected
    assert caught.value.existing == ()


def test_a_new_problem_is_placed_in_the_file_as_it_is() -> None:
    text = (
        "steps:\n- {id: a, toolName: x__y, input: {}}\n- {id: b, toolName: x__y, input: {}}\n"
        "- id: c\n  toolName: x__y\n  input:\n    k: '{{b}}'\n"
    )
    with pytest.raises(EditRefused) as caught:
        step_rm(text, "b")
    assert [(p.path, p.line, p.column) for p in caught.value.introduced] == [("steps[2].input.k", 7, 5)]


BROKEN = """\
colour: red
steps:
  - id: a
    tool_name: ask
    input:
      prompt: "{{nowhere.x}}"
      output_schema: { properties: { x: { type: array } } }
  - tool_name: aks
    input: {}
  - id: c
    tool_name: exit
    input: { status: success, message: "{{later}}" }
"""


def codes(edited: Edited) -> list[str]:
    return sorted(problem.code for problem in edited.existing)


def test_problems_that_were_there_do_not_stop_an_edit() -> None:
    whole = ["ask_schema_not_primitive", "missing_key", "tool_unknown", "unknown_key"]
    whole += ["unknown_reference", "unknown_reference"]
    assert codes(set_fields(BROKEN, {"name": "x"})) == whole
    assert codes(step_add(BROKEN, {"id": "first", "tool_name": "x__y", "input": {}}, before="a")) == whole
    assert codes(step_rename(BROKEN, "a", "renamed")) == whole
    assert codes(step_rename(BROKEN, "c", "last")) == whole
    assert codes(step_rm(BROKEN, "a")) == ["missing_key", "tool_unknown", "unknown_key", "unknown_reference"]
    assert codes(unset_fields(BROKEN, ["colour"])) == [code for code in whole if code != "unknown_key"]
    assert codes(unset_fields(BROKEN, ["steps.1"])) == [*whole[:1], *whole[3:]]


def test_a_second_problem_of_the_same_kind_is_new() -> None:
    with pytest.raises(EditRefused) as caught:
        step_set(BROKEN, "c", {"input.output": {"k": "{{later}}"}})
    assert [(p.path, p.code) for p in caught.value.introduced] == [
        ("steps[2].input.output.k", "unknown_reference")
    ]
    assert len(caught.value.existing) == 6


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (lambda: step_rm(PLAN, "E9"), "there is no step 'E9'; there are: E0, E1, E2"),
        (lambda: step_rm(PLAN, "E2/do"), "names a body"),
        (lambda: step_rm(PLAN, "E1/do/B0"), "no list of steps at steps[1].input.do"),
        (lambda: step_set(PLAN, "E0", {"id": "E9"}), "renaming"),
        (lambda: set_fields(PLAN, {"steps.E9.id": 1}), "there is no E9 in steps"),
        (lambda: set_fields(PLAN, {"name.first": 1}), "name is no object"),
        (lambda: set_fields(PLAN, {"a..b": 1}), "no path"),
        (lambda: unset_fields(PLAN, ["description"]), "there is no description"),
        (lambda: step_add("steps: x\n", {"tool_name": "x__y", "input": {}}), "no list"),
        (lambda: step_add(PLAN, {"tool_name": "x__y", "input": {}}, before="E9"), "no step 'E9'"),
    ],
)
def test_nothing_at_the_place(edit: Callable[[], Edited], message: str) -> None:
    with pytest.raises(AuthoringError) as caught:
        edit()
    assert message in str(caught.value)


def test_an_alias_is_not_changed_behind_the_author_s_back() -> None:
    text = (
        "steps:\n  - { id: a, tool_name: x__y, input: &i { k: 1 } }\n  - { id: b, tool_name: x__y, input: *i }\n"
    )
    with pytest.raises(AuthoringError, match="aliases"):
        set_fields(text, {"steps.a.input.k": 2})
    with pytest.raises(AuthoringError, match="no object"):
        set_fields(text, {"steps.b.input.k": 2})


def test_a_text_that_is_not_yaml() -> None:
    with pytest.raises(PlanInvalid):
        set_fields("steps: [", {"name": "x"})
