"""Reads the answer to a question from flags."""

from collections.abc import Mapping, Sequence
from typing import Any

from compozy.cli.errors import CliError
from compozy.cli.kube.client import Object
from compozy.cli.values import parse_value, read_json, set_path, split_pair
from compozy.language.schema import check_schema, normalize_schema
from compozy.requests.coerce import CoercionError, coerce
from compozy.requests.forms import FormField, fields
from compozy.requests.proposed import Proposed

WITH_PAYLOAD = ("respond", "edit")
"""The decisions that need a payload."""


def proposed(request: Object) -> Proposed:
    """What a review is about, as far as it is shown."""
    spec = request["spec"]
    return Proposed(spec.get("proposedPreview"), spec.get("proposalDigest"))


def schema_of(request: Object, decision: str) -> dict[str, Any]:
    """The JSON Schema of the payload of a decision. Raises CliError where no payload can be held to it."""
    spec = request["spec"]
    respond = "expect" if spec["kind"] == "Ask" else "respondSchema"
    declared = spec.get("editSchema" if decision == "edit" else respond)
    schema = normalize_schema(declared if isinstance(declared, Mapping) else {})
    if problems := check_schema(schema, "schema"):
        told = f"{problems[0].path} {problems[0].message}"
        raise CliError("bad_input", f"nobody can answer this question, whose schema is none: {told}")
    return schema


def payload_of_flags(request: Object, decision: str, payload: str | None, pairs: Sequence[str]) -> Any:
    """The payload that `--payload` and `--set` make. Raises CliError.

    A value after `--set` is read as a line typed at the terminal would be: by the type of the field. Without
    `--payload` an edit changes those fields of the proposal, and the others stay.
    """
    whole = {} if payload is None else read_json("--payload", payload)
    if not pairs:
        return whole
    schema = schema_of(request, decision)
    form = {field.name: field for field in fields(schema)}
    given = [_field_given(form, pair) for pair in pairs]
    if decision == "edit" and payload is None:
        whole, lacking = proposed(request).overlay(schema, [names for names, _ in given])
        if lacking:
            raise _not_known(lacking)
        given = [(_path_in(whole, ".".join(names)) or names, value) for names, value in given]
    if not isinstance(whole, dict):
        raise CliError("bad_input", "--set needs a payload that is an object")
    for names, value in given:
        if not names:
            return value
        set_path(whole, names, value)
    return whole


def _field_given(form: Mapping[str, FormField], pair: str) -> tuple[tuple[str, ...], Any]:
    """The path and the value that a `--set` gives. Raises CliError."""
    path, text = split_pair("--set", pair)
    try:
        value = coerce(form[path], text) if path in form else parse_value(text)
    except CoercionError as error:
        raise CliError("request_validation_failed", f"{path} {error}", {path: str(error)}) from error
    # The name of a property may have dots itself, and a form of one field is the whole answer.
    return form[path].path if path in form else tuple(path.split(".")), value


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
