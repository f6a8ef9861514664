"""A compiled plan in which every template and condition tells what becomes of it.

The engine runs it like any other: only what it renders and tests is wrapped.
"""

from dataclasses import dataclass, replace

from compozy.language.compiled import (
    SOLVER,
    AskSpec,
    Block,
    BranchSpec,
    CompiledPlan,
    DecideSpec,
    FanOutSpec,
    FilterSpec,
    GateSpec,
    MapSpec,
    Node,
    NodeSpec,
    PlanCallSpec,
    Policy,
    ReduceSpec,
    SubLoopSpec,
    TransformSpec,
)
from compozy.language.problems import InputsInvalid
from compozy.plantest.exploring.fill import filled
from compozy.plantest.exploring.graph_specs import wrapped_graph_spec
from compozy.plantest.exploring.labels import absorbs_failures
from compozy.plantest.exploring.step_specs import few_items, wrapped_gate, wrapped_spec
from compozy.plantest.exploring.traced import TracedValue
from compozy.plantest.exploring.tracer import Place, Tracer
from compozy.plantest.exploring.usable import conforms_to, is_collection, is_list, not_blank
from compozy.plantest.exploring.wrapping import Parts

OUTPUT = "output"
"""Label of the plan's output."""
SOLVER_LABEL = "solver"


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

    def place(self, label: str, kind: str, path: str, *, foreseen: bool = False) -> Place:
        place = Place(label, kind, None if self.called else path, foreseen)
        self.tracer.register(place)
        return place

    def _node(self, node: Node, prefix: str) -> Node:
        name = SOLVER_LABEL if node.id == SOLVER else node.id
        label = "/".join(part for part in (prefix, name) if part)
        exits = isinstance(node.spec, BranchSpec) and node.spec.on_eval_error == "exit"
        foreseen = exits or absorbs_failures(node)
        parts = Parts(self.place(label, node.spec.kind, node.path, foreseen=foreseen), self.tracer)
        if isinstance(node.spec, TransformSpec):
            self.tracer.computed.add(label)
        spec = self._spec(node, parts, prefix)
        return replace(node, spec=spec, policy=_policy(node.policy, parts))

    def _spec(self, node: Node, parts: Parts, prefix: str) -> NodeSpec:
        label = parts.place.label
        match node.spec:
            case AskSpec() as spec:
                return _ask(spec, parts)
            case DecideSpec() as spec:
                otherwise = None if spec.otherwise is None else self.block(spec.otherwise, f"{label}/else")
                then = self.block(spec.then, f"{label}/then")
                return replace(spec, gate=wrapped_gate(spec.gate, "if", parts), then=then, otherwise=otherwise)
            case FilterSpec() as spec:
                over = parts.value("over", spec.over, is_list, few_items(parts, "over", 1))
                return replace(spec, over=over, gate=wrapped_gate(spec.gate, "where", parts))
            case MapSpec() | ReduceSpec() as spec:
                return self._iterating(spec, parts)
            case PlanCallSpec() as spec:
                return self._plan_call(spec, parts)
            case FanOutSpec() as spec:
                return replace(
                    spec,
                    collection=parts.value(
                        "collection", spec.collection, is_collection, few_items(parts, "collection", 2)
                    ),
                    filter=parts.maybe_condition("filter", spec.filter),
                    body=self.block(spec.body, prefix),
                )
            case SubLoopSpec() as spec:
                stop_when = parts.maybe_condition("stop_when", spec.stop_when)
                return replace(spec, body=self.block(spec.body, label), stop_when=stop_when)
            case GateSpec() as spec:
                return replace(spec, body=self.block(spec.body, label))
        return wrapped_graph_spec(wrapped_spec(node.spec, parts), parts, node.policy.produces)

    def _iterating(self, spec: MapSpec | ReduceSpec, parts: Parts) -> NodeSpec:
        over = parts.value("over", spec.over, is_list, few_items(parts, "over", 1))
        do = self.block(spec.do, f"{parts.place.label}/do")
        if isinstance(spec, ReduceSpec):
            return replace(spec, over=over, do=do, initial=parts.maybe_value("initial", spec.initial))
        return replace(spec, over=over, do=do)

    def _plan_call(self, spec: PlanCallSpec, parts: Parts) -> PlanCallSpec:
        if spec.plan is None:
            return replace(spec, input=parts.value("input", spec.input))
        plan = instrument(spec.plan, self.tracer, f"{parts.place.label}/plan__{spec.name}")

        def fits(inputs: object) -> tuple[str, str] | None:
            try:
                plan.resolve_inputs(inputs)  # type: ignore[arg-type]
            except InputsInvalid as error:
                return "inputs_invalid", f"the inputs of plan `{spec.name}` do not fit: {error}"
            return None

        schema = plan.input_schema
        value = parts.value("input", spec.input, fits, lambda inputs: filled(schema, inputs))
        return replace(spec, input=value, plan=plan)


def _ask(spec: AskSpec, parts: Parts) -> AskSpec:
    return replace(
        spec,
        prompt=parts.text("prompt", spec.prompt, not_blank),
        context=parts.maybe_value("context", spec.context),
        default=parts.maybe_value(
            "default", spec.default, conforms_to(spec.expect), lambda answer: filled(spec.expect, answer)
        ),
    )


def _policy(policy: Policy, parts: Parts) -> Policy:
    review = policy.review
    if review is None:
        return policy
    when, prompt = (
        parts.maybe_condition("review.when", review.when),
        parts.maybe_text("review.prompt", review.prompt),
    )
    return replace(policy, review=replace(review, when=when, prompt=prompt))
