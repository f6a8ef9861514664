"""What the nodes of a graph without blocks of their own render and test, wrapped."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from compozy.language.compiled import (
    ApprovalSpec,
    BranchSpec,
    JudgeSpec,
    NodeSpec,
    RouteSpec,
    RunAgentSpec,
    RunLoopSpec,
    TransformSpec,
    WaitSpec,
)
from compozy.plantest.exploring.fill import filled
from compozy.plantest.exploring.traced import Instead, itself
from compozy.plantest.exploring.usable import is_duration, is_moment, is_object
from compozy.plantest.exploring.wrapping import Parts

SOME_TIME = "1m"
SOME_MOMENT = "2026-01-02T00:00:00Z"


def wrapped_graph_spec(spec: NodeSpec, parts: Parts, produces: Mapping[str, Any] | None) -> NodeSpec:
    """The same node; what is none stays as it is. `produces` is what its output is held to."""
    match spec:
        case RouteSpec():
            routes = [(source, parts.condition(source, when), to) for source, when, to in spec.routes]
            return replace(spec, routes=routes)
        case BranchSpec():
            return replace(spec, condition=parts.condition("condition", spec.condition))
        case TransformSpec():
            return _transform(spec, parts, produces)
        case WaitSpec():
            return replace(
                spec,
                duration=parts.maybe_text("for", spec.duration, is_duration, lambda _: SOME_TIME),
                until=parts.maybe_text("until", spec.until, is_moment, lambda _: SOME_MOMENT),
            )
        case ApprovalSpec():
            return replace(spec, prompt=parts.text("prompt", spec.prompt))
        case JudgeSpec():
            return replace(
                spec, agent=parts.maybe_text("agent", spec.agent), rubric=parts.text("rubric", spec.rubric)
            )
        case RunLoopSpec():
            return replace(
                spec,
                loop=parts.text("loop", spec.loop),
                inputs=parts.maybe_value("inputs", spec.inputs, is_object),
            )
        case RunAgentSpec():
            return replace(spec, agent=parts.text("agent", spec.agent), prompt=parts.text("prompt", spec.prompt))
    return spec


def _transform(spec: TransformSpec, parts: Parts, produces: Mapping[str, Any] | None) -> TransformSpec:
    """Nothing can be said against what is unknown, so it conforms to what the output is held to."""
    declared = (produces or {}).get("properties") or {}
    values = {
        key: parts.value(key, value, instead=_conforming(declared.get(key))) for key, value in spec.values.items()
    }
    return replace(spec, values=values)


def _conforming(schema: Mapping[str, Any] | None) -> Instead:
    return itself if schema is None else lambda value: filled(schema, value)
