"""PlanRun: one run of a plan. `spec` says what to run, `status` where it stands."""

from typing import Annotated, Any, Literal

from pydantic import Field

from compozy.api.base import (
    NOT_OBSERVED,
    ApiModel,
    Attendance,
    Conditions,
    Duration,
    FreeForm,
    FreeFormObject,
    Timestamp,
)
from compozy.api.plan import PlanSpec

Phase = Literal["Pending", "Running", "Succeeded", "Failed", "Canceled"]
NodeState = Literal["Pending", "Ready", "Waiting", "Running", "Succeeded", "Failed", "Skipped", "Canceled"]


class PlanReference(ApiModel):
    """Names a Plan in the namespace of the run."""

    name: Annotated[str, Field(max_length=63, min_length=1)]
    """The name of the Plan."""


class PlanRunSpec(ApiModel):
    """What to run. Frozen but for `paused`, `canceled`, `canceledRequests`, `retries` and
    `ttlSecondsAfterFinished`."""

    plan_ref: PlanReference | None = None
    """The Plan to run; its revision is frozen when the run begins. Exactly one of `planRef` and `plan`."""
    plan: PlanSpec | None = None
    """The plan itself, for a run that needs no Plan object."""
    inputs: FreeFormObject | None = None
    """Values for the plan's inputs."""
    attendance: Attendance | None = None
    """`Unattended`: nobody can be asked, and every ask resolves at once as the plan declares."""
    request_expire_after: Duration | None = None
    """How long a question stays open when neither the ask nor the plan says so."""
    paused: bool | None = None
    """While true nothing new starts and no question expires; answers are kept."""
    canceled: bool | None = None
    """Set to true to cancel the run: its open questions are canceled. It cannot be taken back."""
    canceled_requests: (
        Annotated[
            list[Annotated[str, Field(max_length=253)]],
            Field(max_length=100, json_schema_extra={"x-kubernetes-list-type": "set"}),
        ]
        | None
    ) = None
    """Names of questions of this run to cancel alone. What is in the list stays there."""
    retries: Annotated[int, Field(ge=0)] | None = None
    """How often the run is to be tried again: `retry` sets it to the attempt that has failed. It only grows."""
    started_by: Annotated[str, Field(max_length=1024)] | None = None
    """Who starts the run: the API server refuses any name but that of the authenticated user."""
    ttl_seconds_after_finished: Annotated[int, Field(ge=0)] | None = None
    """Seconds after its end when the run is deleted. Without it the run is kept."""


class RunExit(ApiModel):
    """How a fired exit gate ended the run."""

    status: Literal["success", "error"]
    """Whether the plan calls this end a success."""
    message: Annotated[str, Field(max_length=32768)]
    """What the plan says about it."""
    reason: Annotated[str, Field(max_length=32768)] | None = None
    """Why a judge let the gate fire."""
    output: FreeForm = None
    """What the plan hands out at this end."""
    step: Annotated[str, Field(max_length=1024)]
    """The path of the exit step."""


class StoredOutput(ApiModel):
    """Where an output over 16 KiB is kept: a ControllerRevision of the namespace, in its `data.output`."""

    name: Annotated[str, Field(max_length=253, min_length=1)]
    """The name of the ControllerRevision."""
    bytes: Annotated[int, Field(ge=0)]
    """The size of the output as JSON."""


class StoredPage(ApiModel):
    """A ControllerRevision of the namespace that holds a part of `status.nodes`, in its `data.nodes`."""

    name: Annotated[str, Field(max_length=253, min_length=1)]
    """The name of the ControllerRevision."""
    cells: Annotated[int, Field(ge=0)]
    """How many nodes and items the page tells of."""


class LaneCounts(ApiModel):
    """How the lanes of a fan-out stand. What is in none of the three has not ended."""

    total: Annotated[int, Field(ge=0)]
    """How many lanes there are."""
    succeeded: Annotated[int, Field(ge=0)]
    """How many have come to their end."""
    failed: Annotated[int, Field(ge=0)]
    """How many have failed."""
    canceled: Annotated[int, Field(ge=0)]
    """How many were given up, or never begun, because the others decided."""


