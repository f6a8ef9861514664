"""A compiled plan in which every template and condition tells what becomes of it.

The engine runs it like any other: only what it renders and tests is wrapped.
"""

from dataclasses import dataclass, replace
from typing import Any

from compozy.language.compiled import (
    SOLVER,
    AgentSpec,
    AskSpec,
    Block,
    CallSpec,
    CompiledPlan,
    Condition,
    DecideSpec,
    ExitSpec,
    FilterSpec,
    InferSpec,
    MapSpec,
    Node,
    NodeSpec,
    PlanCallSpec,
    ReduceSpec,
    Renderable,
    RouteSpec,
    SolverSpec,
    TextTemplate,
    TransformSpec,
)
from compozy.language.keys import type_name
from compozy.language.problems import InputsInvalid
from compozy.language.schema import field_errors
from compozy.plantest.exploring.fill import filled
from compozy.plantest.exploring.traced import (
    Instead,
    TracedCondition,
    TracedText,
    TracedValue,
    Usable,
    anything,
    itself,
)
from compozy.plantest.exploring.tracer import Place, Tracer
from compozy.plantest.exploring.unknown import Unknown

OUTPUT = "output"
"""Label of the plan's output."""
SOLVER_LABEL = "solver"

_STATUSES = ("success", "error")


def instrument(plan: CompiledPlan, tracer: Tracer, within: str = "") -> CompiledPlan:
    """The same plan, wrapped. Its places are registered; those of plans that it calls only in part.

    Args:
        plan: what to wrap.
        tracer: is told.
        within: the label of the call, for a plan that is called.
    """
    blocks = _Blocks(tracer, called=bool(within))
    block, output = blocks.block(plan.block, within), plan.output
    if output is not None:
        label = f"{within}/{OUTPUT}" if within else OUTPUT
        output = TracedValue(blocks.place(label, "", OUTPUT), "", tracer, output)
    return replace(plan, block=block, output=output)


@dataclass(frozen=True, slots=True)
class _Blocks:
    """The blocks of one plan."""

    tracer: Tracer
    called: bool

    def block(self, block: Block, prefix: str) -> Block:
        nodes = {node_id: self._node(node, prefix) for node_id, node in block.nodes.items()}
        return replace(block, nodes=nodes)

    def place(self, label: str, kind: str, path: str) -> Place:
        place = Place(label, kind, None if self.called else path)
        self.tracer.register(place)
        return place

    def _node(self, node: Node, prefix: str) -> Node:
        name = SOLVER_LABEL if node.id == SOLVER else node.id
        label = "/".join(part for part in (prefix, name) if part)
        place = self.place(label, node.spec.kind, node.path)
        return replace(node, spec=_Spec(self, place, self.tracer).wrapped(node.spec))


