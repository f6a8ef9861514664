"""What a picture is made of, whatever it is drawn with."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Form = Literal["person", "choice", "gate", "spread", "join", "time", "nested", "source", "action"]
"""What a shape looks like: people answer, ways part, a gate holds, lanes begin, lanes end, time passes, something
of its own runs inside, a value comes in, something is done."""

LinkKind = Literal["flow", "exception", "body"]
"""How one comes from a shape to the next: as planned; only when something went another way; into its body."""

_FORMS: Mapping[str, Form] = {
    "ask": "person",
    "human": "person",
    "route": "choice",
    "branch": "choice",
    "decide": "choice",
    "gate": "gate",
    "exit": "gate",
    "fan-out": "spread",
    "map": "spread",
    "reduce": "spread",
    "filter": "spread",
    "collect": "join",
    "wait": "time",
    "sub-loop": "nested",
    "run-loop": "nested",
    "input": "source",
}
_CALLED_PLAN = "plan__"


@dataclass(slots=True)
class Shape:
    """One step or node."""

    id: str
    """Its path in the plan, without lanes and turns."""
    title: str
    kind: str
    form: Form
    group: str | None = None
    notes: list[str] = field(default_factory=list)
    """What the plan says of it, such as the question."""
    is_reviewed: bool = False
    """Whether a person decides before it runs."""
    status: str | None = None
    """Where it stands; None where nothing runs."""
    is_handled: bool = False
    """Whether it has succeeded only since the plan says what follows when it fails."""
    told: list[str] = field(default_factory=list)
    """What the run says of it, such as who is waited for."""
    items: dict[str, str] = field(default_factory=dict)
    """Its state in each lane, by the lane's index; nested lanes as `2.0`."""
    facts: dict[str, Any] = field(default_factory=dict)
    """What programs are told beside all that."""


@dataclass(slots=True)
class Group:
    """A frame around the body of a shape."""

    id: str
    title: str
    owner: str
    """The shape whose body it is."""
    label: str = ""
    """In steps: which body of its owner, `then`, `else` or `do`."""
    parent: str | None = None
    repeats: Literal["", "lane", "turn"] = ""
    """Whether it runs many times: in lanes side by side, or in turns of which only the last one is shown."""
    told: str = ""
    """Of a fan-out in a run: how its lanes stand."""


@dataclass(slots=True)
class Link:
    """One way from a shape to another."""

    source: str
    target: str
    label: str = ""
    kind: LinkKind = "flow"
    taken: bool | None = None
    """Whether the run has gone this way; None while that is open, and where nothing runs."""


@dataclass(slots=True)
class Drawing:
    """A whole picture."""

    title: str
    shapes: dict[str, Shape] = field(default_factory=dict)
    groups: dict[str, Group] = field(default_factory=dict)
    links: list[Link] = field(default_factory=list)
    is_run: bool = False

    def add(self, shape: Shape) -> Shape:
        """Puts a shape in, unless there is one with its id: the first one counts."""
        return self.shapes.setdefault(shape.id, shape)


def form_of(kind: str) -> Form:
    """The form of a step or node of a kind; whatever is not known is an action, a tool by its name."""
    if kind.startswith(_CALLED_PLAN):
        return "nested"
    return _FORMS.get(kind, "action")


def field_of(value: Any, name: str) -> Any:
    """A field in either spelling, `on_error` or `onError`; None where nothing has such a field."""
    if not isinstance(value, Mapping):
        return None
    head, *rest = name.split("_")
    return value.get(name, value.get(head + "".join(part.capitalize() for part in rest)))


def list_of(value: Any) -> list[Any]:
    """A list, or an empty one where the author wrote something else."""
    return value if isinstance(value, list) else []


def text_of(value: Any) -> str:
    """A text or number as text; empty for everything else."""
    return str(value) if isinstance(value, str | int | float) and not isinstance(value, bool) else ""
