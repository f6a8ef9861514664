"""What can go wrong between us and the API server."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Cause:
    """One detail of a refusal: a field of the object and what is wrong with it."""

    reason: str
    message: str
    field: str


class ApiError(Exception):
    """The API server said no: what it said is in a `Status` object."""

    def __init__(self, status: int, reason: str, message: str, causes: tuple[Cause, ...] = ()) -> None:
        """`status` is the HTTP status code, `reason` the machine's word for it, such as `AlreadyExists`."""
        super().__init__(message)
        self.status = status
        self.reason = reason
        self.message = message
        self.causes = causes

    @classmethod
    def from_status(cls, http_status: int, body: Mapping[str, Any]) -> "ApiError":
        """Reads a `Status` object."""
        details = body.get("details")
        listed = details.get("causes") if isinstance(details, Mapping) else None
        causes = tuple(
            Cause(*(str(item.get(part) or "") for part in ("reason", "message", "field")))
            for item in (listed if isinstance(listed, list) else ())
            if isinstance(item, Mapping)
        )
        message = body.get("message") or f"the API server answered with status {http_status}"
        code = body.get("code")
        status = code if isinstance(code, int) and code else http_status
        return cls(status, str(body.get("reason") or ""), str(message), causes)

    @property
    def conflict(self) -> bool:
        """Whether somebody else wrote the object first. `AlreadyExists` has the same status code."""
        return self.status == 409 and self.reason != "AlreadyExists"

    @property
    def not_found(self) -> bool:
        """Whether there is no such object (or no such kind)."""
        return self.status == 404

    @property
    def gone(self) -> bool:
        """Whether a resourceVersion or a page token is too old: list again."""
        return self.status == 410


class UnreachableError(Exception):
    """There is no conversation with the API server at all. The message is one line."""
