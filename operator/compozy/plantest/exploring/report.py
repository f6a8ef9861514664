"""What exploring a plan has shown: one check for each step, node and branch."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from compozy.plantest.exploring.tracer import Fault, Place, Situation, Tracer

_ALWAYS_ALIKE = {
    ("branch", "condition"): ("never goes on", "always goes on"),
    ("fan-out", "filter"): ("its filter drops every element", "its filter keeps every element"),
    ("sub-loop", "stop_when"): ("never stops before its iteration_cap", "always stops after one iteration"),
}
"""What to say of a condition that never holds, and of one that always does."""


@dataclass(frozen=True, slots=True)
class Ending:
    """One way in which runs end."""

    phase: str
    reason: str
    step: str
    """The step or node that ended them; empty where they ran to their end."""
    last: str
    """In a graph that ran to its end: the nodes to which its ways led, with commas between."""
    message: str
    runs: int
    situation: Situation
    """What leads to it, with the fewest surprises."""


@dataclass(frozen=True, slots=True)
class Check:
    """One step, node or branch, or the plan's output."""

    place: Place
    reached: bool
    faults: tuple[Fault, ...]
    notes: tuple[str, ...]
    """What may be meant but deserves a look."""

    @property
    def passed(self) -> bool:
        """Whether nothing is wrong with it."""
        return not self.faults


@dataclass(frozen=True, slots=True)
class Report:
    """What exploring a plan has shown."""

    checks: tuple[Check, ...]
    endings: tuple[Ending, ...]
    runs: int
    paths: int
    """How many different ways through the plan these runs took: steps entered and verdicts, in order."""
    complete: bool
    """Whether every path was followed that generated answers open."""
    limits: tuple[str, ...]
    """Why not, where it is not complete."""

    @property
    def faults(self) -> list[Fault]:
        """Everything that is wrong."""
        return [fault for check in self.checks for fault in check.faults]


def checks_of(tracer: Tracer, complete: bool) -> Iterator[Check]:
    """A check for each place of the plan, and for each of a plan that it calls where something fails."""
    for place in tracer.places.values():
        faults = [fault for fault in tracer.faults.values() if fault.place == place]
        reached = place.label in tracer.reached
        if place.path is None and not faults:
            continue
        notes = []
        if not reached and place.path is not None:
            if complete:
                faults.append(Fault(place, "", "unreached", "no answer leads here", None))
            else:
                notes.append("no run has come here yet")
        elif complete and place.path is not None and not faults:
            notes += _verdict_notes(place, tracer)
        notes += [
            f"{fault.field}: {fault.message} [{fault.code}]".removeprefix(": ")
            for key, fault in tracer.doubts.items()
            if fault.place == place and key not in tracer.faults
        ]
        yield Check(place, reached, tuple(faults), tuple(notes))


def _verdict_notes(place: Place, tracer: Tracer) -> Iterator[str]:
    """Gates that need not be there, or need another condition."""
    for (label, name), seen in tracer.verdicts.items():
        if label != place.label or len(seen) > 1:
            continue
        holds = True in seen
        if place.kind == "exit":
            yield "always fires" if holds else "never fires"
        elif place.kind == "decide" and f"{label}/else" not in _branches(tracer.places):
            yield "its gate always holds" if holds else "its gate never holds"
        elif place.kind == "route" and not holds:
            yield f"never takes the way of `{name}`"
        elif (place.kind, name) in _ALWAYS_ALIKE:
            yield _ALWAYS_ALIKE[place.kind, name][holds]
        elif name == "review.when":
            yield "is always reviewed" if holds else "is never reviewed"


def _branches(labels: Iterable[str]) -> set[str]:
    """The label of every block that has places in it."""
    return {"/".join(label.split("/")[:size]) for label in labels for size in range(1, label.count("/") + 2)}
