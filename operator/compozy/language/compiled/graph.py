"""What the nodes of the graph dialect compile to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from compozy.language.compiled.common import CallSpec
from compozy.language.compiled.protocols import Condition, Renderable, TextTemplate

if TYPE_CHECKING:
    from compozy.language.compiled.nodes import Block


@dataclass(frozen=True, slots=True)
class RouteSpec:
    """Choose one of several ways: the first whose condition holds."""

    kind: ClassVar[str] = "route"

    routes: Sequence[tuple[str, Condition, str]]
    """Source text of the condition, the condition, the destination; in order."""
    default: str


@dataclass(frozen=True, slots=True)
class BranchSpec:
    """Go on, or skip everything that depends on it."""

    kind: ClassVar[str] = "branch"

    source: str
    """Source text of the condition."""
    condition: Condition
    on_eval_error: Literal["fail", "exit"] = "fail"
    """What a condition that cannot be decided does: fail the node, or end the run successfully."""


@dataclass(frozen=True, slots=True)
class TransformSpec:
    """Make an object of values."""

    kind: ClassVar[str] = "transform"

    values: Mapping[str, Renderable]


@dataclass(frozen=True, slots=True)
class Strategy:
    """When a fan-out is decided, and what its lanes must come to."""

    kind: Literal["wait_all", "fail_fast", "race", "best_effort"] = "wait_all"
    percent: int | None = None
    """Of `best_effort`: the share of lanes that must succeed, 1 to 100."""
    count: int | None = None
    """Of `best_effort`: how many lanes must succeed. Without either, all of them."""


@dataclass(frozen=True, slots=True)
class FanOutSpec:
    """Do the same for every element of a collection, in lanes of their own."""

    kind: ClassVar[str] = "fan-out"

    collection: Renderable
    body: Block
    """The nodes between the fan-out and its collect. They come after nothing but each other here."""
    max_fan_out: int
    """More elements than this, after filtering, end the run as exhausted."""
    max_parallel: int
    """How many lanes are open at a time; a lane that waits for a person holds its slot."""
    filter: Condition | None = None
    filter_source: str = ""
    batch_size: int = 1
    strategy: Strategy = Strategy()
    bind_as: str | None = None
    """A further name of `item` in the lanes."""
    index_as: str | None = None
    """A further name of `index` in the lanes."""
    results: tuple[str, ...] = ()
    """Body nodes in order: the output of the first that succeeded is the lane's."""


@dataclass(frozen=True, slots=True)
class CollectSpec:
    """Join the lanes of a fan-out."""

    kind: ClassVar[str] = "collect"

    fan_out: str
    """The id of the fan-out, which stands in the same block."""


@dataclass(frozen=True, slots=True)
class Criterion:
    """One check of a gate."""

    id: str
    type: Literal["command", "agent-judge", "human", "extension"]
    spec: ApprovalSpec | CallSpec | JudgeSpec
    """What is done to find out."""
    expect: Literal["exit_zero", "exit_nonzero", "stdout_contains"] = "exit_zero"
    """Of a command: how it must end."""
    contains: str = ""
    """Of a command with `stdout_contains`: what it must print."""


@dataclass(frozen=True, slots=True)
class ApprovalSpec:
    """Let a person approve or reject."""

    kind: ClassVar[str] = "human"

    prompt: TextTemplate
    responders: Mapping[str, Any]
    expires_after: float | None = None


@dataclass(frozen=True, slots=True)
class JudgeSpec:
    """Let an agent judge by a rubric: the result is `{verdict: boolean, reason: text}`."""

    kind: ClassVar[str] = "agent-judge"

    agent: TextTemplate | None
    rubric: TextTemplate


@dataclass(frozen=True, slots=True)
class GateRoute:
    """What a gate does with one kind of verdict."""

    action: Literal["continue", "revise", "next_generation", "branch", "halt"]
    branch: str | None = None
    """Of `branch`: the dependent to go on with."""
    reason_code: str | None = None


@dataclass(frozen=True, slots=True)
class GateSpec:
    """Go on only where every criterion passes."""

    kind: ClassVar[str] = "gate"

    criteria: tuple[Criterion, ...]
    body: Block
    """The criteria as nodes, by id."""
    on_result: Mapping[str, GateRoute]
    """By `pass`, `fail` and `error`: what follows. All three are there."""
    max_revisions: int = 10


@dataclass(frozen=True, slots=True)
class WaitSpec:
    """Let time pass. Exactly one of the two is there."""

    kind: ClassVar[str] = "wait"

    duration: TextTemplate | None = None
    """A Go duration from the moment the node is ready."""
    until: TextTemplate | None = None
    """An RFC 3339 moment."""


@dataclass(frozen=True, slots=True)
class SubLoopSpec:
    """Run an inline graph, once or until a condition holds."""

    kind: ClassVar[str] = "sub-loop"

    body: Block
    stop_when: Condition | None = None
    stop_source: str = ""
    iteration_cap: int = 1
    """How often the body runs at most; without `stop_when` once."""


@dataclass(frozen=True, slots=True)
class InputSpec:
    """Expose a declared input as a node's output."""

    kind: ClassVar[str] = "input"

    name: str


@dataclass(frozen=True, slots=True)
class RunLoopSpec:
    """Run another plan as a run of its own."""

    kind: ClassVar[str] = "run-loop"

    loop: TextTemplate
    """The name of the plan."""
    inputs: Renderable | None = None
    mode: Literal["await", "detach"] = "await"
    on_parent_close: Literal["terminate", "abandon"] = "terminate"


@dataclass(frozen=True, slots=True)
class RunAgentSpec:
    """Let an agent work on a task."""

    kind: ClassVar[str] = "run-agent"

    agent: TextTemplate
    prompt: TextTemplate
    output_schema: Mapping[str, Any] | None = None
    allowed_tools: tuple[str, ...] | None = None
    max_turns: int | None = None
