"""Any other action of a graph plan: a tool, called by the name that its kind is."""

import re
from collections.abc import Mapping
from typing import Any, Final

from compozy.language.compiled import CallSpec
from compozy.language.graph.fields import Fields
from compozy.language.graph.made import Made
from compozy.language.keys import type_name

_NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,252}", re.ASCII)


def compile_tool(values: Mapping[str, Any], fields: Fields) -> Made | None:
    """Compile a call of a tool; None where it cannot be right, with the problems recorded."""
    call = call_of(values["kind"], "kind", values.get("params", {}), "params", fields)
    return None if call is None else Made(call)


def call_of(name: Any, name_key: str, given: Any, key: str, fields: Fields) -> CallSpec | None:
    """A call of a tool with an object; None where it cannot be right, with the problems recorded."""
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        message = "the name of a tool is a letter, then letters, digits, `_`, `.` and `-`"
        fields.report(name_key, "tool_name_invalid", message)
        return None
    if not isinstance(given, Mapping):
        fields.report(key, "invalid_type", f"must be an object, not {type_name(given)}")
        return None
    compiled = fields.value(given, key)
    return None if compiled is None else CallSpec(name, compiled)
