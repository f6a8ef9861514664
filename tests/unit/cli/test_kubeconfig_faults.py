"""Kubeconfigs that cannot be meant: each is refused with a message in one line that has no secret in it."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import pytest
import yaml

from compozy.cli.kube.access import Access, ConfigError, Selection
from compozy.cli.kube.kubeconfig import load_access

pytestmark = pytest.mark.unit

V1 = "client.authentication.k8s.io/v1"
SECRET = "s3cr3t"
DATA = base64.b64encode(b"DATA").decode()


def document(
    cluster: Any = None, user: Any = None, context: Any = None, extra: dict[str, Any] | None = None
) -> dict[str, Any]:
    """A kubeconfig with fields added to its one cluster, user and context, or something else in their place."""
    cluster = {"server": "https://c", **(cluster or {})} if not cluster or isinstance(cluster, dict) else cluster
    context = {"cluster": "c", "user": "u", **(context or {})}
    return {
        "current-context": "x",
        "clusters": [{"name": "c", "cluster": cluster}],
        "contexts": [{"name": "x", "context": context}],
        "users": [{"name": "u", "user": {} if user is None else user}],
        **(extra or {}),
    }


def load(tmp_path: Path, content: Any, **flags: Any) -> Access:
    file = tmp_path / "config"
    file.write_text(content if isinstance(content, str) else yaml.safe_dump(content))
    return load_access(Selection(**flags), {"HOME": str(tmp_path), "KUBECONFIG": str(file)}, tmp_path / "no-pod")


def fault(tmp_path: Path, content: Any, **flags: Any) -> str:
    """What is said about a kubeconfig that is refused."""
    with pytest.raises(ConfigError) as caught:
        load(tmp_path, content, **flags)
    told = str(caught.value)
    assert "\n" not in told
    assert SECRET not in told
    assert caught.value.__cause__ is None or SECRET not in str(caught.value.__cause__)
    return told


NOT_TEXT = (5, True, 1.5, [SECRET], {SECRET: SECRET})


@pytest.mark.parametrize("value", NOT_TEXT)
@pytest.mark.parametrize(
    ("part", "field"),
    [
        *(
            ("cluster", name)
            for name in (
                "server",
                "tls-server-name",
                "certificate-authority",
                "certificate-authority-data",
                "proxy-url",
            )
        ),
        *(("context", name) for name in ("cluster", "user", "namespace")),
        *(
            ("user", name)
            for name in (
                "client-certificate",
                "client-certificate-data",
                "client-key",
                "client-key-data",
                "token",
                "tokenFile",
                "as",
                "as-uid",
                "username",
                "password",
            )
        ),
    ],
)
def test_what_is_no_text(tmp_path: Path, part: str, field: str, value: Any) -> None:
    name = {"cluster": "c", "context": "x", "user": "u"}[part]
    told = fault(tmp_path, document(**{part: {field: value}}))
    assert f"`{field}` of {part} '{name}' must be text" in told


@pytest.mark.parametrize("value", ["false", "true", 0, 1, [], {}])
def test_what_is_no_boolean(tmp_path: Path, value: Any) -> None:
    told = fault(tmp_path, document(cluster={"insecure-skip-tls-verify": value}))
    assert "`insecure-skip-tls-verify` of cluster 'c' must be true or false" in told
    user = {"exec": {"apiVersion": V1, "command": "x", "provideClusterInfo": value}}
    assert "`exec.provideClusterInfo` of user 'u' must be true or false" in fault(tmp_path, document(user=user))


@pytest.mark.parametrize(
    ("user", "told"),
    [
        ({"as": "a", "as-groups": 5}, "`as-groups` of user 'u' must be a list of texts"),
        ({"as": "a", "as-groups": SECRET}, "`as-groups` of user 'u' must be a list of texts"),
        ({"as": "a", "as-groups": [5]}, "`as-groups` of user 'u' must be a list of texts"),
        ({"as": "a", "as-user-extra": ["k"]}, "`as-user-extra` of user 'u' must be a mapping of lists of texts"),
        ({"as": "a", "as-user-extra": {"k": SECRET}}, "`as-user-extra` of user 'u' must be a mapping of lists"),
        ({"as": "a", "as-user-extra": {"k": [1]}}, "`as-user-extra` of user 'u' must be a mapping of lists"),
        ({"as": "a", "as-user-extra": {1: ["k"]}}, "`as-user-extra` of user 'u' must be a mapping of lists"),
        (SECRET, "must be a mapping"),
        ({"extensions": 5}, "`extensions` of user 'u' must be a list of mappings"),
        ({"exec": SECRET}, "`exec` of user 'u' must be a mapping"),
        ({"exec": [SECRET]}, "`exec` of user 'u' must be a mapping"),
        ({"token": "a\0b"}, "`token` of user 'u' must be text, without NUL"),
        ({"as": "a", "as-user-extra": {"\0": ["x"]}}, "without NUL"),
    ],
)
def test_what_a_user_cannot_be(tmp_path: Path, user: Any, told: str) -> None:
    assert told in fault(tmp_path, document(user=user))


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"command": 5}, "`exec.command` of user 'u' must be text"),
        ({"command": "a\0"}, "`exec.command` of user 'u' must be text, without NUL"),
        ({"apiVersion": 1}, "`exec.apiVersion` of user 'u' must be text"),
        ({"args": SECRET}, "`exec.args` of user 'u' must be a list of texts"),
        ({"args": 5}, "`exec.args` of user 'u' must be a list of texts"),
        ({"args": [5]}, "`exec.args` of user 'u' must be a list of texts"),
        ({"args": ["a\0"]}, "`exec.args` of user 'u' must be a list of texts, without NUL"),
        ({"env": SECRET}, "`exec.env` of user 'u' must be a list of mappings"),
        ({"env": {"A": SECRET}}, "`exec.env` of user 'u' must be a list of mappings"),
        ({"env": [SECRET]}, "`exec.env` of user 'u' must be a list of mappings"),
        ({"env": [None]}, "`exec.env` of user 'u' must be a list of mappings"),
        ({"env": [{"name": "A", "value": 5}]}, "`exec.env[0].value` of user 'u' must be text"),
        ({"env": [{"name": "A"}, {"name": 5}]}, "`exec.env[1].name` of user 'u' must be text"),
        ({"env": [{"value": SECRET}]}, "`exec.env[0].name` of user 'u' must be a name without `=`"),
        ({"env": [{"name": "", "value": SECRET}]}, "`exec.env[0].name` of user 'u' must be a name"),
        ({"env": [{"name": f"A={SECRET}", "value": "x"}]}, "`exec.env[0].name` of user 'u' must be a name"),
        ({"env": [{"name": "A\0", "value": "x"}]}, "`exec.env[0].name` of user 'u' must be text, without NUL"),
        ({"interactiveMode": "always"}, "`exec.interactiveMode` of user 'u' must be one of Never, IfAvailable"),
    ],
)
def test_what_exec_cannot_be(tmp_path: Path, fields: dict[str, Any], told: str) -> None:
    user = {"exec": {"apiVersion": V1, "command": "x", **fields}}
    assert told in fault(tmp_path, document(user=user))


@pytest.mark.parametrize(
    ("cluster", "told"),
    [
        ("abc", "`clusters[0].cluster` must be a mapping"),
        ({"extensions": "abc"}, "`extensions` of cluster 'c' must be a list of mappings"),
        ({"extensions": ["abc"]}, "`extensions` of cluster 'c' must be a list of mappings"),
        ({"extensions": [{"name": 5}]}, "`extensions[0].name` of cluster 'c' must be text"),
        ({"tls-server-name": "é..x"}, "`tls-server-name` of cluster 'c' is no name"),
        ({"tls-server-name": "a..x"}, "`tls-server-name` of cluster 'c' is no name"),
        ({"tls-server-name": ".x"}, "`tls-server-name` of cluster 'c' is no name"),
        ({"tls-server-name": "a" * 64}, "`tls-server-name` of cluster 'c' is no name"),
        ({"tls-server-name": ".".join(["a" * 60] * 5)}, "`tls-server-name` of cluster 'c' is no name"),
        (
            {"insecure-skip-tls-verify": True, "certificate-authority": "ca.crt"},
            "`insecure-skip-tls-verify` of cluster 'c' cannot be true together with a certificate authority",
        ),
        ({"insecure-skip-tls-verify": True, "certificate-authority-data": DATA}, "cannot be true together"),
    ],
)
def test_what_a_cluster_cannot_be(tmp_path: Path, cluster: Any, told: str) -> None:
    assert told in fault(tmp_path, document(cluster=cluster))


@pytest.mark.parametrize(
    ("extra", "told"),
    [
        ({"users": 5}, "`users` must be a list of mappings"),
        ({"users": {"name": "u"}}, "`users` must be a list of mappings"),
        ({"contexts": ["x"]}, "`contexts` must be a list of mappings"),
        ({"current-context": 5}, "`current-context` must be text"),
        ({"users": [{"name": 5}]}, "`users[0].name` must be text"),
    ],
)
def test_what_a_file_cannot_be(tmp_path: Path, extra: dict[str, Any], told: str) -> None:
    assert told in fault(tmp_path, document(extra=extra))


def test_fields_that_nobody_knows_and_nulls_are_left_alone(tmp_path: Path) -> None:
    content = document(
        cluster={"hue": 5, "tls-server-name": None, "extensions": None, "insecure-skip-tls-verify": None},
        user={"token": "t", "as": None, "as-groups": None, "exec": None, "shade": [1]},
        extra={"preferences": {"colors": True}, "mood": 1},
    )
    access = load(tmp_path, content)
    assert (access.token, access.insecure, access.tls_server_name) == ("t", False, None)
    assert load(tmp_path, document(cluster={"insecure-skip-tls-verify": True})).insecure
    assert load(tmp_path, document(cluster={"tls-server-name": "bücher.example."})).tls_server_name


@pytest.mark.parametrize("key", ["certificate-authority-data", "client-certificate-data"])
def test_base64_may_be_wrapped(tmp_path: Path, key: str) -> None:
    data = bytes(range(256))
    wrapped = base64.encodebytes(data).decode().replace("\n", " \r\n\t")
    other = {"client-key-data": DATA} if key.startswith("client") else {}
    part = "user" if other else "cluster"
    access = load(tmp_path, document(**{part: {key: wrapped, **other}}))
    assert data in (access.ca_data, access.client_cert_data)


@pytest.mark.parametrize(
    ("user", "told"),
    [
        ({"client-certificate-data": DATA}, "`client-key-data` or `client-key` must be specified for user 'u'"),
        ({"client-certificate": "x"}, "`client-key-data` or `client-key` must be specified for user 'u'"),
        ({"client-key-data": DATA}, "`client-certificate-data` or `client-certificate` must be specified"),
        ({"client-key": "x", "client-certificate-data": " "}, "`client-certificate` must be specified"),
        ({"client-key-data": f"{SECRET}@"}, "`client-key-data` of user 'u' is not base64"),
        ({"client-key-data": f"{SECRET}é"}, "`client-key-data` of user 'u' is not base64"),
        ({"token": SECRET, "username": "a"}, "user 'u' has both a token and `username` or `password`"),
        ({"token": "t", "password": SECRET}, "user 'u' has both a token and `username` or `password`"),
        ({"tokenFile": "t", "username": "a", "password": SECRET}, "has both a token and"),
        ({"token": f"{SECRET}\nx"}, "the token of user 'u' has a line break or another character"),
        ({"token": f"{SECRET}\n"}, "the token of user 'u' has a line break"),
        ({"token": f"{SECRET}\x7f"}, "the token of user 'u' has a line break"),
        ({"as": f"{SECRET}\r"}, "`as` of user 'u' has a line break"),
        ({"as": "a", "as-uid": f"{SECRET}\n"}, "`as-uid` of user 'u' has a line break"),
        ({"as": "a", "as-groups": ["g", f"{SECRET}\n"]}, "`as-groups` of user 'u' has a line break"),
        ({"as": "a", "as-user-extra": {"k": [f"{SECRET}\n"]}}, "`as-user-extra` of user 'u' has a line break"),
        ({"as-uid": "1"}, "need --as USER"),
        ({"as-groups": ["g"]}, "need --as USER"),
        ({"as-user-extra": {"k": ["v"]}}, "need --as USER"),
    ],
)
def test_what_a_user_cannot_prove(tmp_path: Path, user: dict[str, Any], told: str) -> None:
    assert told in fault(tmp_path, document(user=user))


@pytest.mark.parametrize(
    ("flags", "told"),
    [
        ({"as_uid": "1"}, "need --as USER"),
        ({"as_groups": ("g",)}, "need --as USER"),
        ({"as_user": f"{SECRET}\n"}, "--as has a line break"),
        ({"as_user": f"{SECRET}\udcff"}, "--as has a line break or another character"),
        ({"as_user": "a", "as_uid": f"{SECRET}\n"}, "--as-uid has a line break"),
        ({"as_user": "a", "as_groups": (f"{SECRET}\n",)}, "--as-group has a line break"),
    ],
)
def test_what_flags_cannot_ask(tmp_path: Path, flags: dict[str, Any], told: str) -> None:
    assert told in fault(tmp_path, document(user={"token": "t"}), **flags)


def test_flags_may_complete_the_kubeconfig(tmp_path: Path) -> None:
    acting = load(tmp_path, document(user={"as-groups": ["g"]}), as_user="ann").impersonation
    assert (acting.user, acting.groups) == ("ann", ("g",))


@pytest.mark.parametrize(
    "text",
    [
        f"users:\n  - token: *{SECRET}\n",
        f"users:\n  - password: !{SECRET} x\n",
        f"users:\n  - token: !!int {SECRET}\n",
        "current-context: 2020-13-45\n",
        "a: " + "[" * 20000,
    ],
)
def test_a_file_that_is_no_yaml_is_not_quoted(tmp_path: Path, text: str) -> None:
    assert f"cannot read kubeconfig {tmp_path / 'config'}: it is not valid YAML" in fault(tmp_path, text)


def test_half_a_character_is_no_text(tmp_path: Path) -> None:
    content = yaml.safe_dump(document(user={"token": "HALF"})).replace("HALF", '"\\ud800"')
    fault(tmp_path, content)


def test_a_directory_is_called_one(tmp_path: Path) -> None:
    for selection, environ in (
        (Selection(), {"KUBECONFIG": str(tmp_path)}),
        (Selection(kubeconfig=str(tmp_path)), {}),
    ):
        with pytest.raises(ConfigError, match=f"kubeconfig {tmp_path} is a directory"):
            load_access(selection, environ, tmp_path / "no-pod")


def test_a_name_that_no_file_can_have_is_told(tmp_path: Path) -> None:
    for name in ("~nobody-has-this-name/config", "n" * 5000):
        with pytest.raises(ConfigError, match="kubeconfig"):
            load_access(Selection(kubeconfig=name), {}, tmp_path / "no-pod")
