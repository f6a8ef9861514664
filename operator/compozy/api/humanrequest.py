"""HumanRequest: one question to people, frozen when it opens, answered once."""

from typing import Annotated, Any, Literal

from pydantic import Field

from compozy.api.base import ApiModel, Conditions, FreeForm, FreeFormObject, Timestamp
from compozy.api.limits import MAX_APPROVALS, MAX_NOTE

RequestKind = Literal["Ask", "Review"]
RequestState = Literal["Pending", "Answered", "Declined", "Expired", "Canceled"]
Decision = Literal["respond", "decline", "unavailable", "approve", "edit", "reject"]

Name = Annotated[str, Field(max_length=1024)]
"""A user or a group, as the API server names it."""
Responder = Annotated[str, Field(max_length=1024, min_length=1)]
Groups = Annotated[list[Name], Field(max_length=100)]
Note = Annotated[str, Field(max_length=MAX_NOTE)]
Uid = Annotated[str, Field(max_length=256)]


class Responders(ApiModel):
    """Who may answer, beyond what RBAC says."""

    agents: Literal["allow", "deny"] = "deny"
    """Whether agents (ServiceAccounts) may answer. Never a run that they or their parents started."""
    users: Annotated[list[Name], Field(max_length=100)] | None = None
    """User names that may answer. Without `users` and `groups`, whoever may update the request.
    On an empty list there is nobody."""
    groups: Groups | None = None
    """Groups whose members may answer."""
    initiator: Literal["allow", "deny"] = "allow"
    """Whether the person who started the run may answer."""
    approvals: Annotated[int, Field(ge=1, le=MAX_APPROVALS)] = 1
    """How many different people must approve. More than one only where the decisions are approve and reject.
    One of them who rejects decides at once."""


class HumanRequestSpec(ApiModel):
    """The question as it was when it opened. It never changes."""

    run: Annotated[str, Field(max_length=63)]
    """The PlanRun that asks."""
    generation: Annotated[int, Field(ge=1)]
    """The attempt of the run that asks."""
    node: Annotated[str, Field(max_length=1024)]
    """The step or node that asks, as a path."""
    item: Annotated[int, Field(ge=0)] | None = None
    """In a fan-out: the index of the source item."""
    path: Annotated[str, Field(max_length=2048)] | None = None
    """How the place is shown to people, where it is inside a plan that was called: `outer→inner→step`."""
    kind: RequestKind
    """Ask: for a value. Review: whether an action may run."""
    prompt: Annotated[str, Field(max_length=20000)]
    """The question, rendered and redacted."""
    context: FreeFormObject | None = None
    """What the author thought a person should know, rendered and redacted."""
    expect: FreeForm = None
    """JSON Schema of the answer's payload."""
    decisions: Annotated[list[Decision], Field(min_length=1, max_length=6)]
    """What a person may decide: `unavailable` says that nobody could be asked after all (end of input)."""
    edit_schema: FreeForm = None
    """Review: JSON Schema of the replacement parameters of an `edit`."""
    respond_schema: FreeForm = None
    """Review: JSON Schema of the value of a `respond`."""
    proposed_preview: FreeForm = None
    """Review: the action's parameters, redacted and bounded."""
    proposal_digest: Annotated[str, Field(max_length=128)] | None = None
    """Review: digest of the exact parameters that an approval admits."""
    responders: Responders = Field(default_factory=Responders, json_schema_extra={"default": {}})
    expires_at: Timestamp | None = None
    """When the question closes if nobody has answered."""
    revision: Annotated[str, Field(max_length=253)] | None = None
    """The frozen revision of the plan that asks."""


class Response(ApiModel):
    """The answer: written once, by one person. The API server refuses a second."""

    decision: Decision = "respond"
    """What the person decided: one of the decisions that the request lists."""
    payload: FreeForm = None
    """The answer itself: it must conform to `expect`."""
    note: Note | None = None
    """A remark for whoever reads this later."""
    responder: Responder
    """The authenticated user: the API server refuses any other name."""
    uid: Uid | None = None
    """The user's uid, where they have one and say it: the API server refuses any other."""
    groups: Groups | None = None
    """The user's groups that let them answer, where they say so: the API server refuses any others."""


class Approval(ApiModel):
    """An approval that does not decide yet, since more people must approve. It never changes."""

    responder: Responder
    """The authenticated user: the API server refuses any other name."""
    uid: Uid | None = None
    """As in `response`."""
    groups: Groups | None = None
    """As in `response`."""
    note: Note | None = None
    """A remark for whoever reads this later."""


Approvals = Annotated[
    list[Approval],
    Field(
        max_length=MAX_APPROVALS - 1,
        description="Who has approved so far, where `spec.responders.approvals` is more than 1. Each person adds"
        " one entry; the last one who is needed writes `response`.",
        json_schema_extra={
            "default": [],
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["responder"],
        },
    ),
]


class Rejection(ApiModel):
    """Why the last answer was handed back."""

    code: Annotated[str, Field(max_length=64)]
    """A stable code for what did not fit."""
    fields: Annotated[dict[str, Annotated[str, Field(max_length=4096)]], Field(max_length=100)] | None = None
    """What is wrong, by dotted path into the payload."""
    by: Annotated[str, Field(max_length=1024)]
    """Whose answer it was."""
    at: Timestamp
    """When it was handed back."""


class HumanRequestStatus(ApiModel):
    """What became of the question. Written by the operator alone."""

    conditions: Conditions | None = None
    observed_generation: int | None = None
    """The generation of the request that this status speaks of."""
    state: RequestState = "Pending"
    """A projection of the conditions, for selection and display. Every state but `Pending` is final."""
    resolved_at: Timestamp | None = None
    """When the state became final."""
    last_rejection: Rejection | None = None
    """The last answer that did not fit. The question stays open."""


class HumanRequest(ApiModel):
    """One question to people."""

    api_version: str
    kind: Literal["HumanRequest"]
    metadata: dict[str, Any]
    spec: HumanRequestSpec
    approvals: Approvals = Field(default_factory=list)
    response: Response | None = None
    status: HumanRequestStatus = Field(default_factory=HumanRequestStatus, json_schema_extra={"default": {}})
