"""What proves who we are, where it cannot: told in one line, without a secret and without a traceback."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from compozy.cli.kube.access import Access, ConfigError, ExecPlugin
from compozy.cli.kube.credentials import Credentials, ExecCredential
from compozy.cli.kube.tls import ssl_context
from controlplane.credentials import issue_client, new_authority

pytestmark = pytest.mark.unit

BASE = Access(server="https://c")
V1 = "client.authentication.k8s.io/v1"
SECRET = "s3cr3t"
AUTHORITY = new_authority("tests")


def fault(access: Access) -> str:
    with pytest.raises(ConfigError) as caught:
        Credentials(access, {}).headers()
    told = str(caught.value)
    assert SECRET not in told + str(caught.value.__cause__)
    assert "\n" not in told
    return told


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "is empty"),
        (b" \n", "is empty"),
        (f"{SECRET}\xff".encode("latin-1"), "is not UTF-8 text"),
        (f"{SECRET}\nmore".encode(), "has a line break or another character that no header can carry"),
    ],
)
def test_a_token_file_without_a_token(tmp_path: Path, content: bytes, told: str) -> None:
    file = tmp_path / "token"
    file.write_bytes(content)
    said = fault(replace(BASE, token_file=file))
    assert told in said
    assert str(file) in said
    sent = dict(Credentials(replace(BASE, token_file=file, token="t"), {}).headers())
    assert sent["Authorization"] == "Bearer t"


def answering(tmp_path: Path, answer: Any, code: int = 0, **fields: Any) -> Access:
    """A user whose credential plugin prints something."""
    program, printed = tmp_path / "plugin.py", tmp_path / "answer"
    printed.write_text(answer if isinstance(answer, str) else json.dumps(answer))
    program.write_text(f"import sys\nprint(open({str(printed)!r}).read())\nsys.exit({code})\n")
    return replace(BASE, exec_plugin=ExecPlugin(V1, sys.executable, (str(program), SECRET), **fields))


def credential(status: Any, kind: str = "ExecCredential") -> dict[str, Any]:
    return {"apiVersion": V1, "kind": kind, "status": status}


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        ([SECRET], "did not print an ExecCredential"),
        ("[" * 100000, "did not print an ExecCredential"),
        (f"{SECRET}", "did not print an ExecCredential"),
        (credential(None), "`status` must be a mapping"),
        (credential(SECRET), "`status` must be a mapping"),
        (credential({"token": "t"}, "Secret"), "`kind` must be ExecCredential"),
        (credential({"token": 5}), "`status.token` that credential plugin"),
        (credential({"token": [SECRET]}), "gave must be text"),
        (credential({"clientCertificateData": 5, "clientKeyData": SECRET}), "`status.clientCertificateData`"),
        (credential({"clientCertificateData": "\ud800", "clientKeyData": "k"}), "gave must be text"),
        (credential({"clientCertificateData": "c", "clientKeyData": [SECRET]}), "`status.clientKeyData`"),
        (credential({"clientCertificateData": "c"}), "gave half a client certificate"),
        (credential({"token": "t", "clientKeyData": SECRET}), "gave half a client certificate"),
        (credential({"token": "t", "expirationTimestamp": 5}), "`status.expirationTimestamp`"),
        (credential({"token": "t", "expirationTimestamp": "soon"}), "must be a time with a zone"),
        (credential({"token": "t", "expirationTimestamp": "2030-01-01T00:00:00"}), "must be a time with a zone"),
        (credential({"token": f"{SECRET}\nx"}), "has a line break or another character that no header can carry"),
    ],
)
def test_an_answer_that_is_none(tmp_path: Path, answer: Any, told: str) -> None:
    said = fault(answering(tmp_path, answer))
    assert told in said
    assert f"credential plugin '{sys.executable}'" in said


def test_a_plugin_that_fails_keeps_its_arguments(tmp_path: Path) -> None:
    assert "exit status 3" in fault(answering(tmp_path, "", 3))


def test_a_plugin_cannot_be_told_what_is_no_json(tmp_path: Path) -> None:
    access = answering(tmp_path, credential({"token": "t"}), provide_cluster_info=True)
    config = {"day": datetime(2030, 1, 1, tzinfo=UTC)}
    assert "has a value that is no JSON" in fault(replace(access, cluster_info={"config": config}))


@pytest.mark.parametrize("text", ["0001-01-01T00:00:00Z", "0001-01-01T00:00:00+14:00"])
def test_no_time_is_long_ago(text: str) -> None:
    assert ExecCredential("t", None, None, datetime.fromisoformat(text)).expired(datetime.now(UTC))


def test_an_authority_may_have_comments_in_any_language() -> None:
    pem = "# Größe für Zürich\n".encode() + AUTHORITY.certificate
    assert ssl_context(replace(BASE, ca_data=pem), None).get_ca_certs()


@pytest.mark.parametrize("what", ["certificate authority", "client certificate", "client key"])
def test_a_file_that_is_missing_is_named(tmp_path: Path, what: str) -> None:
    pair = issue_client(AUTHORITY, "alice", ["ops"])
    pair.write(tmp_path / "alice")
    here, missing = tmp_path / "alice", tmp_path / "missing"
    access = replace(
        BASE,
        ca_file=missing if what == "certificate authority" else None,
        client_cert_file=missing if what == "client certificate" else here.with_suffix(".crt"),
        client_key_file=missing if what == "client key" else here.with_suffix(".key"),
    )
    with pytest.raises(ConfigError, match=f"cannot read the {what} {missing}: No such file"):
        ssl_context(access, None)


def test_half_a_certificate_is_never_left_unsaid() -> None:
    with pytest.raises(ConfigError, match="one of them is missing"):
        ssl_context(replace(BASE, client_cert_data=b"x"), None)
