"""`plan test` and `plan explore`: the examples pass, the broken ones do not, and reports say why."""

import json
from xml.etree import ElementTree

import pytest

from compozy.cli.main import run
from support.documents import ROOT

pytestmark = pytest.mark.unit

EXAMPLES = ROOT / "examples"
BROKEN = EXAMPLES / "broken"


def explored(capsys, name, *more):
    code = run(["plan", "explore", str(BROKEN / name), "-o", "json", *more])
    return code, json.loads(capsys.readouterr().out)


def test_the_cases_of_the_examples_pass(capsys):
    assert run(["plan", "test", str(EXAMPLES)]) == 0
    assert "6 passed, 0 failed" in capsys.readouterr().out


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


def test_a_file_that_is_no_file_of_cases_says_where(tmp_path, capsys):
    path = tmp_path / "x.test.yaml"
    path.write_text("plan: { steps: [] }\ncases:\n  - name: a\n    expects: {}\n")
    assert run(["plan", "test", str(path)]) == 65
    assert f"{path}:4:" in capsys.readouterr().err


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
    assert root.get("failures") == suite.get("failures") == str(len(failing)) == "1"
    assert failing[0].find("failure").text
