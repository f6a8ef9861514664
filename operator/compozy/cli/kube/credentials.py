"""What proves who we are: tokens, passwords and credential plugins, turned into request headers.

A credential plugin runs at most once per process and again when its credential has expired or was refused.
"""

import base64
import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Lock
from typing import Any
from urllib.parse import quote

from compozy.cli.kube.access import Access, ConfigError, ExecPlugin, Impersonation, check_header
from compozy.language.shapes.bounds import is_unicode

_EXEC_VERSIONS = ("client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1")
_EXPIRY_MARGIN = timedelta(seconds=10)


@dataclass(frozen=True, slots=True)
class ExecCredential:
    """What a credential plugin answered."""

    token: str | None
    client_cert: bytes | None
    client_key: bytes | None
    expires: datetime | None

    def expired(self, now: datetime) -> bool:
        """Whether the credential is, or is about to be, too old to use."""
        # Added, not subtracted: the year 1, Go's word for no time, has nothing before it.
        return self.expires is not None and now + _EXPIRY_MARGIN >= self.expires


class Credentials:
    """The headers of one user, kept fresh."""

    def __init__(self, access: Access, environ: Mapping[str, str]) -> None:
        self._access = access
        self._environ = environ
        self._exec: ExecCredential | None = None
        self._running = Lock()
        self.runs = 0
        """How often the credential plugin has run."""

    def headers(self) -> list[tuple[str, str]]:
        """Authentication and impersonation headers for the next request. Raises ConfigError."""
        access = self._access
        headers = impersonation_headers(access.impersonation)
        token = self._token()
        if token:
            headers.append(("Authorization", f"Bearer {token}"))
        elif access.username is not None:
            headers.append(("Authorization", basic(access.username, access.password)))
        return headers

    def client_certificate(self) -> tuple[bytes, bytes] | None:
        """The certificate and key that a credential plugin gave, if it gave any."""
        credential = self._exec_credential()
        if credential is None or credential.client_cert is None or credential.client_key is None:
            return None
        return credential.client_cert, credential.client_key

    def refused(self, run: int) -> bool:
        """Tells that the API server did not take a credential. True when asking again may help.

        `run` is what `runs` was: where the plugin has run since, its new credential is to be tried.
        """
        with self._running:
            if self.runs == run:
                self._exec = None
            return run > 0

    def _token(self) -> str | None:
        """A readable token file wins over a token, because files are what gets renewed."""
        access = self._access
        if access.token_file is not None:
            try:
                return _token_in(access.token_file)
            except ConfigError:
                if not access.token:
                    raise
        if access.token:
            return access.token
        credential = self._exec_credential()
        return credential.token if credential else None

    def _exec_credential(self) -> ExecCredential | None:
        access = self._access
        if access.exec_plugin is None:
            return None
        with self._running:
            if self._exec is None or self._exec.expired(datetime.now(UTC)):
                cluster = access.cluster_info if access.exec_plugin.provide_cluster_info else None
                self.runs += 1
                self._exec = run_exec_plugin(access.exec_plugin, cluster, self._environ)
            return self._exec


def _token_in(path: Path) -> str:
    """The token in a file. Raises ConfigError, never with what the file has in it, where it has none to use."""
    try:
        token = path.read_text("utf-8").strip()
    except OSError as error:
        raise ConfigError(f"cannot read the token file {path}: {error.strerror}") from error
    except UnicodeDecodeError:
        # Without its cause, which has the token in it.
        raise ConfigError(f"cannot read the token file {path}: it is not UTF-8 text") from None
    if not token:
        raise ConfigError(f"cannot read the token file {path}: it is empty")
    check_header(token, f"the token in the file {path}")
    return token


def basic(username: str, password: str | None) -> str:
    """A user and a password as a header tells them."""
    return "Basic " + base64.b64encode(f"{username}:{password or ''}".encode()).decode()


def impersonation_headers(acting: Impersonation) -> list[tuple[str, str]]:
    """The headers that ask the API server to treat us as somebody else: one pair for each group."""
    headers: list[tuple[str, str]] = []
    if acting.user:
        headers.append(("Impersonate-User", acting.user))
    if acting.uid:
        headers.append(("Impersonate-Uid", acting.uid))
    headers += [("Impersonate-Group", group) for group in acting.groups]
    for key, values in acting.extra.items():
        name = f"Impersonate-Extra-{quote(key.lower(), safe='')}"
        headers += [(name, value) for value in values]
    return headers


