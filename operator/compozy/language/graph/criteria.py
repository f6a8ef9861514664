"""The criteria of a gate: commands, agents that judge, people, and tools."""

from collections.abc import Mapping
from typing import Any, Final

from compozy.language.compiled import ApprovalSpec, CallSpec, Criterion, JudgeSpec
from compozy.language.graph.fields import Fields
from compozy.language.graph.outline import ID_RULE, is_id
from compozy.language.graph.people import read_expiry, read_responders
from compozy.language.graph.tool import call_of

COMMAND: Final = "command"
"""The tool that runs the check of a command: its input is `{check}`, its result `{exit_code, stdout}`."""

_INVALID: Final = "gate_criterion_invalid"
_KEYS: Final[Mapping[str, tuple[str, ...]]] = {
    "command": ("check", "expect", "contains"),
    "agent-judge": ("agent", "rubric", "prompt"),
    "human": ("prompt", "responders", "expires"),
    "extension": ("tool", "inputs"),
}


def compile_criterion(value: Any, key: str, fields: Fields) -> Criterion | None:
    """Compile one criterion; None where it cannot be right, with the problems recorded."""
    before = len(fields.problems)
    kind = value.get("type") if isinstance(value, Mapping) else None
    if not isinstance(kind, str) or kind not in _KEYS:
        fields.report(f"{key}.type", _INVALID, f"`type` must be one of {', '.join(_KEYS)}")
        return None
    values = fields.keys(value, key, ("id", "type", *_KEYS[kind]), refusal=_INVALID)
    criterion_id = values.get("id")
    if not is_id(criterion_id):
        fields.report(f"{key}.id", _INVALID, f"a criterion needs an `id`: {ID_RULE}")
    spec: ApprovalSpec | CallSpec | JudgeSpec | None
    match kind:
        case "command":
            spec = _command(values, key, fields)
        case "agent-judge":
            spec = _judge(values, key, fields)
        case "human":
            spec = _human(values, key, fields)
        case _:
            spec = call_of(values.get("tool"), f"{key}.tool", values.get("inputs", {}), f"{key}.inputs", fields)
    if spec is None or len(fields.problems) > before:
        return None
    expect, contains = values.get("expect", "exit_zero"), values.get("contains", "")
    return Criterion(str(criterion_id), kind, spec, expect, contains)  # type: ignore[arg-type]


def _command(values: Mapping[str, Any], key: str, fields: Fields) -> CallSpec | None:
    expect, contains = values.get("expect", "exit_zero"), values.get("contains")
    if expect not in ("exit_zero", "exit_nonzero", "stdout_contains"):
        fields.report(f"{key}.expect", _INVALID, "must be exit_zero, exit_nonzero or stdout_contains")
    elif (expect == "stdout_contains") != (isinstance(contains, str) and contains != ""):
        fields.report(f"{key}.contains", _INVALID, "`contains` is text that belongs to `expect: stdout_contains`")
    check = values.get("check")
    if not isinstance(check, str) or not check.strip():
        fields.report(f"{key}.check", _INVALID, "`check` is required: a command of a shell")
        return None
    compiled = fields.value({"check": check}, key)
    if compiled is None:
        return None
    if not all(template.quotes_for_shell for _, template in compiled):
        message = "a value in a command must be quoted: end every `{{ … }}` with `| shellQuote`"
        fields.report(f"{key}.check", "gate_check_unquoted", message)
    return CallSpec(COMMAND, compiled)


def _judge(values: Mapping[str, Any], key: str, fields: Fields) -> JudgeSpec | None:
    written = [name for name in ("rubric", "prompt") if name in values]
    if len(written) != 1:
        fields.report(key, _INVALID, "an agent-judge has exactly one of `rubric` and `prompt`")
        return None
    rubric = fields.text(values[written[0]], f"{key}.{written[0]}")
    agent = fields.text(values["agent"], f"{key}.agent") if "agent" in values else None
    return None if rubric is None else JudgeSpec(agent, rubric)


def _human(values: Mapping[str, Any], key: str, fields: Fields) -> ApprovalSpec | None:
    prompt = fields.text(values.get("prompt"), f"{key}.prompt")
    responders = read_responders(values.get("responders"), f"{key}.responders", fields, ("approve", "reject"))
    after, _ = read_expiry(values.get("expires"), f"{key}.expires", fields, _INVALID, routes=False)
    return None if prompt is None else ApprovalSpec(prompt, responders, after)
