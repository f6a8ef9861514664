"""Plan: a reviewed file that mixes actions with questions to people, under GitOps."""

from typing import Annotated, Any, Literal

from pydantic import Field

from compozy.api.base import NOT_OBSERVED, ApiModel, Conditions, Duration, FreeForm, FreeFormObject


class RequestDefaults(ApiModel):
    """What asks of this plan get where their author says nothing."""

    expire_after: Duration | None = None
    """How long a question stays open when the ask itself has no `expires`. An authored expiry always wins."""


class PlanSpec(ApiModel):
    """A plan in one of two dialects: exactly one of `steps` and `graph`."""

    description: Annotated[str, Field(max_length=4096)] | None = None
    """What the plan is for."""
    profile: Literal["delivery", "watch"] = "delivery"
    """Which of the operator's defaults apply."""
    input_schema: FreeFormObject | None = None
    """JSON Schema of the inputs. Without it a run may give any inputs."""
    inputs: FreeFormObject | None = None
    """Declared inputs of a graph plan, by name: `type`, `required`, `default`, `enum`, `description`."""
    steps: Annotated[list[FreeFormObject], Field(max_length=10000)] | None = None
    """The plan in the steps dialect: a list of steps that run in order."""
    graph: FreeFormObject | None = None
    """The plan in the graph dialect: `nodes` and `edges`."""
    solver: FreeFormObject | None = None
    """Lets a model write the run's answer: `query_to_answer`, `data`, `system_prompt`. Not beside `output`."""
    output: FreeForm = None
    """Template of the run's output."""
    requests: RequestDefaults | None = None
    """Defaults for the questions that this plan asks."""
    exemplars: Annotated[list[Annotated[str, Field(max_length=4096)]], Field(max_length=100)] | None = None
    """Requests that this plan is the right answer to, for whoever chooses among plans."""
    requires_servers: Annotated[list[Annotated[str, Field(max_length=253)]], Field(max_length=100)] | None = None
    """The tool servers that the plan needs."""


class PlanProblem(ApiModel):
    """One thing that is wrong with a plan."""

    path: Annotated[str, Field(max_length=1024)]
    """Where, as a path into the plan, such as `steps[1].input.when`."""
    code: Annotated[str, Field(max_length=64)]
    """A stable identifier of the kind of problem."""
    message: Annotated[str, Field(max_length=4096)]
    """What is wrong and what to write instead."""


class PlanStatus(ApiModel):
    """What the operator makes of the plan."""

    conditions: Conditions | None = None
    observed_generation: int | None = None
    """The generation of the spec that this status speaks of: -1 before the operator has seen the plan."""
    problems: Annotated[list[PlanProblem], Field(max_length=100)] | None = None
    """Everything that is wrong with the plan: the first hundred."""
    revision: Annotated[str, Field(max_length=253)] | None = None
    """The ControllerRevision with the frozen copy that new runs use."""


class Plan(ApiModel):
    """A reviewed file that mixes actions with questions to people."""

    api_version: str
    kind: Literal["Plan"]
    metadata: dict[str, Any]
    spec: PlanSpec
    status: PlanStatus | None = Field(default=None, json_schema_extra=NOT_OBSERVED)
