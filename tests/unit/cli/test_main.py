"""What a call ends with when something goes wrong around it: streams, arguments, faults of our own."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from compozy.cli import main
from compozy.cli.kube.access import Access, ConfigError
from compozy.cli.kube.client import Client
from compozy.cli.kube.resources import NAMESPACES

from .conftest import Scripted

pytestmark = pytest.mark.unit

PLUGIN = str(Path(sys.executable).parent / "kubectl-compozy")
COMPLETE = str(Path(sys.executable).parent / "kubectl_complete-compozy")
TOKEN = "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJhIn0.c2lnbmF0dXJl"


def shell(line: str, folder: Path, **environ: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        ["/bin/sh", "-c", line],
        capture_output=True,
        timeout=60,
        env={"PATH": "/usr/bin:/bin", "HOME": str(folder), "KUBECONFIG": str(kubeconfig(folder)), **environ},
    )


def kubeconfig(folder: Path) -> Path:
    """One that leads nowhere."""
    config = {
        "clusters": [{"name": "c", "cluster": {"server": "http://127.0.0.1:1"}}],
        "users": [{"name": "u", "user": {}}],
        "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
        "current-context": "x",
    }
    path = folder / "config"
    path.write_text(json.dumps(config))
    return path


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_streams_may_be_closed(closed: str, tmp_path: Path) -> None:
    done = shell(f"{PLUGIN} respond q {closed}", tmp_path)
    assert done.returncode == 69
    assert b"Traceback" not in done.stderr


def test_a_payload_from_a_closed_stdin_is_told(tmp_path: Path) -> None:
    done = shell(f"{PLUGIN} run --local -f - <&-", tmp_path)
    assert done.returncode == 1
    assert b"Traceback" not in done.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no /dev/full")
@pytest.mark.parametrize("flags", ["", "-o json"])
def test_output_that_finds_no_room_is_told(flags: str, tmp_path: Path) -> None:
    done = shell(f"{PLUGIN} plan validate nowhere.yaml {flags} >/dev/full", tmp_path)
    assert b"Traceback" not in done.stderr
    plan = tmp_path / "plan.yaml"
    plan.write_text("name: a\nsteps: [{id: q, ask: {prompt: x}}]\n")
    done = shell(f"{PLUGIN} plan fmt - < {plan} >/dev/full", tmp_path)
    assert done.returncode == 1
    assert done.stderr.startswith(b"error: cannot write what was found: No space left on device")


def test_bytes_that_are_no_text_are_a_wrong_call(tmp_path: Path) -> None:
    for words in (r"respond q --note \377", r"respond \377", r"requests -n \377"):
        done = shell(f'{PLUGIN} $(printf "{words}")', tmp_path)
        assert done.returncode == 2, words
        assert b"is not UTF-8 text" in done.stderr


@pytest.mark.parametrize("encoding", ["latin-1", "ascii"])
def test_stdin_is_utf8_whatever_the_locale_says(encoding: str, tmp_path: Path) -> None:
    plan = "name: a\\nsteps:\\n  - id: s\\n    transform: {value: gr\\303\\274n}\\n"
    done = shell(f'printf "{plan}" | {PLUGIN} plan fmt -', tmp_path, PYTHONIOENCODING=encoding)
    assert done.returncode == 0, done.stderr
    assert "grün".encode(encoding, "backslashreplace") in done.stdout


def test_a_namespace_that_cannot_be_one(tmp_path: Path) -> None:
    done = shell(f"{PLUGIN} requests -n ../kube-system", tmp_path)
    assert done.returncode == 65
    assert b"cannot be the name of a namespace" in done.stderr


def test_completion_may_find_nobody_who_reads(tmp_path: Path) -> None:
    done = shell(f"{COMPLETE} respond - | true; {COMPLETE} respond - >/dev/full", tmp_path)
    assert done.stderr == b""


def test_a_fault_of_our_own_tells_no_secret(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError(f"Authorization: Bearer {TOKEN}")

    monkeypatch.setattr(main.cli, "main", broken)
    assert main.run(["requests"]) == 1
    told = capsys.readouterr().err
    assert TOKEN not in told
    assert "RuntimeError" in told
    assert "test_main.py" in told, "where it happened"


def test_no_header_carries_a_line_break_and_no_error_the_token(server: Scripted) -> None:
    client = Client(Access(server=server.url, token=f"{TOKEN}\nX: y"), {})
    with pytest.raises(ConfigError, match="Authorization") as caught:
        client.get(NAMESPACES, None, "x")
    assert not server.calls
    assert TOKEN not in str(caught.value)
    assert caught.value.__cause__ is None
