"""Reads single fields of an answer from flags: `--set FIELD=VALUE`."""

from collections.abc import Mapping, Sequence
from typing import Any

from compozy.cli.errors import CliError
from compozy.cli.values import parse_value, set_path, split_pair
from compozy.requests.coerce import CoercionError, coerce
from compozy.requests.forms import FormField, fields
from compozy.requests.proposed import Proposed


def with_fields(
    payload: Any, pairs: Sequence[str], schema: Mapping[str, Any], proposed: Proposed | None = None
) -> Any:
    """The payload with the fields that `--set` gives. Raises CliError.

    A value after `--set` is read as a line typed at the terminal would be: by the type of the field. With
    `proposed` those fields of the proposal change, and the others stay. What is no field at all is refused.
    """
    form = {field.name: field for field in fields(schema)}
    given = [_field_given(form, pair) for pair in pairs]
    if proposed is not None:
        payload, lacking = proposed.overlay(schema, [names for names, _ in given])
        if lacking:
            raise _not_known(lacking)
        given = [(_path_in(payload, ".".join(names)) or names, value) for names, value in given]
    if not isinstance(payload, dict):
        raise CliError("bad_input", "--set needs a payload that is an object")
    for names, value in given:
        if not (_is_foreseen(form, schema, names) or (proposed is not None and _leads_into(payload, names))):
            raise _no_field(form, ".".join(names))
        if not names:
            return value
        set_path(payload, names, value)
    return payload


def _field_given(form: Mapping[str, FormField], pair: str) -> tuple[tuple[str, ...], Any]:
    """The path and the value that a `--set` gives. Raises CliError."""
    # A name may have `=` in it: then what the form knows it by comes first.
    known = [name for name in form if pair.startswith(f"{name}=")]
    path = max(known, key=len, default="")
    path, text = (path, pair[len(path) + 1 :]) if path else split_pair("--set", pair)
    try:
        value = coerce(form[path], text) if path in form else parse_value(text)
    except CoercionError as error:
        raise CliError("request_validation_failed", f"{path} {error}", {path: str(error)}) from error
    # The name of a property may have dots itself, and a form of one field is the whole answer.
    return form[path].path if path in form else tuple(path.split(".")), value


def _is_foreseen(form: Mapping[str, FormField], schema: Mapping[str, Any], names: tuple[str, ...]) -> bool:
    """Whether a path leads to a field, into what one field holds, or where the author wants further names.

    JSON Schema allows any other name as well. But an answer is final, and such a name is a slip.
    """
    if "patternProperties" in schema or schema.get("additionalProperties", False) is not False:
        return True
    paths = [field.path for field in form.values()]
    return any(path[: len(names)] == names or names[: len(path)] == path for path in paths)


def _no_field(form: Mapping[str, FormField], given: str) -> CliError:
    from difflib import get_close_matches

    lowered = {name.casefold(): name for name in form}
    close = [lowered[name] for name in get_close_matches(given.casefold(), lowered, n=1)]
    known = f"did you mean {close[0]}?" if close else f"there is {', '.join(form) or 'none'}."
    told = (
        f"the question has no such field: {given}; {known} What no form asks for can be given with --payload JSON"
    )
    return CliError("bad_input", told, {given: "no such field"})


def _leads_into(value: Any, names: tuple[str, ...]) -> bool:
    """Whether a path leads to what is there already, or to a new name in it."""
    return any(_path_in(value, ".".join(names[:count])) for count in range(1, len(names) + 1))


def _path_in(value: Any, text: str) -> tuple[str, ...] | None:
    """The path to what is there already: the name of a property may have dots itself."""
    if not isinstance(value, Mapping):
        return None
    if text in value:
        return (text,)
    for name in value:
        rest = _path_in(value[name], text.removeprefix(f"{name}.")) if text.startswith(f"{name}.") else None
        if rest is not None:
            return (name, *rest)
    return None


def _not_known(lacking: Sequence[FormField]) -> CliError:
    """An edit would have to keep values that nobody can see here."""
    names = [field.name for field in lacking]
    # No `--set api_key=…` here: it would look like a secret, and be told without its value.
    one_by_one = "" if "payload" in names else f"give {', '.join(names)} with --set as well, or "
    return CliError(
        "bad_input",
        f"what is proposed is not shown in full: {one_by_one}give all of it with --payload JSON",
        dict.fromkeys(names, "is not shown in full"),
    )
