"""Proof that watches still bring news: what we write must come back on the watch of its kind.

An open port says nothing about a watch that has gone silent. This costs no request, and it speaks of the very
watches that matter.
"""

import time
from collections.abc import Callable, Mapping
from typing import Any

STALE_SECONDS = 120.0
"""Longer than the silence after which kopf reconnects a watch."""


class Watchdog:
    """Knows, for each kind, the first of our writes that no watch has brought back yet."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._unseen: dict[str, tuple[int, float]] = {}

    def wrote(self, item: Mapping[str, Any]) -> None:
        """We have written an object."""
        self._unseen.setdefault(item["kind"], (_version(item), self._clock()))

    def seen(self, item: Mapping[str, Any]) -> None:
        """A watch has brought an object."""
        version, _ = self._unseen.get(item["kind"], (None, 0.0))
        if version is not None and _version(item) >= version:
            del self._unseen[item["kind"]]

    @property
    def is_alive(self) -> bool:
        """Whether everything written has come back, or was written only lately."""
        oldest = min((since for _, since in self._unseen.values()), default=None)
        return oldest is None or self._clock() - oldest < STALE_SECONDS


def _version(item: Mapping[str, Any]) -> int:
    version = item["metadata"].get("resourceVersion", "")
    return int(version) if version.isdecimal() else 0
