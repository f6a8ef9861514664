"""`fan-out` and `collect`: the same for every element of a collection, and the join of it."""

from collections.abc import Iterator, Mapping
from typing import Any

from rpds import HashTrieMap

from compozy.engine.codes import UNDECIDED, UNRENDERABLE
from compozy.engine.outcomes import Context, Failed, LanesOpened, Outcome, Stopped, Succeeded
from compozy.language.compiled import CollectSpec, FanOutSpec, Scope, Table
from compozy.language.errors import LanguageError
from compozy.language.keys import type_name

COVERAGE = ("total", "succeeded", "failed", "canceled", "coverage_rate", "partial")
"""What a collect gives out."""


def enter_fan_out(spec: FanOutSpec, context: Context) -> Outcome:
    """Find the elements and make lanes of them. More of them than declared end the run as exhausted."""
    try:
        collection = spec.collection.render(context.scope)
    except LanguageError as error:
        return Failed(UNRENDERABLE, f"`collection`: {error.message}")
    if not isinstance(collection, list):
        return Failed("collection_not_a_list", f"`collection` must be a list, not {type_name(collection)}")
    try:
        kept = list(_kept(spec, collection, context.scope))
    except LanguageError as error:
        return Failed(UNDECIDED, f"filter `{spec.filter_source}`: {error.message}")
    if len(kept) > spec.max_fan_out:
        message = f"{context.node} has {len(kept)} elements, more than its max_fan_out of {spec.max_fan_out}"
        return Stopped("Failed", "fan_out_bound_exceeded", message)
    return LanesOpened(spec, list(_lanes(kept, spec.batch_size)))


def _kept(spec: FanOutSpec, collection: list[Any], scope: Scope) -> Iterator[tuple[int, Any]]:
    for index, item in enumerate(collection):
        if spec.filter is None or spec.filter.test(within(scope, spec, index, item)):
            yield index, item


def _lanes(kept: list[tuple[int, Any]], size: int) -> Iterator[tuple[int, Any]]:
    """Batches, each under the source index of its first element."""
    for start in range(0, len(kept), size):
        batch = kept[start : start + size]
        yield batch[0][0], batch[0][1] if size == 1 else [item for _, item in batch]


def within(scope: Scope, spec: FanOutSpec, index: int, item: Any) -> Table:
    """The scope of one lane."""
    bound: dict[str, Any] = {"item": item, "index": index}
    if spec.bind_as is not None:
        bound[spec.bind_as] = item
    if spec.index_as is not None:
        bound[spec.index_as] = index
    return HashTrieMap(scope).update(bound)


def enter_collect(spec: CollectSpec, context: Context) -> Outcome:
    """Give out what became of the lanes. Where the strategy was not met the join fails."""
    record = context.scope[record_key(spec.fan_out)]
    if not record["met"]:
        return unmet(record)
    if record["won"]:
        return Succeeded(record["value"])
    return Succeeded({key: record[key] for key in COVERAGE})


def record_key(fan_out: str) -> str:
    """Under which name a scope knows what became of the lanes: none that a plan could use."""
    return f"@{fan_out}"


def unmet(record: Mapping[str, Any]) -> Failed:
    """How a fan-out fails whose strategy is not met."""
    told = f": {record['failure']}" if record["failure"] else ""
    counts = f"{record['succeeded']} of {record['total']} lanes succeeded, {record['failed']} failed"
    return Failed("fan_out_failed", f"{counts}{told}")
