"""What asking a person comes to, whatever host asked: a terminal, an MCP client, the inbox."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Answered:
    """A person decided."""

    payload: Any
    """The answer, or the replacement parameters of an `edit`; None where the decision takes none."""
    decision: str = "respond"


@dataclass(frozen=True, slots=True)
class Declined:
    """A person saw the question and chose not to answer."""


@dataclass(frozen=True, slots=True)
class Unavailable:
    """Nobody could be asked at all."""


@dataclass(frozen=True, slots=True)
class Expired:
    """The question closed before anybody answered."""


Outcome = Answered | Declined | Unavailable | Expired
