"""What is wrong with a plan text, and which of it is new after an edit.

Edits are refused only for problems that they introduce: a plan that is wrong already can be mended step by step.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from compozy.language.authoring.grammar import SPEC
from compozy.language.compile import compile_plan
from compozy.language.document import PlanDocument, parse_document
from compozy.language.errors import format_path
from compozy.language.keys import camel
from compozy.language.problems import PlanInvalid, Problem
from compozy.language.steps.context import PlanSource
from compozy.language.yaml_text import load

_SEGMENT = re.compile(r"\[([0-9]+)\]|([^.\[\]]+)")
_INDEX = re.compile(r"\[[0-9]+\]")
_AVAILABLE = re.compile(r"available: .*")
"""The end of a message that lists what else there is: it changes with every step."""


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """All problems of a text, with their places in it."""

    problems: tuple[Problem, ...]
    document: PlanDocument

    def introduced_since(self, before: "Diagnosis", renamed: tuple[str, str] | None = None) -> list[Problem]:
        """The problems that the text had not before; `renamed` is the id of a step, old and new."""
        known = Counter(before._key(problem) for problem in before.problems)
        found = []
        for problem in self.problems:
            key = self._key(problem)
            if renamed is not None and not known[key]:
                key = self._key(problem, was=renamed)
            if known[key]:
                known[key] -= 1
            else:
                found.append(problem)
        return found

    def placed_in(self, before: "Diagnosis", problem: Problem) -> Problem:
        """A problem of this text with its place in the text before, as far as that has the place."""
        path, is_there = _translated(problem.path, self.document.spec, before.document.spec)
        there = before.document.with_positions([replace(problem, path=path, line=None, column=None)])[0]
        return there if is_there else replace(there, path=problem.path)

    def _key(self, problem: Problem, was: tuple[str, str] | None = None) -> tuple[str, str, str]:
        """What makes a problem the same before and after: positions in lists and in the file do not."""
        path = camel(_with_ids(problem.path, self.document.spec))
        message = _AVAILABLE.sub("", _INDEX.sub("[]", problem.message))
        if was is not None:
            old, new = was
            path = path.replace(f"[{new}]", f"[{old}]")
            message = re.sub(rf"(?<=`){re.escape(new)}(?=`)|(?<=^step ){re.escape(new)}(?= )", old, message)
        return problem.code, path, message


def diagnose(text: str, plan_source: PlanSource | None = None) -> Diagnosis:
    """Everything that is wrong with a plan text. Calls of plans that `plan_source` does not find are trusted.

    Raises:
        PlanInvalid: the text is not YAML, or not an object: nothing can be said of the plan in it.
    """
    problems: list[Problem] = []
    try:
        document = parse_document(text)
    except PlanInvalid as invalid:
        problems += invalid.problems
        document = _as_far_as_known(text, invalid)
    try:
        compile_plan(document.spec, plan_source, trusts_unknown=True)
    except PlanInvalid as invalid:
        problems += document.with_positions(invalid.problems)
    return Diagnosis(tuple(problems), document)


def _as_far_as_known(text: str, invalid: PlanInvalid) -> PlanDocument:
    """The plan without what cannot be in it, so that the rest is judged all the same."""
    loaded = load(text)
    if not isinstance(loaded.value, dict):
        raise invalid
    is_manifest = "kind" in loaded.value and "apiVersion" in loaded.value
    spec = loaded.value.get("spec") if is_manifest else loaded.value
    known = {camel(name) for name in SPEC}
    kept = (
        {camel(key): value for key, value in spec.items() if camel(key) in known} if isinstance(spec, dict) else {}
    )
    return PlanDocument(None, None, kept, positions=loaded.positions, prefix="spec." if is_manifest else "")


def _segments(path: str) -> Iterator[str | int]:
    for found in _SEGMENT.finditer(path):
        yield int(found.group(1)) if found.group(1) is not None else found.group(2)


def _child(at: Any, segment: str | int) -> Any:
    """What is at a segment; the spelling of a key does not matter."""
    if isinstance(segment, int):
        return at[segment] if isinstance(at, list) and segment < len(at) else None
    key = _spelled(at, segment)
    return at[key] if key is not None else None


def _spelled(at: Any, name: str) -> str | None:
    """The key of a mapping that is this name in some spelling; None where there is none."""
    if not isinstance(at, dict):
        return None
    return name if name in at else next((key for key in at if camel(key) == camel(name)), None)


def _id(step: Any) -> Any:
    return step.get("id") if isinstance(step, dict) else None


def _with_ids(path: str, spec: Mapping[str, Any]) -> str:
    """The path with ids of steps in the place of their positions."""
    at: Any = spec
    written = ""
    for segment in _segments(path):
        at = _child(at, segment)
        written += f".{segment}" if isinstance(segment, str) else f"[{_id(at) or ''}]"
    return written


def _position(items: Any, index: int, step_id: Any) -> int | None:
    """Where a step is now: where its id is, else where it was."""
    if not isinstance(items, list):
        return None
    ids = [_id(item) for item in items]
    if step_id is not None and step_id in ids:
        return ids.index(step_id)
    return index if index < len(ids) else None


def _translated(path: str, spec: Any, other: Any) -> tuple[str, bool]:
    """The path of the same place in another plan, where steps may have moved; whether all of it is there."""
    written = ""
    for segment in _segments(path):
        spec = _child(spec, segment)
        by_name = isinstance(segment, str)
        there = _spelled(other, str(segment)) if by_name else _position(other, int(segment), _id(spec))
        if there is None:
            return written, False
        other = _child(other, there)
        written = format_path((written, there) if written else (there,))
    return written, True
