"""What every kind shares: the group, the model settings, free-form fields and conditions."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue, WithJsonSchema
from pydantic.alias_generators import to_camel

GROUP = "compozy.dev"
VERSION = "v1alpha1"
API_VERSION = f"{GROUP}/{VERSION}"
CATEGORY = "compozy"

ATTENDANCE_ANNOTATION = f"{GROUP}/attendance"
"""On a Namespace: `Unattended` means that nobody can be asked there. It can only take attendance away."""

ENDS_WITH_PARENT_ANNOTATION = f"{GROUP}/ends-with-parent"
"""On a PlanRun that another one has started: `true` where it ends when that one does."""

MAX_NAME = 63
"""Longest name of a PlanRun or a Plan: it becomes part of the names of what they make."""

_PRESERVE = {"x-kubernetes-preserve-unknown-fields": True}

FreeForm = Annotated[Any, WithJsonSchema({"nullable": True, **_PRESERVE})]
"""Any JSON value, null included: the API server keeps it as it is and looks at nothing inside."""

FreeFormObject = Annotated[dict[str, Any], WithJsonSchema({"type": "object", **_PRESERVE})]
"""Any JSON object: the API server keeps it as it is and looks at nothing inside."""

Timestamp = Annotated[
    str,
    Field(
        pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,6})?Z$",
        json_schema_extra={"format": "date-time"},
    ),
]
"""RFC 3339 time in UTC, written with `Z` and up to six fractional digits."""

Duration = Annotated[
    str,
    Field(
        max_length=32,
        pattern=r"^([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h))+$",
        examples=["72h", "1h30m"],
        json_schema_extra={
            "x-kubernetes-validations": [
                {
                    "rule": "duration(self) > duration('0s')",
                    "message": "a duration must be longer than zero, such as '72h'",
                }
            ]
        },
    ),
]
"""A positive Go duration, such as `72h` or `1h30m`."""

Attendance = Literal["Attended", "Unattended"]

NOT_OBSERVED: dict[str, JsonValue] = {"default": {"observedGeneration": -1}}
"""Default of a status before the operator has seen the object: kstatus then reads it as in progress."""


class ApiModel(BaseModel):
    """A part of a resource: camelCase on the wire, unknown fields refused."""

    model_config = ConfigDict(
        alias_generator=to_camel, populate_by_name=True, extra="forbid", use_attribute_docstrings=True
    )


class Condition(ApiModel):
    """A standard Kubernetes condition."""

    type: Annotated[str, Field(max_length=316)]
    """What is said of the object, such as `Ready`."""
    status: Literal["True", "False", "Unknown"]
    """Whether it holds."""
    observed_generation: int | None = None
    """The generation of the spec for which it was decided."""
    last_transition_time: Timestamp
    """When `status` last changed."""
    reason: Annotated[str, Field(max_length=1024, min_length=1)]
    """A stable code for why, in CamelCase."""
    message: Annotated[str, Field(max_length=32768)]
    """The same for people."""


Conditions = Annotated[
    list[Condition],
    Field(
        max_length=16,
        description="What holds of the object now, by type.",
        json_schema_extra={"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["type"]},
    ),
]
