"""`plan test` and `plan explore`: the examples pass, the broken ones do not, and reports say why."""

import json
from xml.etree import ElementTree

import pytest

from compozy.cli.commands import plan_explore
from compozy.cli.main import run
from compozy.plantest.explore import MAX_RUNS
from support.documents import ROOT

pytestmark = pytest.mark.unit

EXAMPLES = ROOT / "examples"
BROKEN = EXAMPLES / "broken"


def explored(capsys, name, *more):
    code = run(["plan", "explore", str(BROKEN / name), "-o", "json", *more])
    return code, json.loads(capsys.readouterr().out)


def test_the_cases_of_the_examples_pass(capsys):
    assert run(["plan", "test", str(EXAMPLES)]) == 0
    assert "19 passed, 0 failed" in capsys.readouterr().out


def test_a_case_that_does_not_end_as_it_must_says_what_was_expected(capsys):
    assert run(["plan", "test", str(BROKEN / "misjudged.yaml")]) == 1
    out = capsys.readouterr().out
    assert "✓ the notes are published" in out
    assert "✗ the notes are left out" in out
    assert 'output: expected null, got {"published":true}' in out
    assert "1 passed, 1 failed" in out


def test_cases_are_picked_by_name(capsys):
    assert run(["plan", "test", str(BROKEN), "-k", "PUBLISHED", "-o", "json"]) == 0
    assert [case["name"] for case in json.loads(capsys.readouterr().out)["cases"]] == ["the notes are published"]


def test_a_directory_without_cases_is_no_success(tmp_path, capsys):
    assert run(["plan", "test", str(tmp_path)]) == 65
    assert "there is no such case" in capsys.readouterr().err


def test_a_file_that_is_no_file_of_cases_says_where_and_the_others_run(tmp_path, capsys):
    path = tmp_path / "x.test.yaml"
    path.write_text("plan: { steps: [] }\ncases:\n  - name: a\n    expects: {}\n")
    assert run(["plan", "test", str(path), str(BROKEN)]) == 65
    shown = capsys.readouterr()
    assert f"{path}:4:" in shown.err
    assert "1 passed, 1 failed, 2 problems in files" in shown.out


def test_the_cases_of_a_plan_are_run_once(capsys):
    assert run(["plan", "test", str(EXAMPLES / "deploy.yaml"), str(EXAMPLES / "deploy.test.yaml")]) == 0
    assert "2 passed, 0 failed" in capsys.readouterr().out


def test_names_of_strangers_cannot_move_the_cursor(tmp_path, capsys):
    path = tmp_path / "x.test.yaml"
    path.write_text('plan: { steps: [] }\ncases: [{ name: "a\\e[2J", expect: { message: "\\e[1m" } }]\n')
    assert run(["plan", "test", str(path)]) == 1
    out = capsys.readouterr().out
    assert "\\x1b" in out
    assert "\x1b" not in out


