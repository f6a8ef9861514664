"""The state of a run: cells, one for each step or node that has been entered.

Every map in it is persistent: a turn that touches three cells of ten thousand shares all the others.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from rpds import HashTrieMap

from compozy.engine.effects import Call, OpenRequest
from compozy.engine.frames import AnyContainer, Frame
from compozy.engine.strategies import Count

CellStatus = Literal["Ready", "Waiting", "Running", "Succeeded", "Failed", "Skipped", "Canceled"]
Phase = Literal["Pending", "Running", "Succeeded", "Failed", "Canceled"]

FINAL_STATUSES = frozenset({"Succeeded", "Failed", "Skipped", "Canceled"})
EXIT_FIRED = "exit_fired"
"""Reason of the gate that ended its run: it leaves no result."""

FINAL_PHASES = frozenset({"Succeeded", "Failed", "Canceled"})


@dataclass(frozen=True, slots=True)
class Cell:
    """Where one step or node stands. A node without a cell has not been entered."""

    status: CellStatus
    output: Any = None
    reason: str | None = None
    """A stable code for why it stands where it does."""
    message: str | None = None
    route: str | None = None
    """The one dependent that it leads to; None where it leads to all."""
    completed_at: str | None = None
    started_at: str | None = None
    """When its first attempt began, for what takes a while."""
    attempt: int = 1
    until: str | None = None
    """When it goes on by itself: the end of a wait, of a pause before an attempt, or of an attempt's time."""
    left: float | None = None
    """Of a node that holds others, while people are waited for in it: the seconds that are left of its time."""
    lanes: Count | None = None
    """Of a fan-out: how its lanes stand."""

    @property
    def is_final(self) -> bool:
        """Whether it can never change again."""
        return self.status in FINAL_STATUSES


@dataclass(frozen=True, slots=True)
class Exit:
    """How a fired exit gate ended the run."""

    status: Literal["success", "error"]
    message: str
    output: Any
    step: str
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class RunState:
    """Everything that decides how a run goes on."""

    inputs: Mapping[str, Any]
    attended: bool
    """Whether people can be asked."""
    starters: tuple[str | None, ...] = ()
    """Who has started the run, its parent and so on, as far as is known; None where a run does not record it."""
    generation: int = 1
    revisions: int = 0
    """How many times gates have had everything done again, in this attempt of the run."""
    phase: Phase = "Pending"
    cells: HashTrieMap[str, Cell] = field(default_factory=HashTrieMap)
    """By path."""
    settled: bool = False
    """False where the nodes that are ready have yet to be looked for: at the start and after a load."""
    frames: HashTrieMap[str, Frame] = field(default_factory=HashTrieMap)
    """Blocks under way, by path. In memory only: a load derives them again."""
    containers: HashTrieMap[str, AnyContainer] = field(default_factory=HashTrieMap)
    """Nodes that wait for their blocks, by path. In memory only."""
    questions: HashTrieMap[str, OpenRequest] = field(default_factory=HashTrieMap)
    """Questions that are ready but not their turn yet, by path. In memory only."""
    requests: HashTrieMap[str, bool] = field(default_factory=HashTrieMap)
    """The paths that wait for people. In memory only."""
    calls: HashTrieMap[str, Call] = field(default_factory=HashTrieMap)
    """The paths that wait for what they have called. In memory only."""
    parked: HashTrieMap[str, bool] = field(default_factory=HashTrieMap)
    """Of these, the paths of runs that wait for people themselves. In memory only."""
    paused: HashTrieMap[str, Call] = field(default_factory=HashTrieMap)
    """The calls that are to be made again after a pause, by path. In memory only."""
    timers: HashTrieMap[str, str] = field(default_factory=HashTrieMap)
    """The paths that go on by themselves, and when. In memory only."""
    marks: HashTrieMap[str, Cell] = field(default_factory=HashTrieMap)
    """What a load knows of cells that had not ended: attempts and times. In memory only."""
    asking: str | None = None
    """The question that was put last, where questions are put one at a time."""
    steps_executed: int = 0
    """How many results steps have given: at the top level, and in bodies of this plan."""
    exit: Exit | None = None
    output: Any = None
    answer: Any = None
    """What the plan's solver wrote."""
    reason: str | None = None
    """A stable code for how the run ended."""
    message: str | None = None
    started_at: str | None = None
    completed_at: str | None = None

    @property
    def is_final(self) -> bool:
        """Whether the run has ended."""
        return self.phase in FINAL_PHASES
