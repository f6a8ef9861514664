"""The runs to begin with: inputs from the schema, with and without people to ask."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from compozy.language.compiled import CompiledPlan
from compozy.language.problems import InputsInvalid
from compozy.language.values import dump_json
from compozy.plantest.exploring.unknown import Unknown, holds_unknown
from compozy.plantest.exploring.values import Hints, values_for

MAX_INPUTS = 16
"""How many different inputs are tried."""


@dataclass(frozen=True, slots=True)
class Start:
    """How a run begins."""

    inputs: Mapping[str, Any]
    attended: bool


def starts_of(plan: CompiledPlan, given: Mapping[str, Any], hints: Hints) -> list[Start]:
    """Every way to begin, the typical one first.

    Raises:
        InputsInvalid: with `given` no inputs that fit could be generated.
    """
    inputs = _inputs(plan, given, hints)
    attended = [Start(values, attended=True) for values in inputs]
    return [attended[0], Start(inputs[0], attended=False), *attended[1:], *_unattended(inputs[1:])]


def _unattended(inputs: Sequence[Mapping[str, Any]]) -> list[Start]:
    return [Start(values, attended=False) for values in inputs]


def _inputs(plan: CompiledPlan, given: Mapping[str, Any], hints: Hints) -> Sequence[Mapping[str, Any]]:
    schema = plan.input_schema
    if schema is None:
        # Nothing says what the inputs are. Templates of steps may name any; a graph must declare what it names.
        return [Unknown(given) if plan.dialect.name == "steps" else dict(given)]
    found: dict[str, dict[str, Any]] = {}
    for values in values_for(schema, hints) or [{}]:
        try:
            resolved = plan.resolve_inputs({**values, **given})
        except InputsInvalid:
            continue
        opened = Unknown(resolved) if isinstance(values, Unknown) else resolved
        found.setdefault(f"{dump_json(resolved)} {holds_unknown(opened)}", opened)
    if not found:
        plan.resolve_inputs(given)
        raise InputsInvalid({"inputs": "none that fit could be generated"}, schema)
    return list(found.values())[:MAX_INPUTS]