@dataclass(frozen=True, slots=True)
class _Spec:
    """One step or node."""

    blocks: _Blocks
    place: Place
    tracer: Tracer

    def wrapped(self, spec: NodeSpec) -> NodeSpec:
        match spec:
            case AskSpec():
                return replace(
                    spec,
                    prompt=self.text("prompt", spec.prompt, _not_blank),
                    context=self.maybe_value("context", spec.context),
                    default=self._default(spec),
                )
            case ExitSpec():
                return self._exit(spec)
            case RouteSpec():
                routes = [(source, self.condition(source, when), to) for source, when, to in spec.routes]
                return replace(spec, routes=routes)
            case TransformSpec():
                values = {key: self.value(key, value) for key, value in spec.values.items()}
                return replace(spec, values=values)
            case DecideSpec():
                return self._decide(spec)
            case FilterSpec() | MapSpec() | ReduceSpec():
                return self._iterating(spec)
            case _:
                return self._calling(spec)

    def _exit(self, spec: ExitSpec) -> ExitSpec:
        return replace(
            spec,
            when=None if spec.when is None else self.condition("when", spec.when),
            infer=None if spec.infer is None else self._infer(spec.infer),
            status=TracedText(self.place, "status", self.tracer, spec.status, _is_status, self._either_status),
            message=self.maybe_text("message", spec.message),
            output=self.maybe_value("output", spec.output),
        )

    def _decide(self, spec: DecideSpec) -> DecideSpec:
        label = self.place.label
        otherwise = None if spec.otherwise is None else self.blocks.block(spec.otherwise, f"{label}/else")
        gate = self._gate(spec.gate, "if")
        return replace(spec, gate=gate, then=self.blocks.block(spec.then, f"{label}/then"), otherwise=otherwise)

    def _iterating(self, spec: FilterSpec | MapSpec | ReduceSpec) -> NodeSpec:
        over = TracedValue(self.place, "over", self.tracer, spec.over, _is_list, self._few_items)
        if isinstance(spec, FilterSpec):
            return replace(spec, over=over, gate=self._gate(spec.gate, "where"))
        do = self.blocks.block(spec.do, f"{self.place.label}/do")
        if isinstance(spec, ReduceSpec):
            return replace(spec, over=over, do=do, initial=self.maybe_value("initial", spec.initial))
        return replace(spec, over=over, do=do)

    def _calling(self, spec: NodeSpec) -> NodeSpec:
        match spec:
            case CallSpec():
                return replace(spec, input=self.value("input", spec.input))
            case PlanCallSpec():
                return self._plan_call(spec)
            case AgentSpec():
                return replace(
                    spec,
                    prompt=self.text("prompt", spec.prompt),
                    model=self.maybe_text("model", spec.model),
                    system_prompt=self.maybe_text("system_prompt", spec.system_prompt),
                )
            case SolverSpec():
                return replace(
                    spec,
                    query_to_answer=self.text("query_to_answer", spec.query_to_answer),
                    data=self.maybe_value("data", spec.data),
                    system_prompt=self.maybe_text("system_prompt", spec.system_prompt),
                )
        return spec

    def _plan_call(self, spec: PlanCallSpec) -> PlanCallSpec:
        if spec.plan is None:
            return replace(spec, input=self.value("input", spec.input))
        plan = instrument(spec.plan, self.tracer, f"{self.place.label}/plan__{spec.name}")

        def fits(inputs: Any) -> tuple[str, str] | None:
            try:
                plan.resolve_inputs(inputs)
            except InputsInvalid as error:
                return "inputs_invalid", f"the inputs of plan `{spec.name}` do not fit: {error}"
            return None

        schema = plan.input_schema
        value = TracedValue(
            self.place, "input", self.tracer, spec.input, fits, lambda inputs: filled(schema, inputs)
        )
        return replace(spec, input=value, plan=plan)

    def _default(self, spec: AskSpec) -> Renderable | None:
        if spec.default is None:
            return None

        def fits(answer: Any) -> tuple[str, str] | None:
            faults = field_errors(spec.expect, answer)
            told = "; ".join(f"{path}: {message}" for path, message in faults.items())
            return ("default_invalid", f"the default does not conform: {told}") if faults else None

        return TracedValue(
            self.place, "default", self.tracer, spec.default, fits, lambda answer: filled(spec.expect, answer)
        )

    def _gate(self, gate: Condition | InferSpec, name: str) -> Condition | InferSpec:
        return self._infer(gate) if isinstance(gate, InferSpec) else self.condition(name, gate)

    def _infer(self, infer: InferSpec) -> InferSpec:
        return InferSpec(self.text("infer", infer.question), self.maybe_text("model", infer.model))

    def _few_items(self, value: Any) -> Any:
        """A list of unknown length is empty or has one element."""
        if isinstance(value, list):
            return value
        return [Unknown()] if self.tracer.choose(self.place, "over", ("one element", "no element")) == 0 else []

    def _either_status(self, _: Any) -> str:
        return _STATUSES[self.tracer.choose(self.place, "status", _STATUSES)]

    def condition(self, name: str, inner: Condition) -> TracedCondition:
        return TracedCondition(self.place, name, self.tracer, inner)

    def text(self, name: str, inner: TextTemplate, usable: Usable = anything) -> TracedText:
        return TracedText(self.place, name, self.tracer, inner, usable)

    def maybe_text(self, name: str, inner: TextTemplate | None) -> TracedText | None:
        return None if inner is None else self.text(name, inner)

    def value(self, name: str, inner: Renderable, instead: Instead = itself) -> TracedValue:
        return TracedValue(self.place, name, self.tracer, inner, anything, instead)

    def maybe_value(self, name: str, inner: Renderable | None) -> TracedValue | None:
        return None if inner is None else self.value(name, inner)


def _not_blank(text: Any) -> tuple[str, str] | None:
    return None if text.strip() else ("prompt_blank", "the prompt rendered to nothing; a question needs words")


def _is_list(value: Any) -> tuple[str, str] | None:
    if isinstance(value, list):
        return None
    return "over_not_a_list", f"`over` must render to a list, not {type_name(value)}"


def _is_status(text: Any) -> tuple[str, str] | None:
    if text in _STATUSES:
        return None
    return "exit_status_invalid", f"`status` must be `success` or `error`, not `{text[:40]}`"
