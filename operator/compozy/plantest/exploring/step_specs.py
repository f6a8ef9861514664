"""What the steps without blocks of their own render and test, wrapped."""

from dataclasses import replace
from typing import Any

from compozy.language.compiled import (
    AgentSpec,
    CallSpec,
    Condition,
    ExitSpec,
    InferSpec,
    NodeSpec,
    SolverSpec,
)
from compozy.plantest.exploring.traced import Instead
from compozy.plantest.exploring.unknown import Unknown
from compozy.plantest.exploring.usable import STATUSES, is_status
from compozy.plantest.exploring.wrapping import Parts

_COUNTS = ("one element", "no element", "two elements")


def wrapped_spec(spec: NodeSpec, parts: Parts) -> NodeSpec:
    """The same step; what is none stays as it is."""
    match spec:
        case ExitSpec():
            return _exit(spec, parts)
        case CallSpec():
            return replace(spec, input=parts.value("input", spec.input))
        case AgentSpec():
            return replace(
                spec,
                prompt=parts.text("prompt", spec.prompt),
                model=parts.maybe_text("model", spec.model),
                system_prompt=parts.maybe_text("system_prompt", spec.system_prompt),
            )
        case SolverSpec():
            return replace(
                spec,
                query_to_answer=parts.text("query_to_answer", spec.query_to_answer),
                data=parts.maybe_value("data", spec.data),
                system_prompt=parts.maybe_text("system_prompt", spec.system_prompt),
            )
    return spec


def _exit(spec: ExitSpec, parts: Parts) -> ExitSpec:
    def either_status(_: Any) -> str:
        return STATUSES[parts.tracer.choose(parts.place, "status", STATUSES)]

    return replace(
        spec,
        when=parts.maybe_condition("when", spec.when),
        infer=None if spec.infer is None else _infer(spec.infer, parts),
        status=parts.text("status", spec.status, is_status, either_status),
        message=parts.maybe_text("message", spec.message),
        output=parts.maybe_value("output", spec.output),
    )


def wrapped_gate(gate: Condition | InferSpec, name: str, parts: Parts) -> Condition | InferSpec:
    """A condition, or a question to a model."""
    return _infer(gate, parts) if isinstance(gate, InferSpec) else parts.condition(name, gate)


def _infer(infer: InferSpec, parts: Parts) -> InferSpec:
    return InferSpec(parts.text("infer", infer.question), parts.maybe_text("model", infer.model))


def few_items(parts: Parts, name: str, most: int) -> Instead:
    """A list of unknown length has one element, none, or as many as `most`: 1 or 2."""

    def items(value: Any) -> Any:
        if isinstance(value, list):
            return value
        count = (1, 0, 2)[parts.tracer.choose(parts.place, name, _COUNTS[: most + 1])]
        return [Unknown() for _ in range(count)]

    return items
