"""Edits of any plan in any layout: renaming loses nothing, and only new problems are refused."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compozy.language.authoring.changes import AuthoringError
from compozy.language.authoring.diagnosis import diagnose
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
from compozy.language.authoring.format import format_text
from compozy.language.shapes.bounds import json_faults
from compozy.language.yaml_text import load
from support.plan_texts import plan_texts

pytestmark = pytest.mark.unit

few = settings(max_examples=60, deadline=None)
positions = st.integers(0, 3)
storable = st.floats(allow_nan=False, allow_infinity=False).filter(lambda number: not json_faults(number))


def steps(text: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = load(text).value["steps"]
    return found


def plain(value: Any) -> list[Any]:
    """What a rename must not touch: reasons, schemas, keys, and text outside of templates."""
    if isinstance(value, dict):
        return [
            (key, item if key in ("reasoning", "output_schema", "input_schema") else plain(item))
            for key, item in value.items()
            if key != "id"
        ]
    if isinstance(value, list):
        return [plain(item) for item in value]
    return [re.sub(r"\{\{.*?\}\}", "", value)] if isinstance(value, str) else [value]


def heads(value: Any) -> Counter[str]:
    """How often each name is the head of a template's path, outside of reasons."""
    if isinstance(value, dict):
        return sum((heads(item) for key, item in value.items() if key != "reasoning"), Counter())
    if isinstance(value, list):
        return sum(map(heads, value), Counter())
    return Counter(re.findall(r"\{\{[#^/]? *([\w]+)", value)) if isinstance(value, str) else Counter()


@few
@given(plan_texts())
def test_generated_plans_are_right(text: str) -> None:
    assert diagnose(text).problems == ()


@few
@given(plan_texts(), positions)
def test_rename_moves_every_reference_and_nothing_else(text: str, position: int) -> None:
    old = steps(text)[position % len(steps(text))]["id"]
    renamed = step_rename(text, old, "renamed").text
    before, after = load(format_text(text)).value, load(renamed).value
    assert plain(after) == plain(before)
    expected = heads(before)
    expected["renamed"] = expected.pop(old, 0)
    assert +heads(after) == +expected
    assert diagnose(renamed).problems == ()


@few
@given(plan_texts(), positions)
def test_rename_and_back_gives_the_same_text(text: str, position: int) -> None:
    step = steps(text)[position % len(steps(text))]
    back = step_rename(step_rename(text, step["id"], "renamed").text, "renamed", step["id"]).text
    quoted = re.compile(r"""(['"]?)\b(s[0-9])\b\1""")
    assert quoted.sub(r"\2", back) == quoted.sub(r"\2", format_text(text))


@few
@given(plan_texts(), positions)
def test_add_and_rm_gives_the_same_plan(text: str, position: int) -> None:
    before = steps(text)[position % len(steps(text))]["id"]
    added = step_add(text, {"tool_name": "x__y", "input": {"k": ["a"]}}, before=before)
    assert [step["id"] for step in steps(added.text)].index(str(added.step_id)) == added.index
    assert load(step_rm(added.text, str(added.step_id)).text).value == load(format_text(text)).value


@few
@given(plan_texts(), st.recursive(st.none() | st.booleans() | storable
       | st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=5))  # fmt: skip
def test_set_and_unset_gives_the_same_text(text: str, value: Any) -> None:
    edited = set_fields(text, {"exemplars": value})
    assert load(edited.text).value["exemplars"] == value
    assert unset_fields(edited.text, ["exemplars"]).text == format_text(text)


def edits(text: str) -> st.SearchStrategy[Any]:
    """Some edit, right or wrong."""
    ids = st.sampled_from([str(step["id"]) for step in steps(text)])
    fields = st.sampled_from(["tool_name", "input", "input.prompt", "input.default", "reasoning", "input.x.y"])
    values = st.sampled_from(["ask", "{{s0.x}}", "{{nowhere}}", {"prompt": "x"}, None, 1])
    return st.one_of(
        st.builds(lambda step: lambda: step_rm(text, step), ids),
        st.builds(lambda step, field, value: lambda: step_set(text, step, {field: value}), ids, fields, values),
        st.builds(lambda step, field: lambda: unset_fields(text, [f"steps.{step}.{field}"]), ids, fields),
        st.builds(lambda step, new: lambda: step_rename(text, step, new), ids, st.sampled_from(["s0", "b0", "x"])),
        st.builds(lambda step: lambda: step_add(text, {"tool_name": "aks"}, after=step), ids),
    )


@settings(max_examples=200, deadline=None)
@given(st.data(), plan_texts(broken=True))
def test_an_edit_that_is_made_introduces_no_code_and_one_that_is_refused_names_new_problems(
    data: st.DataObject, text: str
) -> None:
    before = Counter(problem.code for problem in diagnose(text).problems)
    try:
        edited: Edited = data.draw(edits(text))()
    except EditRefused as refused:
        assert refused.introduced
        assert Counter(problem.code for problem in refused.existing) == before
    except AuthoringError:
        pass
    else:
        after = Counter(problem.code for problem in diagnose(edited.text).problems)
        assert Counter(problem.code for problem in edited.existing) == after
        assert after <= before
        assert format_text(edited.text) == edited.text
