"""`map`, `reduce` and `filter`: the same for every element of a list."""

from collections import ChainMap
from typing import Any

from compozy.engine.kinds.infer import judgement_block
from compozy.engine.outcomes import Context, Failed, Lanes, Outcome, Succeeded
from compozy.language.compiled import FilterSpec, InferSpec, MapSpec, ReduceSpec, Renderable
from compozy.language.errors import LanguageError
from compozy.language.keys import type_name


def enter_map(spec: MapSpec, context: Context) -> Outcome:
    """Every element with `item` and `index`; they see the plan's results, never each other."""
    items = _elements(spec.over, context)
    if isinstance(items, Failed):
        return items
    return Lanes(items, spec.do, spec.concurrency, "map") if items else Succeeded({"count": 0, "results": []})


def enter_reduce(spec: ReduceSpec, context: Context) -> Outcome:
    """Element after element, each with the `accumulator` that the one before left."""
    items = _elements(spec.over, context)
    if isinstance(items, Failed):
        return items
    try:
        initial = spec.initial.render(context.scope) if spec.initial is not None else None
    except LanguageError as error:
        return Failed(error.code, error.message)
    if not items:
        return Succeeded({"count": 0, "result": initial})
    return Lanes(items, spec.do, 1, "reduce", initial)


def enter_filter(spec: FilterSpec, context: Context) -> Outcome:
    """Keep the elements for which the gate holds, in their order."""
    items = _elements(spec.over, context)
    if isinstance(items, Failed):
        return items
    if isinstance(spec.gate, InferSpec):
        if not items:
            return kept(items, [])
        return Lanes(items, judgement_block(spec.gate, context.node), spec.concurrency, "filter")
    verdicts = []
    for index, item in enumerate(items):
        scope: ChainMap[str, Any] = ChainMap({"item": item, "index": index}, context.scope)  # type: ignore[arg-type]
        try:
            verdicts.append(spec.gate.test(scope))
        except LanguageError as error:
            return Failed(error.code, f"item {index}: {error.message}")
    return kept(items, verdicts)


def kept(items: list[Any], verdicts: list[bool]) -> Succeeded:
    """The result of a filter."""
    pairs = list(zip(items, verdicts, strict=True))
    dropped = [item for item, verdict in pairs if not verdict]
    remaining = [item for item, verdict in pairs if verdict]
    return Succeeded(
        {"items": remaining, "count": len(remaining), "dropped": dropped, "dropped_count": len(dropped)}
    )


def _elements(over: Renderable, context: Context) -> list[Any] | Failed:
    try:
        items = over.render(context.scope)
    except LanguageError as error:
        return Failed(error.code, error.message)
    if not isinstance(items, list):
        return Failed("over_not_a_list", f"`over` must render to a list, not {type_name(items)}")
    return items
