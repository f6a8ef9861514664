"""The people and the tools of a case: they answer what the author wrote down, and nothing else."""

import re
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta

from compozy.actions.unavailable import refuse
from compozy.engine.effects import Call, OpenRequest
from compozy.engine.events import CallFailed, CallFinished
from compozy.plantest.model import Case, Question
from compozy.requests.outcome import Outcome

BEGINNING = datetime(2026, 1, 1, tzinfo=UTC)
"""When every run of a case begins, so that it is the same each time."""


class Unscripted(Exception):
    """A question was put for which the case has no answer."""


class Clock:
    """A clock on which a second passes whenever somebody looks."""

    def __init__(self) -> None:
        self._now = BEGINNING

    def __call__(self) -> datetime:
        """The time."""
        self._now += timedelta(seconds=1)
        return self._now

    def sleep(self, until: datetime) -> None:
        """Let the time come at once."""
        self._now = max(self._now, until)


class Script:
    """What happens to the run of one case, and what was asked and called."""

    def __init__(self, case: Case, place_of: Callable[[str], str] = str) -> None:
        """`place_of` gives the name by which a case knows the path of a question."""
        self._case = case
        self._place_of = place_of
        self._answered: set[str] = set()
        self._calls: Counter[str] = Counter()
        self._missing: list[str] = []
        self.asked: list[Question] = []
        self.called: list[str] = []

    def ask(self, question: OpenRequest) -> Outcome:
        """The scripted answer. Raises Unscripted."""
        place = self._place_of(question.node)
        self.asked.append(Question(place, question.prompt))
        key = self._key_of(place)
        if key is None:
            raise Unscripted(f"no answer for {place} in `answers`: {question.prompt}")
        self._answered.add(key)
        return self._case.answers[key]

    def _key_of(self, path: str) -> str | None:
        """The key that stands for a path: the path itself, else the first pattern that fits."""
        if path in self._case.answers:
            return path
        return next((key for key in self._case.answers if _fits(key, path)), None)

    def perform(self, call: Call) -> CallFinished | CallFailed:
        """The scripted result. What has none fails, as it does where nothing can be called."""
        name = name_of(call)
        self.called.append(name)
        stubs = self._case.tools.get(name)
        turn = self._calls[name]
        self._calls[name] += 1
        if stubs is None:
            self._missing.append(f"{call.node} called {name}, which has no stub in `tools`")
            return refuse(call)
        if stubs.in_turn and turn >= len(stubs.results):
            count = len(stubs.results)
            self._missing.append(f"{call.node} called {name} once more than the {count} stubs in `tools`")
            return refuse(call)
        stub = stubs.results[turn if stubs.in_turn else 0]
        if stub.error is not None:
            return CallFailed(call.node, stub.code or f"{call.kind}_failed", stub.error, call.attempt)
        return CallFinished(call.node, stub.output, call.attempt)

    def unused(self) -> Iterator[str]:
        """What the author wrote down and nothing needed."""
        for key in self._case.answers:
            if key not in self._answered:
                yield f"answers.{key}: never asked"
        for name, stubs in self._case.tools.items():
            calls = self._calls[name]
            if calls == 0:
                yield f"tools.{name}: never called"
            elif stubs.in_turn and calls < len(stubs.results):
                yield f"tools.{name}[{calls}]: never called"

    def without_stub(self) -> Iterator[str]:
        """The calls for which the author wrote nothing down."""
        return iter(self._missing)


def name_of(call: Call) -> str:
    """What a call goes by in a file of cases: the tool's name, or a model's kind of work and its role."""
    return call.name if call.kind == "tool" else f"{call.kind}:{call.name}"


def _fits(pattern: str, path: str) -> bool:
    parts = (re.escape(part) for part in pattern.split("*"))
    return "*" in pattern and re.fullmatch("[0-9]+".join(parts), path) is not None
