"""What followed, against what must follow: each difference as one line with its path."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from compozy.engine.state import Cell, RunState
from compozy.language.compiled import CompiledPlan
from compozy.language.values import dump_json, json_equal
from compozy.plantest.model import Expectation, Question

LONGEST_VALUE = 200
"""How many characters of a value a difference shows."""

_MISSING = object()


def place_of(plan: CompiledPlan, path: str) -> str:
    """The name by which cases know a place in a run: the path in steps, node and item in a fan-out of a graph."""
    node, item = plan.address_of(path)
    return node if item is None else f"{node}[{item}]"


def differences(expect: Expectation, state: RunState, cells: Mapping[str, Cell]) -> Iterator[str]:
    """Where a run that was begun differs from what must follow. `cells` are by the names that cases know."""
    for key, value in expect.values.items():
        match key:
            case "message":
                yield from _contained("message", value, state.message)
            case "exit":
                yield from _exit(value, state)
            case _:
                yield from json_differences(key, value, getattr(state, key))
    for path, wanted in expect.nodes.items():
        yield from _node(f"nodes.{path}", wanted, cells.get(path))


def question_differences(expected: Sequence[Question], asked: Sequence[Question]) -> Iterator[str]:
    """Where the questions that were put differ from those that must be put, in their order."""
    paths, got = [question.path for question in expected], [question.path for question in asked]
    if paths != got:
        yield told("asked", paths, got)
        return
    for index, (question, put) in enumerate(zip(expected, asked, strict=True)):
        if question.prompt is not None and question.prompt != put.prompt:
            yield told(f"asked[{index}].prompt", question.prompt, put.prompt)


def json_differences(path: str, expected: Any, got: Any) -> Iterator[str]:
    """Where two JSON values differ, as deep inside as they can be told apart."""
    if isinstance(expected, Mapping) and isinstance(got, Mapping):
        for key in (*expected, *(key for key in got if key not in expected)):
            yield from json_differences(f"{path}.{key}", expected.get(key, _MISSING), got.get(key, _MISSING))
    elif isinstance(expected, list) and isinstance(got, list) and len(expected) == len(got):
        for index, (one, other) in enumerate(zip(expected, got, strict=True)):
            yield from json_differences(f"{path}[{index}]", one, other)
    elif expected is _MISSING or got is _MISSING or not json_equal(expected, got):
        yield told(path, expected, got)


def told(path: str, expected: Any, got: Any) -> str:
    """One difference as a line."""
    return f"{path}: expected {_shown(expected)}, got {_shown(got)}"


def _shown(value: Any) -> str:
    if value is _MISSING:
        return "nothing"
    text = dump_json(value)
    return text if len(text) <= LONGEST_VALUE else text[: LONGEST_VALUE - 1] + "…"


def _contained(path: str, part: str, text: str | None) -> Iterator[str]:
    if part not in (text or ""):
        yield f"{path}: expected a text with {_shown(part)}, got {_shown(text)}"


def _exit(expected: Mapping[str, Any] | None, state: RunState) -> Iterator[str]:
    if expected is None or state.exit is None:
        yield from json_differences("exit", expected, state.exit and asdict(state.exit))
        return
    got = asdict(state.exit)
    for key, value in expected.items():
        yield from json_differences(f"exit.{key}", value, got[key])


def _node(path: str, expected: Mapping[str, Any], cell: Cell | None) -> Iterator[str]:
    if cell is None:
        yield f"{path}: expected {_shown(dict(expected))}, but it was never entered or its block is over"
        return
    for key, value in expected.items():
        if key == "message":
            yield from _contained(f"{path}.message", value, cell.message)
        else:
            yield from json_differences(f"{path}.{key}", value, getattr(cell, key))
