"""Settings of the operator, from its environment."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from compozy.language.durations import parse_duration

ATTENDANCE_VARIABLE = "COMPOZY_ATTENDANCE"
NAMESPACE_VARIABLE = "COMPOZY_NAMESPACE"
LISTEN_VARIABLE = "COMPOZY_LISTEN"
EXPIRE_VARIABLES = {
    "delivery": "COMPOZY_DELIVERY_REQUESTS_EXPIRE_AFTER",
    "watch": "COMPOZY_WATCH_REQUESTS_EXPIRE_AFTER",
}


class SettingsInvalid(ValueError):
    """The environment holds something that the operator cannot work with."""


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


def from_environment(environ: Mapping[str, str] = os.environ) -> Settings:
    """Read the settings. Raises SettingsInvalid, naming the variable and what it may hold."""
    attendance = environ.get(ATTENDANCE_VARIABLE, "Attended")
    if attendance not in ("Attended", "Unattended"):
        raise SettingsInvalid(f"{ATTENDANCE_VARIABLE} must be Attended or Unattended, not {attendance!r}")
    host, port = _address(environ.get(LISTEN_VARIABLE, "127.0.0.1:0"))
    return Settings(
        attendance="Unattended" if attendance == "Unattended" else "Attended",
        namespace=environ.get(NAMESPACE_VARIABLE, "compozy-system"),
        listen_host=host,
        listen_port=port,
        expire_after=_expire_after(environ),
    )


def _address(text: str) -> tuple[str, int]:
    host, _, port = text.rpartition(":")
    if not host or not port.isdecimal() or int(port) > 65535:
        raise SettingsInvalid(f"{LISTEN_VARIABLE} must be HOST:PORT, not {text!r}")
    return host, int(port)


def _expire_after(environ: Mapping[str, str]) -> dict[str, float]:
    found: dict[str, float] = {}
    for profile, variable in EXPIRE_VARIABLES.items():
        text = environ.get(variable, "")
        if not text:
            continue
        try:
            found[profile] = parse_duration(text)
        except ValueError as error:
            raise SettingsInvalid(f"{variable}: {error}") from None
    return found
