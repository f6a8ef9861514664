"""Settings of the operator, from its environment."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Literal

from compozy.language.durations import parse_duration

ATTENDANCE_VARIABLE = "COMPOZY_ATTENDANCE"
NAMESPACE_VARIABLE = "COMPOZY_NAMESPACE"
LISTEN_VARIABLE = "COMPOZY_LISTEN"
WEBHOOK_LISTEN_VARIABLE = "COMPOZY_WEBHOOK_LISTEN"
WEBHOOK_CERTIFICATES_VARIABLE = "COMPOZY_WEBHOOK_CERTIFICATES"
WEBHOOK_LIFETIME_VARIABLE = "COMPOZY_WEBHOOK_CERTIFICATE_LIFETIME"
EXPIRE_VARIABLES = {
    "delivery": "COMPOZY_DELIVERY_REQUESTS_EXPIRE_AFTER",
    "watch": "COMPOZY_WATCH_REQUESTS_EXPIRE_AFTER",
}

SHORTEST_LIFETIME, LONGEST_LIFETIME = timedelta(seconds=12), timedelta(days=3650)
"""Of a certificate. Its dates count whole seconds, and a twelfth of its life goes by before it is served."""


class SettingsInvalid(ValueError):
    """The environment holds something that the operator cannot work with."""


@dataclass(frozen=True, slots=True)
class WebhookSettings:
    """Where the webhook for answers is served, and with which certificates."""

    host: str
    port: int
    certificates: Path | None = None
    """A directory with `tls.crt` and `tls.key` that others keep; None: the operator makes its own."""
    lifetime: timedelta = timedelta(days=90)
    """How long a certificate of our own is good; the next one is made when two thirds of it are over."""


@dataclass(frozen=True, slots=True)
class Settings:
    """How this operator works."""

    attendance: Literal["Attended", "Unattended"] = "Attended"
    """`Unattended` for CI clusters: nobody can be asked, whatever a run says."""
    namespace: str = "compozy-system"
    """Where the operator itself lives."""
    listen_host: str = "127.0.0.1"
    listen_port: int = 0
    """Port of `/healthz` and `/metrics`; 0 takes any free one."""
    expire_after: Mapping[str, float] = field(default_factory=dict)
    """By profile: seconds that a question stays open where nobody says otherwise."""
    display_delay: float = 1.0
    """Seconds after which a run shows that it waits."""
    concurrency: int = 24
    """How many runs are worked on at once."""
    webhook: WebhookSettings | None = None
    """None: answers are judged once they are stored, and not before."""


def from_environment(environ: Mapping[str, str] = os.environ) -> Settings:
    """Read the settings. Raises SettingsInvalid, naming the variable and what it may hold."""
    attendance = environ.get(ATTENDANCE_VARIABLE, "Attended")
    if attendance not in ("Attended", "Unattended"):
        raise SettingsInvalid(f"{ATTENDANCE_VARIABLE} must be Attended or Unattended, not {attendance!r}")
    host, port = _address(LISTEN_VARIABLE, environ.get(LISTEN_VARIABLE, "127.0.0.1:0"))
    return Settings(
        attendance="Unattended" if attendance == "Unattended" else "Attended",
        namespace=environ.get(NAMESPACE_VARIABLE, "compozy-system"),
        listen_host=host,
        listen_port=port,
        expire_after=_expire_after(environ),
        webhook=_webhook(environ),
    )


def _address(variable: str, text: str) -> tuple[str, int]:
    host, _, port = text.rpartition(":")
    if not host or not port.isdecimal() or int(port) > 65535:
        raise SettingsInvalid(f"{variable} must be HOST:PORT, not {text!r}")
    return host, int(port)


def _webhook(environ: Mapping[str, str]) -> WebhookSettings | None:
    listen = environ.get(WEBHOOK_LISTEN_VARIABLE, "")
    if not listen:
        return None
    host, port = _address(WEBHOOK_LISTEN_VARIABLE, listen)
    directory = environ.get(WEBHOOK_CERTIFICATES_VARIABLE, "")
    seconds = _duration(WEBHOOK_LIFETIME_VARIABLE, environ.get(WEBHOOK_LIFETIME_VARIABLE) or "2160h")
    lifetime = timedelta(seconds=seconds)
    if not SHORTEST_LIFETIME <= lifetime <= LONGEST_LIFETIME:
        raise SettingsInvalid(f"{WEBHOOK_LIFETIME_VARIABLE} must be between 12s and 87600h, which is ten years")
    return WebhookSettings(host, port, Path(directory) if directory else None, lifetime)


def _expire_after(environ: Mapping[str, str]) -> dict[str, float]:
    found: dict[str, float] = {}
    for profile, variable in EXPIRE_VARIABLES.items():
        text = environ.get(variable, "")
        if text:
            found[profile] = _duration(variable, text)
    return found


def _duration(variable: str, text: str) -> float:
    try:
        return parse_duration(text)
    except ValueError as error:
        raise SettingsInvalid(f"{variable}: {error}") from None
