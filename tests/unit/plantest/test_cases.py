"""Files of cases: what they may hold, and every problem with its line."""

import pytest

from compozy.plantest.cases import load_cases, load_stubs
from compozy.plantest.model import CasesInvalid, Question, Stub, Stubs
from compozy.requests.outcome import Answered, Declined, Expired, Unavailable

pytestmark = pytest.mark.unit

PLAN = "plan: { steps: [{ id: E0, tool_name: a__b, input: {} }] }\n"
WHOLE = """
plan: { steps: [{ id: E0, tool_name: a__b, input: {} }] }
cases:
  - name: all of it
    rule: A sentence.
    attended: false
    inputs: { a: 1 }
    answers: { E0: { payload: { x: 1 } }, "E1/do.*": decline, E2: unavailable, E3: expire }
    tools: { a__b: { output: 1 }, c__d: [{ error: broken }, { output: null }] }
    plans: { Inner Plan: { steps: [{ id: I0, tool_name: a__b, input: {} }] } }
    expect:
      phase: Failed
      exit: null
      nodes: { E0: { status: Failed, reason: r } }
      asked: [E0, { path: E1, prompt: P }]
      called: [a__b]
      stepsExecuted: 2
"""


def load(tmp_path, text, name="x.test.yaml"):
    path = tmp_path / name
    path.write_text(text)
    return load_cases(path)


def problems(tmp_path, text, name="x.test.yaml"):
    with pytest.raises(CasesInvalid) as caught:
        load(tmp_path, text, name)
    return [(problem.line, problem.path, problem.code) for problem in caught.value.problems]


def test_everything_that_a_case_may_hold_is_read(tmp_path):
    [case] = load(tmp_path, WHOLE)
    assert (case.name, case.rule, case.line, case.attended) == ("all of it", "A sentence.", 4, False)
    assert case.answers == {
        "E0": Answered({"x": 1}),
        "E1/do.*": Declined(),
        "E2": Unavailable(),
        "E3": Expired(),
    }
    assert case.tools == {
        "a__b": Stubs((Stub(1),), in_turn=False),
        "c__d": Stubs((Stub(error="broken"), Stub(None)), in_turn=True),
    }
    assert list(case.plans) == ["inner-plan"]
    assert case.trusts_unknown is False
    assert case.expect.values == {"phase": "Failed", "exit": None, "steps_executed": 2}
    assert case.expect.nodes == {"E0": {"status": "Failed", "reason": "r"}}
    assert case.expect.asked == (Question("E0"), Question("E1", "P"))
    assert case.expect.called == ("a__b",)


def test_the_plan_is_the_one_of_the_same_name(tmp_path):
    (tmp_path / "x.yaml").write_text("name: beside\nsteps: [{ id: E0, tool_name: a__b, input: {} }]\n")
    [case] = load(tmp_path, "cases: [{ name: a, expect: { phase: Failed } }]")
    assert case.document.name == "beside"


def test_the_plan_can_be_another_and_a_case_may_bring_its_own(tmp_path):
    (tmp_path / "other.yaml").write_text("name: other\nsteps: []\n")
    own = "{ name: b, plan: { name: own, steps: [] }, expect: { phase: Failed } }"
    text = f"plan: other.yaml\ncases:\n  - {{ name: a, expect: {{ phase: Failed }} }}\n  - {own}\n"
    assert [case.document.name for case in load(tmp_path, text)] == ["other", "own"]


def test_a_plan_that_is_none_is_for_the_case_to_expect(tmp_path):
    [case] = load(tmp_path, "plan: { colour: blue }\ncases: [{ name: a, expect: { problems: [] } }]")
    assert case.document is None
    assert [problem.code for problem in case.refused] == ["unknown_key"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("cases: [1\n", [(2, "", "yaml_syntax")]),
        ("[1]", [(1, "", "invalid_type")]),
        (PLAN, [(1, "cases", "missing_key")]),
        (f"{PLAN}cases: []\n", [(2, "cases", "empty")]),
        (f"{PLAN}cases: 3\n", [(2, "cases", "invalid_type")]),
        ("cases: [{ name: a, expect: { phase: Failed } }]", [(1, "", "unreadable")]),
        (
            f"{PLAN}cases:\n  - name: a\n    expects: {{}}\n",
            [(4, "cases[0].expects", "unknown_key"), (3, "cases[0].expect", "missing_key")],
        ),
        (f"{PLAN}cases:\n  - name: a\n    expect: {{}}\n", [(4, "cases[0].expect", "empty")]),
        (
            f"{PLAN}cases:\n  - {{ name: a, expect: {{ phase: Failed }} }}\n"
            "  - { name: a, expect: { phase: Failed } }\n",
            [(4, "cases[1].name", "duplicate_name")],
        ),
    ],
)
def test_a_file_that_is_wrong(tmp_path, text, expected):
    assert problems(tmp_path, text) == expected


@pytest.mark.parametrize(
    ("line", "path", "code"),
    [
        ("attended: perhaps", "attended", "invalid_type"),
        ("inputs: [1]", "inputs", "invalid_type"),
        ("plan: 3", "plan", "invalid_type"),
        ("plan: nowhere.yaml", "plan", "unreadable"),
        ("answers: { E0: refuse }", "answers.E0", "invalid_value"),
        ("answers: { E0: { answer: 1 } }", "answers.E0.answer", "unknown_key"),
        ("tools: { a__b: { output: 1, error: no } }", "tools.a__b", "stub_choice"),
        ("tools: { a__b: [{ error: 3 }] }", "tools.a__b[0].error", "invalid_type"),
        ("plans: { inner: { colour: blue } }", "plans.inner.colour", "unknown_key"),
        ("expect: { phase: Done }", "expect.phase", "invalid_value"),
        ("expect: { steps_executed: true }", "expect.steps_executed", "invalid_type"),
        ("expect: { exit: { status: fine } }", "expect.exit.status", "invalid_value"),
        ("expect: { nodes: { E0: { state: 1 } } }", "expect.nodes.E0.state", "unknown_key"),
        ("expect: { asked: [{ prompt: P }] }", "expect.asked[0].path", "missing_key"),
        ("expect: { called: server }", "expect.called", "invalid_type"),
        ("expect: { problems: [], phase: Failed }", "expect.problems", "expectation_alone"),
    ],
)
def test_a_case_that_is_wrong(tmp_path, line, path, code):
    expect = "" if line.startswith("expect") else "\n    expect: { phase: Failed }"
    found = problems(tmp_path, f"{PLAN}cases:\n  - name: a\n    {line}{expect}\n")
    assert (4, f"cases[0].{path}", code) in found


def test_a_file_with_another_name_says_which_plan_it_is_about(tmp_path):
    text = "cases: [{ name: a, expect: { phase: Failed } }]"
    assert problems(tmp_path, text, "cases.yaml") == [(1, "plan", "missing_key")]


def test_stubs_stand_in_a_file_of_their_own(tmp_path):
    path = tmp_path / "tools.yaml"
    path.write_text("a__b: { output: 1 }\n")
    assert load_stubs(path) == {"a__b": Stubs((Stub(1),), in_turn=False)}
    path.write_text("a__b: 1\n")
    with pytest.raises(CasesInvalid, match=r"tools\.yaml:1:1: a__b: must be an object"):
        load_stubs(path)
