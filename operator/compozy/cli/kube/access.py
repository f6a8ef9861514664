"""How to reach a cluster and as whom: what a kubeconfig, the flags or a pod's own files come down to."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from compozy.language.shapes.bounds import is_unicode


class ConfigError(ValueError):
    """The configuration cannot be used: the message says which part and what to do."""


def check_header(value: str, what: str) -> None:
    """Raises ConfigError, which names `what` and never the value, for text that no HTTP header can carry."""
    if not is_unicode(value) or any((char < " " and char != "\t") or char == "\x7f" for char in value):
        raise ConfigError(f"{what} has a line break or another character that no header can carry")


@dataclass(frozen=True, slots=True)
class Selection:
    """What the user chose on the command line, in kubectl's meaning. `None` means: as the kubeconfig says."""

    kubeconfig: str | None = None
    context: str | None = None
    cluster: str | None = None
    user: str | None = None
    namespace: str | None = None
    as_user: str | None = None
    as_uid: str | None = None
    as_groups: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Impersonation:
    """The user to act as, where the API server lets us."""

    user: str | None = None
    uid: str | None = None
    groups: tuple[str, ...] = ()
    extra: dict[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ExecPlugin:
    """A credential plugin: a program that prints an `ExecCredential`."""

    api_version: str
    command: str
    args: tuple[str, ...] = ()
    env: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    interactive_mode: str = "IfAvailable"
    provide_cluster_info: bool = False
    install_hint: str = ""


@dataclass(frozen=True, slots=True)
class Access:
    """Everything needed to speak to one API server as one user."""

    server: str
    namespace: str = "default"
    ca_file: Path | None = None
    ca_data: bytes | None = None
    insecure: bool = False
    tls_server_name: str | None = None
    proxy_url: str | None = None
    client_cert_file: Path | None = None
    client_cert_data: bytes | None = None
    client_key_file: Path | None = None
    client_key_data: bytes | None = field(default=None, repr=False)
    token: str | None = field(default=None, repr=False)
    token_file: Path | None = None
    username: str | None = None
    password: str | None = field(default=None, repr=False)
    exec_plugin: ExecPlugin | None = None
    impersonation: Impersonation = field(default_factory=Impersonation)
    cluster_info: dict[str, Any] = field(default_factory=dict)
    """The cluster as credential plugins are told of it (`provideClusterInfo`)."""
