"""What proves who we are."""

from __future__ import annotations

import base64
import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from compozy.cli.kube.access import Access, ConfigError, ExecPlugin, Impersonation
from compozy.cli.kube.credentials import Credentials

pytestmark = pytest.mark.unit

BASE = Access(server="https://c")
V1 = "client.authentication.k8s.io/v1"


def headers(access: Access) -> dict[str, str]:
    return dict(Credentials(access, {}).headers())


def test_a_token() -> None:
    assert headers(replace(BASE, token="t")) == {"Authorization": "Bearer t"}


def test_a_token_file_beats_a_token_and_is_read_each_time(tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text("one\n")
    credentials = Credentials(replace(BASE, token="t", token_file=file), {})
    assert dict(credentials.headers())["Authorization"] == "Bearer one"
    file.write_text("two")
    assert dict(credentials.headers())["Authorization"] == "Bearer two"
    file.unlink()
    assert dict(credentials.headers())["Authorization"] == "Bearer t"


def test_a_token_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot read the token file"):
        headers(replace(BASE, token_file=tmp_path / "none"))


def test_a_password() -> None:
    sent = headers(replace(BASE, username="ann", password="pä:ss"))["Authorization"]
    assert base64.b64decode(sent.removeprefix("Basic ")).decode() == "ann:pä:ss"


def test_impersonation_has_one_header_for_each_group() -> None:
    acting = Impersonation("ann", "u-1", ("a", "b"), {"Example.com/Why": ("x", "y")})
    assert Credentials(replace(BASE, impersonation=acting), {}).headers() == [
        ("Impersonate-User", "ann"),
        ("Impersonate-Uid", "u-1"),
        ("Impersonate-Group", "a"),
        ("Impersonate-Group", "b"),
        ("Impersonate-Extra-example.com%2Fwhy", "x"),
        ("Impersonate-Extra-example.com%2Fwhy", "y"),
    ]


def plugin(tmp_path: Path, answer: Any, code: int = 0, **fields: Any) -> tuple[ExecPlugin, Path]:
    """A credential plugin that counts its calls and prints an answer; `%COUNT%` in it is how often."""
    seen = tmp_path / "seen"
    program = tmp_path / "plugin.py"
    text = answer if isinstance(answer, str) else json.dumps(answer)
    program.write_text(
        "import json, os, sys\n"
        f"seen = open({str(seen)!r}, 'a+')\n"
        "info = {key: os.environ.get(key) for key in ('KUBERNETES_EXEC_INFO', 'MINE', 'OURS')}\n"
        "info['argv'] = sys.argv[1:]\n"
        "seen.write(json.dumps(info) + '\\n'); seen.seek(0)\n"
        f"print({text!r}.replace('%COUNT%', str(len(seen.readlines()))))\n"
        f"sys.exit({code})\n"
    )
    made = ExecPlugin(V1, sys.executable, (str(program), "get-token"), **fields)
    return made, seen


def credential(**status: Any) -> dict[str, Any]:
    return {"apiVersion": V1, "kind": "ExecCredential", "status": status}


def test_a_plugin_runs_once(tmp_path: Path) -> None:
    made, seen = plugin(tmp_path, credential(token="t%COUNT%"), env=(("MINE", "1"),))
    credentials = Credentials(replace(BASE, exec_plugin=made), {"OURS": "2", "PATH": "/bin"})
    for _ in range(2):
        assert dict(credentials.headers())["Authorization"] == "Bearer t1"
    (call,) = [json.loads(line) for line in seen.read_text().splitlines()]
    assert (call["MINE"], call["OURS"], call["argv"]) == ("1", "2", ["get-token"])
    info = json.loads(call["KUBERNETES_EXEC_INFO"])
    assert (info["apiVersion"], info["kind"]) == (V1, "ExecCredential")
    assert "cluster" not in info["spec"]


def test_a_plugin_runs_again_when_its_credential_has_expired(tmp_path: Path) -> None:
    made, _ = plugin(tmp_path, credential(token="t%COUNT%", expirationTimestamp="2020-01-01T00:00:00Z"))
    credentials = Credentials(replace(BASE, exec_plugin=made), {})
    assert [dict(credentials.headers())["Authorization"] for _ in range(2)] == ["Bearer t1", "Bearer t2"]


def test_a_refused_credential_is_asked_for_again(tmp_path: Path) -> None:
    made, _ = plugin(tmp_path, credential(token="t%COUNT%"))
    credentials = Credentials(replace(BASE, exec_plugin=made), {})
    credentials.headers()
    assert credentials.refused(credentials.runs)
    assert dict(credentials.headers())["Authorization"] == "Bearer t2"
    assert credentials.refused(1), "the second has not been tried"
    assert dict(credentials.headers())["Authorization"] == "Bearer t2"
    fixed = Credentials(replace(BASE, token="fixed"), {})
    assert not fixed.refused(fixed.runs)


def test_a_plugin_may_know_the_cluster(tmp_path: Path) -> None:
    made, seen = plugin(tmp_path, credential(token="t"), provide_cluster_info=True)
    Credentials(replace(BASE, exec_plugin=made, cluster_info={"server": "https://c"}), {}).headers()
    info = json.loads(json.loads(seen.read_text())["KUBERNETES_EXEC_INFO"])
    assert info["spec"]["cluster"] == {"server": "https://c"}


def test_a_plugin_may_give_a_certificate(tmp_path: Path) -> None:
    made, _ = plugin(tmp_path, credential(clientCertificateData="CERT", clientKeyData="KEY"))
    credentials = Credentials(replace(BASE, exec_plugin=made), {})
    assert credentials.headers() == []
    assert credentials.client_certificate() == (b"CERT", b"KEY")


@pytest.mark.parametrize(
    ("answer", "code", "fields", "told"),
    [
        ("no json", 0, {}, "did not print an ExecCredential"),
        ({"apiVersion": "client.authentication.k8s.io/v1beta1", "status": {"token": "t"}}, 0, {}, "v1beta1"),
        (credential(), 0, {}, "neither a token nor a client certificate"),
        (credential(token="t"), 3, {}, "exit status 3"),
        (credential(token="t"), 0, {"interactive_mode": "Always"}, "needs a terminal"),
    ],
)
def test_what_is_wrong_with_a_plugin(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    answer: Any,
    code: int,
    fields: dict[str, Any],
    told: str,
) -> None:
    made, _ = plugin(tmp_path, answer, code, **fields)
    with Path("/dev/null").open() as nothing:
        monkeypatch.setattr(sys, "stdin", nothing)
        with pytest.raises(ConfigError, match=told):
            headers(replace(BASE, exec_plugin=made))


def test_a_plugin_that_is_not_installed_says_how_to_get_it() -> None:
    missing = ExecPlugin(V1, "/no/such/program", install_hint="brew install it")
    with pytest.raises(ConfigError, match=r"is not installed: brew install it"):
        headers(replace(BASE, exec_plugin=missing))


def test_an_old_version_of_the_interface_is_refused() -> None:
    old = ExecPlugin("client.authentication.k8s.io/v1alpha1", "x")
    with pytest.raises(ConfigError, match="v1alpha1' is not supported"):
        headers(replace(BASE, exec_plugin=old))