def run_exec_plugin(
    plugin: ExecPlugin, cluster: dict[str, Any] | None, environ: Mapping[str, str]
) -> ExecCredential:
    """Runs a credential plugin and reads its answer. Raises ConfigError with what went wrong."""
    if plugin.api_version not in _EXEC_VERSIONS:
        raise ConfigError(
            f"credential plugin {plugin.command!r}: apiVersion {plugin.api_version!r} is not supported, "
            f"only {' and '.join(_EXEC_VERSIONS)}"
        )
    # Only here: most kubeconfigs name no program.
    import subprocess

    interactive = _interactive(plugin)
    spec: dict[str, Any] = {"interactive": interactive}
    if cluster is not None:
        spec["cluster"] = cluster
    env = {**environ, **dict(plugin.env), "KUBERNETES_EXEC_INFO": _exec_info(plugin, spec)}
    try:
        done = subprocess.run(  # noqa: S603 - the kubeconfig names the program, as for kubectl
            [plugin.command, *plugin.args],
            env=env,
            stdin=None if interactive else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            check=True,
        )
    except FileNotFoundError as error:
        hint = f": {plugin.install_hint}" if plugin.install_hint else ""
        raise ConfigError(f"credential plugin {plugin.command!r} is not installed{hint}") from error
    except OSError as error:
        raise ConfigError(f"credential plugin {plugin.command!r} failed: {error.strerror}") from error
    except subprocess.CalledProcessError as error:
        # Not the error's own words: they have the arguments in them, and those may be secret.
        ended = f"signal {-error.returncode}" if error.returncode < 0 else f"exit status {error.returncode}"
        raise ConfigError(f"credential plugin {plugin.command!r} failed: {ended}") from None
    return _read_credential(plugin, done.stdout)


def _exec_info(plugin: ExecPlugin, spec: dict[str, Any]) -> str:
    """What the plugin is told. Raises ConfigError for an extension of the cluster that JSON has no words for."""
    try:
        return json.dumps({"kind": "ExecCredential", "apiVersion": plugin.api_version, "spec": spec})
    except (TypeError, ValueError, RecursionError):
        raise ConfigError(
            f"credential plugin {plugin.command!r} cannot be told of the cluster: "
            "an `extension` of it in the kubeconfig has a value that is no JSON"
        ) from None


def _interactive(plugin: ExecPlugin) -> bool:
    """Whether the plugin gets our terminal."""
    if plugin.interactive_mode == "Never":
        return False
    on_terminal = sys.stdin is not None and sys.stdin.isatty()
    if plugin.interactive_mode == "Always" and not on_terminal:
        raise ConfigError(f"credential plugin {plugin.command!r} needs a terminal (interactiveMode: Always)")
    return on_terminal


def _read_credential(plugin: ExecPlugin, output: bytes) -> ExecCredential:
    """What a plugin printed. Raises ConfigError, never with a value of it, where it cannot be used."""
    where = f"credential plugin {plugin.command!r}"
    status = _status(plugin, output, where)
    token, cert, key, expires = (
        _text(status, name, where)
        for name in ("token", "clientCertificateData", "clientKeyData", "expirationTimestamp")
    )
    if bool(cert) != bool(key):
        raise ConfigError(f"{where} gave half a client certificate: the certificate and its key go together")
    if not token and not cert:
        raise ConfigError(f"{where} gave neither a token nor a client certificate with its key")
    check_header(token, f"the token that {where} gave")
    return ExecCredential(
        token or None, cert.encode() or None, key.encode() or None, _time(expires, where) if expires else None
    )


def _status(plugin: ExecPlugin, output: bytes, where: str) -> dict[str, Any]:
    """The part of an answer that has the credential in it."""
    try:
        answer = json.loads(output)
    except (ValueError, RecursionError):
        # Without its cause, which has all that was printed in it.
        raise ConfigError(f"{where} did not print an ExecCredential") from None
    if not isinstance(answer, dict) or "apiVersion" not in answer:
        raise ConfigError(f"{where} did not print an ExecCredential")
    version, status = answer["apiVersion"], answer.get("status")
    if version != plugin.api_version:
        raise ConfigError(f"{where} answered with apiVersion {version!r}, not {plugin.api_version!r}")
    if answer.get("kind") != "ExecCredential":
        raise ConfigError(f"{where} did not print an ExecCredential: `kind` must be ExecCredential")
    if not isinstance(status, dict):
        raise ConfigError(f"{where} did not print an ExecCredential: `status` must be a mapping")
    return status


def _text(status: dict[str, Any], name: str, where: str) -> str:
    """A text in an answer; empty where it is left out."""
    value = status.get(name)
    if value is None:
        return ""
    if not isinstance(value, str) or not is_unicode(value):
        raise ConfigError(f"`status.{name}` that {where} gave must be text")
    return value


def _time(text: str, where: str) -> datetime:
    """When a credential expires."""
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        time = None
    if time is None or time.tzinfo is None:
        raise ConfigError(
            f"`status.expirationTimestamp` that {where} gave must be a time with a zone (2030-12-31T23:59:59Z)"
        )
    return time
