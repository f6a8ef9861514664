"""`plan fmt`, `set`, `unset` and `step` at the command line: files, streams, exit codes, JSON."""

from __future__ import annotations

import io
import json
import os
import stat
from pathlib import Path
from typing import Any

import pytest

from compozy.cli.errors import CliError
from compozy.cli.main import run
from compozy.cli.saving import save
from support.documents import ROOT

pytestmark = pytest.mark.unit

UGLY = "# why\nsteps:\n- id: a\n  toolName: exit\n  input: {status: success}\n"
NEAT = "# why\nsteps:\n  - id: a\n    tool_name: exit\n    input: {status: success}\n"


class Shell:
    """Runs commands and keeps what they print."""

    def __init__(self, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
        self.capsys, self.monkeypatch = capsys, monkeypatch
        self.out = self.err = ""

    def plan(self, *arguments: object, stdin: str = "") -> int:
        self.monkeypatch.setattr("sys.stdin", io.StringIO(stdin))
        code = run(["plan", *map(str, arguments)])
        self.out, self.err = self.capsys.readouterr()
        return code

    def json(self) -> Any:
        return json.loads(self.out)


@pytest.fixture
def shell(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Shell:
    return Shell(capsys, monkeypatch)


@pytest.fixture
def ugly(tmp_path: Path) -> Path:
    file = tmp_path / "ugly.yaml"
    file.write_text(UGLY, "utf-8")
    return file


@pytest.fixture
def release(tmp_path: Path) -> Path:
    file = tmp_path / "release.yaml"
    file.write_text((ROOT / "examples" / "release.yaml").read_text("utf-8"), "utf-8")
    return file


def test_fmt_rewrites_and_names_what_it_changed(shell: Shell, ugly: Path, release: Path) -> None:
    assert shell.plan("fmt", ugly, release) == 0
    assert shell.out == f"{ugly}\n"
    assert ugly.read_text("utf-8") == NEAT
    assert shell.plan("fmt", ugly, release) == 0
    assert shell.out == ""


def test_fmt_check_writes_nothing(shell: Shell, ugly: Path, release: Path) -> None:
    assert shell.plan("fmt", "--check", ugly, release) == 1
    assert shell.out == f"{ugly}\n"
    assert ugly.read_text("utf-8") == UGLY
    assert shell.plan("fmt", "--check", release) == 0


def test_fmt_of_stdin(shell: Shell) -> None:
    assert shell.plan("fmt", "-", stdin=UGLY) == 0
    assert shell.out == NEAT
    assert shell.plan("fmt", "--check", "-", stdin=UGLY) == 1
    assert shell.out == "-\n"
    assert shell.plan("fmt", "-", stdin="steps: [") == 1
    assert shell.out == ""


def test_fmt_goes_on_after_a_file_that_is_not_yaml(shell: Shell, ugly: Path, tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.yaml"
    wrong.write_text("name: a\nname: b\n", "utf-8")
    assert shell.plan("fmt", wrong, ugly) == 1
    assert shell.out == f"{ugly}\n"
    assert shell.err == f"{wrong}:2:1: name: the key `name` is written twice; remove one [yaml_duplicate_key]\n"
    assert wrong.read_text("utf-8") == "name: a\nname: b\n"


def test_fmt_as_json(shell: Shell, ugly: Path, tmp_path: Path) -> None:
    assert shell.plan("fmt", "--check", ugly, "-o", "json") == 1
    assert shell.json() == {"ok": True, "file": str(ugly), "changed": True, "savedTo": None}
    wrong = tmp_path / "wrong.yaml"
    wrong.write_text("[", "utf-8")
    assert shell.plan("fmt", ugly, wrong, "-o", "json") == 1
    first, second = shell.json()
    assert first == {"ok": True, "file": str(ugly), "changed": True, "savedTo": str(ugly)}
    assert (second["ok"], second["problems"][0]["code"]) == (False, "yaml_syntax")


def test_set_and_unset(shell: Shell, release: Path) -> None:
    assert shell.plan("set", release, "profile=watch", "steps.channel.input.default.confirm=true") == 0
    assert shell.out == f"{release}: saved, 3 steps\n"
    text = release.read_text("utf-8")
    assert "\nprofile: watch\n" in text
    assert 'default: { channel: "{{input.fallback}}", confirm: true }' in text
    assert text.startswith("# A release that asks")
    assert shell.plan("unset", release, "profile", "-o", "json") == 0
    assert shell.json() == {"ok": True, "steps": 3, "savedTo": str(release)}
    assert "profile" not in release.read_text("utf-8")


def test_steps(shell: Shell, release: Path, tmp_path: Path) -> None:
    step = tmp_path / "step.yaml"
    step.write_text("tool_name: exit   # by hand\ninput: { status: error }\n", "utf-8")
    assert shell.plan("step", "add", release, f"@{step}", "--after", "channel", "-o", "json") == 0
    assert shell.json() == {"ok": True, "id": "E3", "index": 1, "steps": 4, "savedTo": str(release)}
    assert shell.plan("step", "add", release, "-", stdin='{"tool_name": "x__y", "input": {}}') == 0
    assert shell.plan("step", "set", release, "E3", "input.message=no") == 0
    assert shell.plan("step", "rename", release, "channel", "chosen") == 0
    assert shell.plan("step", "rm", release, "E4") == 0
    text = release.read_text("utf-8")
    assert 'input: { status: error, message: "no" }' in text
    assert "channel.answer" not in text
    assert "{{chosen.answer.channel}}" in text
    assert "E4" not in text


def test_a_refused_edit_saves_nothing_and_names_each_new_problem(shell: Shell, release: Path) -> None:
    before = release.read_bytes()
    assert shell.plan("set", release, "steps.channel.input.prompt={{E9.x}}", "steps.nobody.input.status=fine") == 1
    assert shell.out == ""
    first, second, last = shell.err.splitlines()
    assert first.startswith(f"{release}:16:7: steps[0].input.prompt: step channel refers to `E9`")
    assert first.endswith("[unknown_reference]")
    assert second == f"{release}:29:7: steps[1].input.status: must be `success` or `error` [invalid_value]"
    assert last == "error: the edit would introduce 2 problems; nothing is saved [edit_refused]"
    assert release.read_bytes() == before


def test_a_refused_edit_as_json(shell: Shell, release: Path) -> None:
    release.write_text(release.read_text("utf-8") + "colour: red\n", "utf-8")
    assert shell.plan("step", "rm", release, "nobody", "-o", "json") == 0
    assert [problem["code"] for problem in shell.json()["preExistingProblems"]] == ["unknown_key"]
    assert shell.plan("step", "rm", release, "channel", "-o", "json") == 1
    refused = shell.json()
    assert (refused["ok"], refused["code"]) == (False, "edit_refused")
    assert {problem["code"] for problem in refused["problemsIntroduced"]} == {"unknown_reference"}
    assert [problem["code"] for problem in refused["preExistingProblems"]] == ["unknown_key"]


def test_problems_that_were_there_are_told(shell: Shell, ugly: Path) -> None:
    ugly.write_text(UGLY + "colour: red\n", "utf-8")
    assert shell.plan("set", ugly, "name=x") == 0
    assert shell.err.startswith(f"{ugly}:7:1: colour: unknown key `colour`")
    assert shell.err.endswith("(was there before)\n")


def test_dry_run_and_stdin_print_the_result(shell: Shell, ugly: Path) -> None:
    changed = NEAT.replace("# why\n", "# why\nname: x\n")
    assert shell.plan("set", ugly, "name=x", "--dry-run") == 0
    assert shell.out == changed
    assert ugly.read_text("utf-8") == UGLY
    assert shell.plan("set", "-", "name=x", stdin=UGLY) == 0
    assert shell.out == changed
    assert shell.plan("set", "-", "name=x", "-o", "json", stdin=UGLY) == 0
    assert shell.json() == {"ok": True, "steps": 1, "savedTo": None, "text": changed}


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("set", "FILE", "name"), 65, "not of the form key=value"),
        (("set", "FILE", "steps.E9.id=x"), 65, "there is no E9 in steps"),
        (("step", "rm", "FILE", "E9"), 65, "there is no step 'E9'"),
        (("step", "add", "FILE", "["), 65, "STEP is not YAML"),
        (("step", "add", "FILE", "x"), 65, "must be an object"),
        (("step", "add", "-", "-"), 65, "cannot both come from stdin"),
        (("step", "add", "FILE", "{}", "--before", "a", "--after", "a"), 2, "one of --before and --after"),
        (("set", "/not/there.yaml", "name=x"), 65, "cannot read /not/there.yaml"),
        (("fmt",), 2, "Missing argument"),
    ],
)
def test_what_cannot_be_done(
    shell: Shell, ugly: Path, arguments: tuple[str, ...], code: int, message: str
) -> None:
    given = [ugly if argument == "FILE" else argument for argument in arguments]
    assert shell.plan(*given) == code
    assert message in shell.err
    assert ugly.read_text("utf-8") == UGLY


def test_an_edit_of_what_is_not_yaml(shell: Shell, ugly: Path) -> None:
    ugly.write_text("steps: [", "utf-8")
    assert shell.plan("set", ugly, "name=x") == 1
    assert "[yaml_syntax]" in shell.err


def test_saving_keeps_mode_link_and_line_ends_and_leaves_nothing_behind(tmp_path: Path) -> None:
    file, link = tmp_path / "a.yaml", tmp_path / "b.yaml"
    file.write_bytes(b"x: 1\r\n")
    file.chmod(0o640)
    link.symlink_to(file)
    save(str(link), "x: 2\ny: 3\n")
    assert file.read_bytes() == b"x: 2\r\ny: 3\r\n"
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    assert link.is_symlink()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.yaml", "b.yaml"]


def test_a_save_that_fails_leaves_the_file_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "a.yaml"
    file.write_text("x: 1\n", "utf-8")

    def fails(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fails)
    with pytest.raises(CliError, match="No space left on device"):
        save(str(file), "x: 2\n")
    assert file.read_text("utf-8") == "x: 1\n"
    assert [path.name for path in tmp_path.iterdir()] == ["a.yaml"]
