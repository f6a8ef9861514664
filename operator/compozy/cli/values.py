"""Values on the command line: JSON, `@file`, `-` for stdin, and `key=value`."""

from collections.abc import Mapping, Sequence
from typing import Any

from compozy.cli.errors import CliError
from compozy.cli.textfile import STDIN, read_text
from compozy.language.json_text import JsonInvalid, parse_json


def read_json(flag: str, text: str) -> Any:
    """The JSON that a flag gives: itself, in `@file`, or on stdin. Raises CliError `bad_input`."""
    if text == STDIN:
        content = read_text(STDIN)
    elif text.startswith("@"):
        content = read_text(text[1:])
    else:
        content = text
    try:
        return parse_json(content)
    except JsonInvalid as error:
        raise CliError("bad_input", f"{flag} {error}") from error


def split_pair(flag: str, text: str) -> tuple[str, str]:
    """`key=value` in two. Raises CliError `bad_input`."""
    key, equals, value = text.partition("=")
    if not equals or not key:
        raise CliError("bad_input", f"{flag} {text!r} is not of the form key=value")
    return key, value


def parse_value(text: str) -> Any:
    """A value as JSON where it is JSON, else the text itself."""
    try:
        return parse_json(text)
    except JsonInvalid:
        return text


def read_inputs(
    document: str | None, pairs: Sequence[str], schema: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """The inputs of a run: `--inputs` is the base, each `--input` overrides. Raises CliError `bad_input`.

    The value of an `--input` is JSON where it can be, and text where the plan's schema wants text: a version
    `2` is the text it looks like.
    """
    inputs: Any = {} if document is None else read_json("--inputs", document)
    if not isinstance(inputs, dict):
        raise CliError("bad_input", "--inputs must be a JSON object")
    for pair in pairs:
        key, text = split_pair("--input", pair)
        value = parse_value(text)
        inputs[key] = text if _wants_text(schema, key) and not isinstance(value, str) else value
    return inputs


def _wants_text(schema: Mapping[str, Any] | None, key: str) -> bool:
    properties = (schema or {}).get("properties")
    declared = properties.get(key) if isinstance(properties, Mapping) else None
    return isinstance(declared, Mapping) and declared.get("type") == "string"


def set_path(target: dict[str, Any], path: Sequence[str], value: Any) -> None:
    """Sets a value by its path, making objects on the way. Raises CliError where there is no object."""
    *parents, last = path
    at = target
    for key in parents:
        at = at.setdefault(key, {})
        if not isinstance(at, dict):
            raise CliError("bad_input", f"--set {'.'.join(path)}: {key!r} is not an object")
    at[last] = value
