"""Agent: a model, instructions, tools and the identity it acts as; an empty one is a name to refer to."""

from typing import Annotated, Any, Literal

from pydantic import Field

from compozy.api.base import ApiModel


class AgentSpec(ApiModel):
    """What the agent is. Every field is optional."""

    description: Annotated[str, Field(max_length=4096)] | None = None
    """What the agent is for, shown where an agent is chosen."""
    instructions: Annotated[str, Field(max_length=65536)] | None = None
    """What the agent is told before its task."""
    service_account_name: Annotated[str, Field(max_length=253)] | None = None
    """The ServiceAccount that the agent acts as."""


class Agent(ApiModel):
    """A named agent of the namespace."""

    api_version: str
    kind: Literal["Agent"]
    metadata: dict[str, Any]
    spec: AgentSpec = Field(default_factory=AgentSpec)
