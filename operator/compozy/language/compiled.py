"""The one form that both dialects compile to: nodes, what they come after, and what each does.

The engine knows only this. What differs between the dialects, their templates and conditions, is behind
`Renderable` and `Condition`; how results are named in a scope is behind `Dialect`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, Protocol

from compozy.language.problems import InputsInvalid
from compozy.language.schema import field_errors, with_defaults

Scope = Mapping[str, Any]


class Renderable(Protocol):
    """A value with templates in it."""

    def render(self, scope: Scope, /) -> Any:
        """The value in a scope. Raises RenderError."""


class TextTemplate(Protocol):
    """A template whose result is text whatever it holds."""

    def render_text(self, scope: Scope, /) -> str:
        """The text in a scope. Raises RenderError."""


class Condition(Protocol):
    """Something that is true or false in a scope."""

    def test(self, scope: Scope, /) -> bool:
        """Whether it holds. Raises LanguageError where it cannot be decided."""


class Dialect(Protocol):
    """How a dialect names inputs and results."""

    @property
    def name(self) -> Literal["steps", "graph"]:
        """Which dialect it is."""

    @property
    def asks_in_turn(self) -> bool:
        """Whether questions are put one at a time, in item order."""

    def scope(self, inputs: Mapping[str, Any], generation: int) -> dict[str, Any]:
        """What templates and conditions see before anything has run."""

    def record(self, scope: dict[str, Any], node: str, status: str, output: Any) -> None:
        """Let a scope know of a node that has ended."""

    def copied(self, scope: dict[str, Any]) -> dict[str, Any]:
        """A scope that can be added to without changing the given one."""


@dataclass(frozen=True, slots=True)
class AskSpec:
    """Put a question to people."""

    kind: ClassVar[str] = "ask"
    prompt: TextTemplate
    expect: Mapping[str, Any]
    """JSON Schema of the answer."""
    context: Renderable | None = None
    decisions: Sequence[str] = ("respond", "decline", "unavailable")
    responders: Mapping[str, Any] = field(default_factory=dict)
    expires_after: float | None = None
    """Seconds from opening to expiry; None where the author says nothing."""
    expires_route: str | None = None
    """The node that an unanswered question leads to."""
    when_unanswered: Literal["fail", "default"] = "fail"
    default: Renderable | None = None
    wraps: bool = True
    """Whether the result is `{answer, answered, reason}` (steps) or the payload itself (graph)."""


@dataclass(frozen=True, slots=True)
class ExitSpec:
    """End the run when a gate holds."""

    kind: ClassVar[str] = "exit"

    when: Condition | None
    status: TextTemplate
    message: TextTemplate | None
    output: Renderable | None
    infer: "InferSpec | None" = None


@dataclass(frozen=True, slots=True)
class RouteSpec:
    """Choose one of several ways: the first whose condition holds."""

    kind: ClassVar[str] = "route"

    routes: Sequence[tuple[str, Condition, str]]
    """Source text of the condition, the condition, the destination; in order."""
    default: str


@dataclass(frozen=True, slots=True)
class TransformSpec:
    """Make an object of values."""

    kind: ClassVar[str] = "transform"

    values: Mapping[str, Renderable]


@dataclass(frozen=True, slots=True)
class InferSpec:
    """A gate that a model judges."""

    question: TextTemplate
    model: TextTemplate | None = None


@dataclass(frozen=True, slots=True)
class DecideSpec:
    """Take one of two branches."""

    kind: ClassVar[str] = "decide"

    gate: "Condition | InferSpec"
    then: "Block"
    otherwise: "Block | None"


@dataclass(frozen=True, slots=True)
class FilterSpec:
    """Keep the elements for which a gate holds."""

    kind: ClassVar[str] = "filter"

    over: Renderable
    gate: "Condition | InferSpec"
    concurrency: int = 1


@dataclass(frozen=True, slots=True)
class MapSpec:
    """Do the same for every element."""

    kind: ClassVar[str] = "map"

    over: Renderable
    do: "Block"
    concurrency: int = 1


@dataclass(frozen=True, slots=True)
class ReduceSpec:
    """Carry one value through every element, strictly one after the other."""

    kind: ClassVar[str] = "reduce"

    over: Renderable
    do: "Block"
    initial: Renderable | None = None


@dataclass(frozen=True, slots=True)
class CallSpec:
    """Call a tool by name."""

    tool: str
    input: Renderable

    @property
    def kind(self) -> str:
        """The name of the tool, for messages."""
        return self.tool


@dataclass(frozen=True, slots=True)
class AgentSpec:
    """Let a model work on a task with tools."""

    kind: ClassVar[str] = "agent"

    prompt: TextTemplate
    output_schema: Mapping[str, Any]
    tools: tuple[str, ...] | None = None
    max_iterations: int = 8
    model: TextTemplate | None = None
    system_prompt: TextTemplate | None = None


@dataclass(frozen=True, slots=True)
class PlanCallSpec:
    """Run another plan as a step of this one."""

    name: str
    input: Renderable
    plan: "CompiledPlan | None"
    """None where the plan was not there to be compiled."""

    @property
    def kind(self) -> str:
        """The name that the plan is called by, for messages."""
        return f"plan__{self.name}"


@dataclass(frozen=True, slots=True)
class SolverSpec:
    """Let a model write the run's answer from what the steps have found."""

    kind: ClassVar[str] = "solver"

    query_to_answer: TextTemplate
    data: Renderable | None = None
    system_prompt: TextTemplate | None = None


