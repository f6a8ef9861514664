"""Which cluster, which user, which namespace: kubectl's rules."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import pytest
import yaml

from compozy.cli.kube.access import Access, ConfigError, Selection
from compozy.cli.kube.kubeconfig import load_access

pytestmark = pytest.mark.unit


def config(**parts: Any) -> dict[str, Any]:
    """A kubeconfig with one cluster `c` for two contexts and users."""
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "one",
        "clusters": [{"name": "c", "cluster": {"server": "https://c.example:6443/"}}],
        "contexts": [
            {"name": "one", "context": {"cluster": "c", "user": "u1", "namespace": "team"}},
            {"name": "two", "context": {"cluster": "c", "user": "u2"}},
        ],
        "users": [{"name": "u1", "user": {"token": "t1"}}, {"name": "u2", "user": {"token": "t2"}}],
        **parts,
    }


def write(path: Path, document: Any) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(document if isinstance(document, str) else yaml.safe_dump(document))
    return str(path)


def load(tmp_path: Path, environ: dict[str, str], **flags: Any) -> Access:
    return load_access(Selection(**flags), {"HOME": str(tmp_path), **environ}, tmp_path / "no-pod")


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    return {"KUBECONFIG": write(tmp_path / "config", config())}


@pytest.mark.parametrize(
    ("flags", "token", "namespace"),
    [
        ({}, "t1", "team"),
        ({"context": "two"}, "t2", "default"),
        ({"user": "u2"}, "t2", "team"),
        ({"namespace": "other"}, "t1", "other"),
        ({"context": "two", "namespace": "other"}, "t2", "other"),
    ],
)
def test_flags_choose(
    tmp_path: Path, environ: dict[str, str], flags: dict[str, str], token: str, namespace: str
) -> None:
    access = load(tmp_path, environ, **flags)
    assert (access.token, access.namespace, access.server) == (token, namespace, "https://c.example:6443")


def test_the_first_file_of_a_list_wins_for_each_name(tmp_path: Path) -> None:
    first = config(
        **{
            "current-context": "",
            "users": [{"name": "u1", "user": {"token": "first"}}],
            "contexts": [],
        }
    )
    second = config(clusters=[{"name": "c", "cluster": {"server": "https://other.example"}}])
    missing = tmp_path / "is-not-there"
    listed = [write(tmp_path / "a", first), str(missing), "", write(tmp_path / "b", second)]
    access = load(tmp_path, {"KUBECONFIG": ":".join(listed)})
    assert access.token == "first"
    assert access.server == "https://c.example:6443"
    assert access.namespace == "team"
    assert load(tmp_path, {"KUBECONFIG": ":".join(listed)}, context="two").token == "t2"


def test_an_entry_is_never_mixed_from_two_files(tmp_path: Path) -> None:
    first = config(users=[{"name": "u1", "user": {"username": "ann"}}])
    second = config()
    listed = f"{write(tmp_path / 'a', first)}:{write(tmp_path / 'b', second)}"
    access = load(tmp_path, {"KUBECONFIG": listed})
    assert (access.username, access.token) == ("ann", None)


def test_the_file_at_home_is_the_default_and_a_flag_beats_both(tmp_path: Path) -> None:
    write(tmp_path / ".kube" / "config", config())
    assert load(tmp_path, {}).token == "t1"
    other = write(tmp_path / "other", config(users=[{"name": "u1", "user": {"token": "flag"}}]))
    assert load(tmp_path, {"KUBECONFIG": "/nowhere"}, kubeconfig=other).token == "flag"


def test_paths_are_relative_to_the_file_that_names_them(tmp_path: Path) -> None:
    document = config(
        clusters=[{"name": "c", "cluster": {"server": "https://c", "certificate-authority": "pki/ca.crt"}}],
        users=[
            {
                "name": "u1",
                "user": {
                    "client-certificate": "/abs/me.crt",
                    "client-key": "me.key",
                    "tokenFile": "tok",
                    "exec": {"apiVersion": "client.authentication.k8s.io/v1", "command": "./login"},
                },
            }
        ],
    )
    access = load(tmp_path, {"KUBECONFIG": write(tmp_path / "deep" / "config", document)})
    folder = tmp_path / "deep"
    assert access.ca_file == folder / "pki/ca.crt"
    assert access.client_cert_file == Path("/abs/me.crt")
    assert (access.client_key_file, access.token_file) == (folder / "me.key", folder / "tok")
    assert access.exec_plugin is not None
    assert access.exec_plugin.command == str(folder / "login")


def test_a_command_without_a_folder_is_looked_up_in_path(tmp_path: Path) -> None:
    user = {"exec": {"apiVersion": "client.authentication.k8s.io/v1", "command": "login", "args": ["1"]}}
    document = config(users=[{"name": "u1", "user": user}])
    plugin = load(tmp_path, {"KUBECONFIG": write(tmp_path / "config", document)}).exec_plugin
    assert plugin is not None
    assert (plugin.command, plugin.args) == ("login", ("1",))


def test_data_beats_files(tmp_path: Path) -> None:
    document = config(
        clusters=[
            {
                "name": "c",
                "cluster": {
                    "server": "https://c",
                    "certificate-authority": "ca.crt",
                    "certificate-authority-data": base64.b64encode(b"CA").decode(),
                    "tls-server-name": "inside",
                    "proxy-url": "http://proxy:3128",
                },
            }
        ],
        users=[
            {
                "name": "u1",
                "user": {
                    "client-certificate": "x",
                    "client-certificate-data": base64.b64encode(b"CERT").decode(),
                    "client-key-data": base64.b64encode(b"KEY").decode(),
                },
            }
        ],
    )
    access = load(tmp_path, {"KUBECONFIG": write(tmp_path / "config", document)})
    assert (access.ca_data, access.ca_file) == (b"CA", None)
    assert (access.client_cert_data, access.client_cert_file) == (b"CERT", None)
    assert access.client_key_data == b"KEY"
    assert (access.tls_server_name, access.proxy_url) == ("inside", "http://proxy:3128")


@pytest.mark.parametrize(
    ("flags", "user", "groups"),
    [
        ({}, "robot", ("g1",)),
        ({"as_user": "ann"}, "ann", ("g1",)),
        ({"as_user": "ann", "as_groups": ("g2", "g3")}, "ann", ("g2", "g3")),
        ({"as_groups": ("g2",)}, "robot", ("g2",)),
    ],
)
def test_impersonation(tmp_path: Path, flags: dict[str, Any], user: str, groups: tuple[str, ...]) -> None:
    acting = {"token": "t", "as": "robot", "as-groups": ["g1"], "as-user-extra": {"Why": ["test"]}}
    document = config(users=[{"name": "u1", "user": acting}])
    got = load(tmp_path, {"KUBECONFIG": write(tmp_path / "config", document)}, **flags).impersonation
    assert (got.user, got.groups) == (user, groups)
    assert got.extra == ({} if "as_user" in flags else {"Why": ("test",)})


@pytest.mark.parametrize(
    ("parts", "flags", "told"),
    [
        ({}, {"context": "three"}, "no context 'three' (it has: one, two)"),
        ({}, {"cluster": "d"}, "no cluster 'd'"),
        ({}, {"user": "u3"}, "no user 'u3'"),
        ({}, {"kubeconfig": "/not/there"}, "/not/there does not exist"),
        ({}, {"as_groups": ("g",)}, "need --as USER"),
        ({"current-context": ""}, {}, "give --context NAME"),
        ({"clusters": [{"name": "c", "cluster": {}}]}, {}, "'c' of the kubeconfig has no server"),
        (
            {"users": [{"name": "u1", "user": {"auth-provider": {"name": "oidc"}}}]},
            {},
            "`auth-provider`, which Kubernetes has removed",
        ),
        (
            {"users": [{"name": "u1", "user": {"client-key-data": "@@"}}]},
            {},
            "`client-key-data` of user 'u1' is not base64",
        ),
        (
            {"users": [{"name": "u1", "user": {"exec": {"command": "x"}}}]},
            {},
            "`exec` of user 'u1' needs `apiVersion` and `command`",
        ),
        ({"users": [{"user": {}}]}, {}, "every entry of `users` must have a name"),
    ],
)
def test_what_cannot_be_used_is_said(
    tmp_path: Path, parts: dict[str, Any], flags: dict[str, Any], told: str
) -> None:
    environ = {"KUBECONFIG": write(tmp_path / "config", config(**parts))}
    with pytest.raises(ConfigError) as caught:
        load(tmp_path, environ, **flags)
    assert told in str(caught.value)


@pytest.mark.parametrize("text", ["{", "- a list", "a: b: c"])
def test_a_broken_file_is_named(tmp_path: Path, text: str) -> None:
    path = write(tmp_path / "config", text)
    with pytest.raises(ConfigError, match="config"):
        load(tmp_path, {"KUBECONFIG": path})


def pod(tmp_path: Path, namespace: str | None) -> Path:
    folder = tmp_path / "pod"
    write(folder / "token", "pod-token\n")
    write(folder / "ca.crt", "CA")
    if namespace is not None:
        write(folder / "namespace", namespace)
    return folder


@pytest.mark.parametrize(("namespace", "expected"), [("jobs", "jobs"), (None, "default"), ("", "default")])
def test_a_pod_needs_no_kubeconfig(tmp_path: Path, namespace: str | None, expected: str) -> None:
    environ = {
        "HOME": str(tmp_path),
        "KUBERNETES_SERVICE_HOST": "fd00::1",
        "KUBERNETES_SERVICE_PORT": "443",
    }
    folder = pod(tmp_path, namespace)
    access = load_access(Selection(), environ, folder)
    assert access.server == "https://[fd00::1]:443"
    assert (access.namespace, access.token_file) == (expected, folder / "token")
    assert load_access(Selection(namespace="n"), environ, folder).namespace == "n"


def test_a_kubeconfig_beats_the_pod(tmp_path: Path, environ: dict[str, str]) -> None:
    inside = {**environ, "KUBERNETES_SERVICE_HOST": "10.0.0.1", "KUBERNETES_SERVICE_PORT": "443"}
    assert load_access(Selection(), inside, pod(tmp_path, "jobs")).namespace == "team"


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    missing = tmp_path / "is-not-there"
    with pytest.raises(ConfigError, match="unset it to use") as caught:
        load(tmp_path, {"KUBECONFIG": f"{missing}:{missing}"})
    assert f"KUBECONFIG is set to {missing}, and no such file is there" in str(caught.value)


def test_nothing_at_all_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="set KUBECONFIG or give --kubeconfig"):
        load(tmp_path, {})
