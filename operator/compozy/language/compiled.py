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

    def scope(self, inputs: Mapping[str, Any], results: Mapping[str, "NodeResult"], generation: int) -> Scope:
        """What templates and conditions of the dialect see."""


@dataclass(frozen=True, slots=True)
class NodeResult:
    """What a scope tells of a node that has ended."""

    status: str
    output: Any


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


NodeSpec = AskSpec | ExitSpec | RouteSpec | TransformSpec


@dataclass(frozen=True, slots=True)
class Node:
    """One step or node."""

    id: str
    spec: NodeSpec
    path: str
    """Where it stands in the plan, such as `steps[0]`."""
    after: tuple[str, ...] = ()
    """The nodes that must have ended first."""


@dataclass(frozen=True, slots=True)
class CompiledPlan:
    """A plan that can run."""

    dialect: Dialect
    nodes: Mapping[str, Node]
    """By id, in an order in which every node comes after what it depends on."""
    dependents: Mapping[str, tuple[str, ...]]
    input_schema: Mapping[str, Any] | None = None
    output: Renderable | None = None
    request_expire_after: float | None = None
    """Seconds that questions stay open where the ask says nothing."""

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


def dependents_of(nodes: Mapping[str, Node]) -> dict[str, tuple[str, ...]]:
    """For each node, those that come directly after it, in the order of the plan."""
    found: dict[str, list[str]] = {node_id: [] for node_id in nodes}
    for node in nodes.values():
        for dependency in node.after:
            found[dependency].append(node.id)
    return {node_id: tuple(ids) for node_id, ids in found.items()}