NodeSpec = (
    AskSpec
    | ExitSpec
    | RouteSpec
    | TransformSpec
    | DecideSpec
    | FilterSpec
    | MapSpec
    | ReduceSpec
    | CallSpec
    | AgentSpec
    | PlanCallSpec
    | SolverSpec
)


@dataclass(frozen=True, slots=True)
class Node:
    """One step or node."""

    id: str
    """Empty for the one call of a body that is not a list."""
    spec: NodeSpec
    path: str
    """Where it stands in the plan, such as `steps[0]`."""
    after: tuple[str, ...] = ()
    """The nodes that must have ended first."""


@dataclass(frozen=True, slots=True)
class Block:
    """Nodes that run together: a plan, a branch, the body of an iteration."""

    nodes: Mapping[str, Node]
    """By id, in an order in which every node comes after what it depends on."""
    dependents: Mapping[str, tuple[str, ...]]
    last: str
    """The node whose result is that of the block."""
    last_asking: str | None
    """The last node that may put a question."""


SOLVER = "@solver"
"""Id of the node that writes the answer, after all steps."""


@dataclass(frozen=True, slots=True)
class CompiledPlan:
    """A plan that can run."""

    dialect: Dialect
    block: Block
    input_schema: Mapping[str, Any] | None = None
    output: Renderable | None = None
    request_expire_after: float | None = None
    """Seconds that questions stay open where the ask says nothing."""

    @property
    def nodes(self) -> Mapping[str, Node]:
        """The steps or nodes of the plan itself, by id."""
        return self.block.nodes

    def resolve_inputs(self, inputs: Mapping[str, Any] | None) -> dict[str, Any]:
        """The inputs with the schema's defaults for absent top-level properties.

        Raises:
            InputsInvalid: they do not fit the plan's schema.
        """
        if self.input_schema is None:
            return dict(inputs or {})
        resolved: dict[str, Any] = with_defaults(self.input_schema, dict(inputs or {}))
        problems = field_errors(self.input_schema, resolved)
        if problems:
            raise InputsInvalid(problems, self.input_schema)
        return resolved


def block_of(nodes: Mapping[str, Node]) -> Block:
    """A block of nodes that are in order."""
    asking = [node.id for node in nodes.values() if isinstance(node.spec, AskSpec | PlanCallSpec)]
    return Block(nodes, dependents_of(nodes), list(nodes)[-1], asking[-1] if asking else None)


def dependents_of(nodes: Mapping[str, Node]) -> dict[str, tuple[str, ...]]:
    """For each node, those that come directly after it, in the order of the plan."""
    found: dict[str, list[str]] = {node_id: [] for node_id in nodes}
    for node in nodes.values():
        for dependency in node.after:
            found[dependency].append(node.id)
    return {node_id: tuple(ids) for node_id, ids in found.items()}