@pytest.mark.parametrize("name", ["release.yaml", "deploy.yaml"])
def test_no_fault_is_found_in_the_examples(capsys, name):
    assert run(["plan", "explore", str(EXAMPLES / name), "-o", "json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["ok"], report["complete"], report["faults"]) == (True, True, [])
    assert report["runs"] > 10


@pytest.mark.parametrize(
    ("name", "step", "field", "code"),
    [
        ("unreached.yaml", "page/then/whom", "", "unreached"),
        ("template.yaml", "told", "message", "bad_path"),
        ("default.yaml", "scale", "default", "default_invalid"),
    ],
)
def test_seeded_faults_are_found_that_validation_cannot_see(capsys, name, step, field, code):
    assert run(["plan", "validate", str(BROKEN / name)]) == 0
    capsys.readouterr()
    exit_code, report = explored(capsys, name)
    assert exit_code == 1
    assert (step, field, code) in [(fault["step"], fault["field"], fault["code"]) for fault in report["faults"]]


def test_a_failing_template_comes_with_the_answer_that_makes_it_fail(capsys):
    _, report = explored(capsys, "template.yaml")
    [fault] = [fault for fault in report["faults"] if fault["code"] == "bad_path"]
    assert fault["decisions"] == ['{"ship":true}']


def test_a_fault_comes_with_its_line_and_a_case_that_shows_it(tmp_path, capsys):
    _, report = explored(capsys, "template.yaml")
    [fault] = [fault for fault in report["faults"] if fault["code"] == "bad_path"]
    line = (BROKEN / "template.yaml").read_text("utf-8").splitlines()[fault["line"] - 1]
    assert "{{ship.reason}}" in line
    case = {"name": "shown", **fault["case"], "expect": {"phase": "Failed", "reason": "bad_path"}}
    cases = tmp_path / "again.test.yaml"
    cases.write_text(json.dumps({"plan": str(BROKEN / "template.yaml"), "cases": [case]}))
    assert run(["plan", "test", str(cases)]) == 0


def test_a_fault_is_told_with_what_leads_to_it(capsys):
    assert run(["plan", "explore", str(BROKEN / "default.yaml")]) == 1
    out = capsys.readouterr().out
    assert "default.yaml:20: default: the default does not conform: replicas: must be at most 5" in out
    assert "when nobody can be asked" in out
    assert 'when the inputs are {"replicas":' in out


CALLING = """
steps:
  - { id: E0, tool_name: server__search, input: {} }
  - id: E1
    tool_name: exit
    input: { when: { value: "{{E0.hits}}", op: gt, to: 3 }, status: success }
output: "{{E0.title}}"
"""


@pytest.mark.parametrize(
    ("tools", "code", "faults"),
    [
        (None, 0, []),
        ("server__search: { output: { hits: 3, title: A } }", 0, []),
        ("server__search: { output: { hits: 3 } }", 1, [("output", "bad_path")]),
        ("server__search: [{ output: { hits: 9 } }, { output: { hits: many } }]", 1, [("E1", "gate_failed")]),
    ],
)
def test_what_calls_give_can_be_said(tmp_path, capsys, tools, code, faults):
    plan, stubs = tmp_path / "plan.yaml", tmp_path / "tools.yaml"
    plan.write_text(CALLING)
    stubs.write_text(tools or "{}")
    assert run(["plan", "explore", str(plan), "--tools", str(stubs), "-o", "json"]) == code
    found = json.loads(capsys.readouterr().out)["faults"]
    assert [(fault["step"], fault["code"]) for fault in found if fault["code"] != "unreached"] == faults


def test_tools_that_cannot_be_read_say_where(tmp_path, capsys):
    stubs = tmp_path / "tools.yaml"
    stubs.write_text("server__search: { result: 1 }\n")
    assert run(["plan", "explore", str(BROKEN / "default.yaml"), "--tools", str(stubs)]) == 65
    assert f"{stubs}:1:" in capsys.readouterr().err


def test_the_bound_in_the_help_is_that_of_the_search():
    [option] = [option for option in plan_explore.explore.params if option.name == "max_runs"]
    assert option.default == MAX_RUNS


def test_a_given_input_is_kept(capsys):
    code, report = explored(capsys, "default.yaml", "--input", "replicas=3")
    assert (code, report["faults"]) == (0, [])


def test_a_bound_is_told(capsys):
    _, report = explored(capsys, "default.yaml", "--max-runs", "1")
    assert report["complete"] is False
    assert report["limits"]


@pytest.mark.parametrize("command", ["test", "explore"])
def test_junit_reports_count_what_failed(tmp_path, capsys, command):
    path = tmp_path / "report.xml"
    plan = BROKEN / ("misjudged.yaml" if command == "test" else "unreached.yaml")
    assert run(["plan", command, str(plan), "--junit", str(path)]) == 1
    root = ElementTree.parse(path).getroot()
    [suite] = root.findall("testsuite")
    failing = [case for case in suite.findall("testcase") if case.find("failure") is not None]
    assert suite.get("failures") == str(len(failing)) == "1"
    assert failing[0].find("failure").text
