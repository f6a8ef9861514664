"""`fan-out` in a graph plan: the same for every element of a collection."""

import re
from collections.abc import Mapping
from typing import Any, Final

from compozy.language.compiled import Block, FanOutSpec, Strategy
from compozy.language.graph.fields import Fields
from compozy.language.graph.made import Made
from compozy.language.graph.names import is_free
from compozy.language.graph.numbers import whole_number
from compozy.language.graph.outline import is_id
from compozy.language.graph.shapes import LIST, NUMBER, Members, Shape
from compozy.language.graph.template import GoTemplateValue
from compozy.language.keys import type_name

MAX_LANES: Final = 10_000
"""The largest `max_fan_out`."""

MAX_PARALLEL: Final = 1000

OUTPUT: Final = Members({"count": NUMBER, "indexes": LIST})

_EMPTY: Final = Block({}, {}, "", None)
_PERCENT: Final = re.compile(r"([1-9][0-9]?|100)%", re.ASCII)
_INVALID: Final = "strategy_invalid"


def compile_fan_out(values: Mapping[str, Any], fields: Fields) -> Made | None:
    """Compile a fan-out, as yet without its body; None where it cannot be right, with the problems recorded.

    What it binds in its lanes is known afterwards in either case, so that the body can be checked.
    """
    before = len(fields.problems)
    collection = _collection(values, fields)
    size = whole_number(values.get("batch_size", 1), "batch_size", fields, 1, MAX_LANES)
    bind_as, index_as = _names(values, fields)
    shape = _shape(values.get("collection"), collection, fields)
    element = shape.element() if shape is not None else None
    fields.place.graph.bound[fields.node] = _bound(element if size == 1 else LIST, bind_as, index_as)
    # A filter sees every element on its own, whatever the size of the batches.
    within, source = fields.binding(_bound(element, bind_as, index_as)), values.get("filter")
    condition = None if source is None else within.condition(source, "filter")
    parallel = values.get("max_parallel", fields.setting.max_parallel)
    most = _max_fan_out(values.get("max_fan_out"), fields)
    parallel = whole_number(parallel, "max_parallel", fields, 1, MAX_PARALLEL)
    strategy = _strategy(values.get("strategy", "wait_all"), fields)
    if len(fields.problems) > before or collection is None or strategy is None:
        return None
    spec = FanOutSpec(
        collection=collection,
        body=_EMPTY,
        max_fan_out=most,
        max_parallel=parallel,
        filter=condition,
        filter_source=source or "",
        batch_size=size,
        strategy=strategy,
        bind_as=bind_as,
        index_as=index_as,
    )
    return Made(spec, OUTPUT)


def _bound(item: Shape, bind_as: str | None, index_as: str | None) -> dict[str, Shape]:
    """What is bound in the lanes, by name."""
    names: dict[str, Shape] = {"item": item, "index": NUMBER}
    names.update({bind_as: item} if bind_as else {})
    names.update({index_as: NUMBER} if index_as else {})
    return names


def _collection(values: Mapping[str, Any], fields: Fields) -> GoTemplateValue | None:
    if "collection" not in values:
        fields.report("collection", "missing_key", "`collection` is required: a template that yields a list")
        return None
    collection = values["collection"]
    if not isinstance(collection, str | list):
        fields.report("collection", "invalid_type", f"must be a template or a list, not {type_name(collection)}")
        return None
    compiled = fields.value(collection, "collection")
    if compiled is not None and isinstance(collection, str) and _exact_path(compiled) is None:
        message = "must be exactly one path, such as `{{ .inputs.services }}`: anything else yields text"
        fields.report("collection", "collection_not_a_list", message)
    shape = _shape(collection, compiled, fields)
    kind = shape.json_type() if shape is not None else None
    if kind not in (None, "array"):
        fields.report("collection", "collection_not_a_list", f"is declared as {kind}; it must be a list")
    return compiled


def _exact_path(collection: GoTemplateValue) -> tuple[str, ...] | None:
    return collection.templates[0][1].exact_path if collection.templates else None


def _shape(written: Any, collection: GoTemplateValue | None, fields: Fields) -> Shape:
    """What is declared of the collection."""
    if collection is None or not isinstance(written, str) or _exact_path(collection) is None:
        return None
    return fields.shape_of(collection.templates[0][1])


def _names(values: Mapping[str, Any], fields: Fields) -> tuple[str | None, str | None]:
    """The further names of `item` and `index`."""
    found: list[str | None] = []
    for key in ("bind_as", "index_as"):
        name = values.get(key)
        if name is None:
            found.append(None)
        elif not is_id(name):
            fields.report(key, "alias_invalid", "must be a lower-case letter, then letters, digits and `_`")
            found.append(None)
        elif name in found or name in fields.place.bindings or not is_free(name):
            message = f"`{name}` already stands for something else; choose another name"
            fields.report(key, "alias_invalid", message)
            found.append(None)
        else:
            found.append(str(name))
    return found[0], found[1]


def _max_fan_out(value: Any, fields: Fields) -> int:
    if value is None:
        message = f"`max_fan_out` is required: how many elements there may be at most, up to {MAX_LANES}"
        fields.report("max_fan_out", "fan_out_unbounded", message)
        return 1
    return whole_number(value, "max_fan_out", fields, 1, MAX_LANES, "fan_out_unbounded")


def _strategy(value: Any, fields: Fields) -> Strategy | None:
    match value:
        case "wait_all" | "fail_fast" | "race":
            return Strategy(value)
        case Mapping():
            return _full_strategy(value, fields)
    message = "must be `wait_all`, `fail_fast` or `race`, or an object: {kind: best_effort, threshold, missing}"
    fields.report("strategy", _INVALID, message)
    return None


def _full_strategy(value: Mapping[str, Any], fields: Fields) -> Strategy | None:
    before = len(fields.problems)
    values = fields.keys(value, "strategy", ("kind", "threshold", "missing"), refusal=_INVALID)
    kind = values.get("kind")
    if kind not in ("wait_all", "fail_fast", "race", "best_effort"):
        message = "must be one of wait_all, fail_fast, race, best_effort"
        fields.report("strategy.kind", _INVALID, message)
    elif kind != "best_effort" and len(values) > 1:
        fields.report("strategy", _INVALID, f"`threshold` and `missing` belong to best_effort, not to {kind}")
    if values.get("missing", "acceptable") != "acceptable":
        fields.report("strategy.missing", _INVALID, "can only be `acceptable`")
    percent, count = _threshold(values.get("threshold"), fields)
    return None if kind is None or len(fields.problems) > before else Strategy(kind, percent, count)


def _threshold(value: Any, fields: Fields) -> tuple[int | None, int | None]:
    match value:
        case None:
            return None, None
        case str() if _PERCENT.fullmatch(value):
            return int(value[:-1]), None
        case {"count": int() as count} if len(value) == 1 and count >= 1 and not isinstance(count, bool):
            return None, count
    fields.report("strategy.threshold", _INVALID, "must be a share such as `66%`, or {count: 2}")
    return None, None
