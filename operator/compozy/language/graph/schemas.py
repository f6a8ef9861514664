"""The JSON Schemas in a graph: `expect`, `produces` and `output_schema`, in full or in the short form.

Checking a schema takes milliseconds and graphs repeat theirs, so what is the same is checked once.
"""

import json
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any

from compozy.language.annotations import kind_problems, secret_problems
from compozy.language.graph.fields import Fields, join
from compozy.language.problems import Problem
from compozy.language.schema import check_schema, normalize_schema
from compozy.language.shapes.bounds import json_faults

_PLACE = "schema"

Checked = tuple[Mapping[str, Any], tuple[Problem, ...]]


def read_schema(raw: Any, key: str, fields: Fields, *, for_answers: bool = False) -> Mapping[str, Any] | None:
    """A schema in full; None where it cannot be used, with the problems recorded below `key`.

    Args:
        raw: what the author wrote.
        key: where it stands in the node.
        fields: the node.
        for_answers: whether people answer by it, so that it may not ask for a secret in clear.
    """
    if not isinstance(raw, Mapping) or not raw:
        fields.report(key, "schema_invalid", "must be a JSON Schema or a map of field types")
        return None
    schema, problems = _check(raw, for_answers) if json_faults(raw) else _cached(json.dumps(raw), for_answers)
    path = join(fields.path, key)
    fields.problems.extend(replace(problem, path=path + problem.path.removeprefix(_PLACE)) for problem in problems)
    return None if problems else schema


@lru_cache(maxsize=512)
def _cached(text: str, for_answers: bool) -> Checked:
    return _check(json.loads(text), for_answers)


def _check(raw: Mapping[str, Any], for_answers: bool) -> Checked:
    schema = normalize_schema(raw)
    problems = check_schema(schema, _PLACE)
    if not problems:
        problems = kind_problems(schema, _PLACE)
        problems += secret_problems(schema, _PLACE) if for_answers else []
    return schema, tuple(problems)
