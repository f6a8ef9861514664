"""What kopf keeps of objects for change handlers, of which we have none: nothing.

By default it copies every object on every event to compare it with the copy in an annotation. That costs more
than all of our own work, and an object that nests deep enough would end in a RecursionError before any handler
has seen it.
"""

from collections.abc import Iterable
from typing import Any

import kopf


class NoDiffBase(kopf.DiffBaseStorage):
    """Remembers nothing and compares nothing."""

    def build(self, *, body: kopf.Body, extra_fields: Iterable[Any] | None = None) -> kopf.BodyEssence:  # noqa: ARG002
        """Nothing of an object matters to kopf itself."""
        return kopf.BodyEssence()

    def fetch(self, *, body: kopf.Body) -> kopf.BodyEssence | None:  # noqa: ARG002
        """Nothing was stored."""
        return None

    def store(self, *, body: kopf.Body, patch: kopf.Patch, essence: kopf.BodyEssence) -> None:
        """Nothing is stored."""