class CellFacts(ApiModel):
    """What is told of a node, or of it in one lane, beside its state."""

    output: FreeForm = None
    """What the node produced. Null for a path that was not taken."""
    output_ref: StoredOutput | None = None
    """Where the output is kept, when it is too long to stand here."""
    reason: Annotated[str, Field(max_length=1024)] | None = None
    """A stable code for why the node stands where it does."""
    message: Annotated[str, Field(max_length=32768)] | None = None
    """The same for people."""
    route: Annotated[str, Field(max_length=253)] | None = None
    """The one way that the node leads to, where it chose one."""
    started_at: Timestamp | None = None
    """When its first attempt began, for what takes a while."""
    attempt: Annotated[int, Field(ge=1)] | None = None
    """Which attempt of the node this is: 1 for the first."""
    until: Timestamp | None = None
    """When the node goes on by itself: a wait is over, an attempt begins, or an attempt runs out of time."""
    remaining_seconds: Annotated[float, Field(ge=0)] | None = None
    """Of a node that holds others, while people are waited for in it: what is left of its time."""
    completed_at: Timestamp | None = None
    """When the node came to its end."""
    request: Annotated[str, Field(max_length=253)] | None = None
    """The HumanRequest that the node opened."""
    run: Annotated[str, Field(max_length=63)] | None = None
    """The PlanRun that the node started."""
    lanes: LaneCounts | None = None
    """Of a fan-out: how its lanes stand."""


class ItemStatus(CellFacts):
    """Where a node stands in one lane of a fan-out."""

    status: NodeState
    """Every state from `Succeeded` on is final within its generation."""


class NodeStatus(CellFacts):
    """Where one step or node stands."""

    status: NodeState | None = None
    """Every state from `Succeeded` on is final within its generation. Absent in a fan-out: there `items` tell."""
    items: Annotated[dict[str, ItemStatus], Field(max_length=10000)] | None = None
    """In a fan-out: where the node stands in each lane, by the index of the lane's source element."""


class PlanRunStatus(ApiModel):
    """Where the run stands. Written by the operator alone."""

    conditions: Conditions | None = None
    observed_generation: int | None = None
    """The generation of the spec that this status speaks of: -1 before the operator has seen the run."""
    phase: Phase | None = None
    """A projection of the conditions, for selection and display. `Running` while it waits for people."""
    generation: Annotated[int, Field(ge=1)] | None = None
    """Which attempt this is: 1 for the first, one more with each retry."""
    revisions: Annotated[int, Field(ge=0)] | None = None
    """How many times gates have had everything done again, since the run began or was retried."""
    revision: Annotated[str, Field(max_length=253)] | None = None
    """The ControllerRevision that the run uses from its beginning to its end."""
    attended: bool | None = None
    """Whether people can be asked, as decided when the run began."""
    started_at: Timestamp | None = None
    """When this attempt began."""
    completed_at: Timestamp | None = None
    """When this attempt came to its end."""
    nodes: Annotated[dict[str, NodeStatus], Field(max_length=20000)] | None = None
    """Every step or node that has left `Pending`, by id; what does not fit here is in `pages`."""
    pages: (
        Annotated[
            list[StoredPage],
            Field(
                max_length=2000,
                json_schema_extra={"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"]},
            ),
        ]
        | None
    ) = None
    """Where the rest of `nodes` is kept, in the order in which it was written: later pages win, and `nodes` over
    all of them."""
    deadline: Timestamp | None = None
    """The next moment at which the run goes on by itself."""
    pending_requests: Annotated[int, Field(ge=0)] | None = None
    """How many questions wait for people. It may lag a moment behind the HumanRequests themselves."""
    steps_executed: Annotated[int, Field(ge=0)] | None = None
    """How many results the run has stored."""
    answer: FreeForm = None
    """What the plan's solver wrote."""
    exit: RunExit | None = None
    """Set when an exit gate fired."""
    output: FreeForm = None
    """The rendered `output` of the plan."""
    output_ref: StoredOutput | None = None
    """Where the output is kept, when it is too long to stand here."""


class PlanRun(ApiModel):
    """One run of a plan."""

    api_version: str
    kind: Literal["PlanRun"]
    metadata: dict[str, Any]
    spec: PlanRunSpec
    status: PlanRunStatus | None = Field(default=None, json_schema_extra=NOT_OBSERVED)
