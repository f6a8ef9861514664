"""Reading `expect`: what must follow."""

from collections.abc import Mapping
from typing import Any

from compozy.plantest.model import Expectation, Question
from compozy.plantest.reader import Reader

_RUN = ("phase", "reason", "message", "exit", "output", "answer", "steps_executed")
_KEYS = ("problems", "inputs_problems", *_RUN, "nodes", "asked", "called")
_EXIT = ("status", "step", "message", "reason", "output")
_NODE = ("status", "output", "reason", "message", "route")
_PHASES = ("Succeeded", "Failed", "Canceled")
_STATUSES = ("Succeeded", "Failed", "Skipped", "Canceled")
_ALONE = ("problems", "inputs_problems")


def read_expectation(data: Any, path: str, reader: Reader) -> Expectation:
    """What must follow, with every problem recorded. It must say something."""
    values = reader.keys(data, path, _KEYS)
    if not values and isinstance(data, Mapping) and not data:
        reader.report(path, "empty", f"says nothing; write at least one of {', '.join(_KEYS)}")
    for key in _ALONE:
        if key in values and len(values) > 1:
            reader.report(f"{path}.{key}", "expectation_alone", f"nothing runs then: `{key}` stands alone")
    run = {key: _run_value(key, values[key], f"{path}.{key}", reader) for key in _RUN if key in values}
    return Expectation(
        problems=_problems(values, path, reader),
        inputs_problems=_texts(values, "inputs_problems", path, reader),
        values=run,
        nodes=_nodes(values.get("nodes", {}), f"{path}.nodes", reader),
        asked=_asked(values, path, reader),
        called=_texts(values, "called", path, reader),
    )


def _run_value(key: str, value: Any, path: str, reader: Reader) -> Any:
    match key:
        case "phase":
            return reader.one_of(value, path, _PHASES)
        case "reason" | "message":
            return reader.text(value, path)
        case "steps_executed":
            return reader.number(value, path)
        case "exit" if value is not None:
            return _exit(value, path, reader)
    return value


def _exit(value: Any, path: str, reader: Reader) -> dict[str, Any]:
    fields = reader.keys(value, path, _EXIT)
    if "status" in fields:
        reader.one_of(fields["status"], f"{path}.status", ("success", "error"))
    return fields


def _problems(values: Mapping[str, Any], path: str, reader: Reader) -> tuple[tuple[str, str], ...] | None:
    if "problems" not in values:
        return None
    found = []
    for index, item in enumerate(reader.list(values["problems"], f"{path}.problems")):
        at = f"{path}.problems[{index}]"
        fields = reader.keys(item, at, ("path", "code"), required=("path", "code"))
        found.append((str(fields.get("path")), str(fields.get("code"))))
    return tuple(found)


def _texts(values: Mapping[str, Any], key: str, path: str, reader: Reader) -> tuple[str, ...] | None:
    if key not in values:
        return None
    items = reader.list(values[key], f"{path}.{key}")
    return tuple(reader.text(item, f"{path}.{key}[{index}]") for index, item in enumerate(items))


def _nodes(value: Any, path: str, reader: Reader) -> dict[str, dict[str, Any]]:
    nodes = {}
    for node, data in reader.object(value, path).items():
        fields = reader.keys(data, f"{path}.{node}", _NODE)
        if "status" in fields:
            reader.one_of(fields["status"], f"{path}.{node}.status", _STATUSES)
        nodes[node] = fields
    return nodes


def _asked(values: Mapping[str, Any], path: str, reader: Reader) -> tuple[Question, ...] | None:
    if "asked" not in values:
        return None
    found = []
    for index, item in enumerate(reader.list(values["asked"], f"{path}.asked")):
        at = f"{path}.asked[{index}]"
        if isinstance(item, str):
            found.append(Question(item))
            continue
        fields = reader.keys(item, at, ("path", "prompt"), required=("path",))
        prompt = reader.text(fields["prompt"], f"{at}.prompt") if "prompt" in fields else None
        found.append(Question(str(fields.get("path")), prompt))
    return tuple(found)
