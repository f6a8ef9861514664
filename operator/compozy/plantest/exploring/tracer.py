"""What is seen while runs are made: places that were reached, verdicts, and everything that fails there."""

import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from compozy.language.document import PlanDocument
from compozy.language.problems import Problem

_FIELD = re.compile(r"\w+(\.\w+)?")
_FREE_CHOICES = 2
"""How often the same is decided freely in one turn."""


@dataclass(frozen=True, slots=True)
class Place:
    """One step or node, or the plan's output."""

    label: str
    """Its path in a run, without indexes: `E1/then/B0`, `E2/do`."""
    kind: str
    path: str | None
    """Where it stands in the plan, such as `steps[1]`; None in a plan that is called."""
    foreseen: bool = False
    """Whether its author says what follows when it fails."""

    def position(self, document: PlanDocument, field: str) -> tuple[int | None, int | None]:
        """Line and column in the plan's file, of a part of its input where that stands there."""
        if self.path is None:
            return None, None
        paths = [self.path]
        if _FIELD.fullmatch(field):
            paths += [
                f"{self.path}.{part}{field}" for part in ("", "params.", "params.map.", "contract.", "input.")
            ]
        # A place that the file does not have is placed at what it would stand in, which begins before it.
        placed = document.with_positions([Problem(path, "", "") for path in paths])
        last = max(placed, key=lambda problem: (problem.line or 0, problem.column or 0))
        return last.line, last.column


@dataclass(frozen=True, slots=True)
class Fault:
    """Something that fails, and the shortest way to it that was found."""

    place: Place
    field: str
    """The part of its input: `prompt`, `default`, `when`."""
    code: str
    message: str
    situation: "Situation | None"
    """None where no run comes to it."""


@dataclass(frozen=True, slots=True)
class Situation:
    """What leads to a point of a run: enough to make it a case of `plan test`."""

    inputs: Mapping[str, Any]
    attended: bool
    decisions: tuple["Decision", ...] = ()

    def as_case(self) -> dict[str, Any]:
        """What a file of cases says for it, but for what must follow."""
        tools: dict[str, list[Any]] = {}
        for decision in self.decisions:
            if decision.stub is not None:
                name, stub = decision.stub
                tools.setdefault(name, []).append(stub)
        answers = {decision.label: decision.answer for decision in self.decisions if decision.answer is not None}
        case = {"inputs": dict(self.inputs), "attended": self.attended, "answers": answers, "tools": tools}
        return {key: value for key, value in case.items() if value not in ({}, True)}


@dataclass(frozen=True, slots=True)
class Decision:
    """One thing that happened to a run from outside."""

    label: str
    """The path of the question or call; of a place whose data is unknown."""
    told: str
    """What happened, for people."""
    answer: Any = None
    """Of a question, as a file of cases has it."""
    stub: tuple[str, Any] | None = None
    """Of a call: its name and its stub, as a file of cases has them."""
    assumed: bool = False
    """Whether it did not happen but was taken to be so, since the data is unknown."""


class ChoiceNeeded(Exception):
    """What is to be decided depends on something unknown: every way must be tried."""

    def __init__(self, label: str, ways: tuple[str, ...]) -> None:
        super().__init__(label)
        self.label = label
        self.ways = ways
        """What each way is, for people."""


@dataclass(slots=True)
class Tracer:
    """Collects what runs show."""

    places: dict[str, Place] = field(default_factory=dict)
    computed: set[str] = field(default_factory=set)
    """The labels of what nobody outside has a part in: its output is the author's own."""
    reached: set[str] = field(default_factory=set)
    verdicts: dict[tuple[str, str], set[bool]] = field(default_factory=dict)
    """By place and field."""
    faults: dict[tuple[str, str, str], Fault] = field(default_factory=dict)
    """By place, field and code; the first that was found, which has the fewest surprises."""
    doubts: dict[tuple[str, str, str], Fault] = field(default_factory=dict)
    """As `faults`: what need not be wrong."""
    outlives_empty_data: bool = False
    """Whether runs go on where data ran out, because a solver makes the best of it."""
    coverage: int = 0
    """Grows whenever something is seen that no run has shown before."""
    events: list[tuple[str, str]] = field(default_factory=list)
    """What has happened since `begin`."""
    _choices: Mapping[str, int] = field(default_factory=dict)
    _asked: Counter[str] = field(default_factory=Counter)
    _situation: Callable[[], Situation] = lambda: Situation({}, True)

    def begin(self, choices: Mapping[str, int], situation: Callable[[], Situation]) -> None:
        """A run goes on: what has been chosen for it where data is unknown, and how it came here."""
        self.events = []
        self._choices = choices
        self._asked = Counter()
        self._situation = situation

    def register(self, place: Place) -> None:
        """Let it be known that there is a place."""
        self.places[place.label] = place

    def entered(self, place: Place) -> None:
        """A run has come to a place."""
        self.reach(place.label)
        self.events.append((place.label, ""))

    def reach(self, label: str) -> None:
        """A run has come to a place, whether or not anything is rendered there."""
        if label in self.places and label not in self.reached:
            self.coverage += 1
            self.reached.add(label)

    def verdict(self, place: Place, name: str, holds: bool) -> None:
        """A condition has been decided."""
        seen = self.verdicts.setdefault((place.label, name), set())
        self.coverage += holds not in seen
        seen.add(holds)
        self.events.append((f"{place.label}.{name}", str(holds)))

    def failed(self, place: Place, name: str, code: str, message: str) -> None:
        """Something cannot be rendered or decided, or what came of it cannot be used."""
        key = (place.label, name, code)
        self.events.append((f"{place.label}.{name}", code))
        if key in self.faults:
            return
        situation = self._situation()
        # How long a list is that nobody knows was assumed: that it is too short proves nothing.
        doubtful = self.outlives_empty_data or any(decision.assumed for decision in situation.decisions)
        is_doubt = place.foreseen or (doubtful and code == "empty_data")
        found = self.doubts if is_doubt else self.faults
        self.coverage += key not in found
        found.setdefault(key, Fault(place, name, code, message, situation))

    def choose(self, place: Place, name: str, ways: tuple[str, ...]) -> int:
        """The number of a way, where the data is unknown. Raises ChoiceNeeded where none has been chosen.

        What is decided again and again without anybody, as for the elements of a list, is decided freely twice,
        and then as the second time.
        """
        label = f"{place.label} {name}"
        self._asked[label] += 1
        if self._asked[label] >= _FREE_CHOICES:
            label += " again"
        if label not in self._choices:
            raise ChoiceNeeded(label, ways)
        return self._choices[label]
