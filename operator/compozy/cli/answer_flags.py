"""Reads the answer to a question from flags."""

from collections.abc import Mapping, Sequence
from typing import Any

from compozy.cli.errors import CliError
from compozy.cli.kube.client import Object
from compozy.cli.values import read_json
from compozy.language.schema import check_schema, normalize_schema


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
    """The payload that `--payload` and `--set` make: without `--payload`, an edit changes the proposal.

    Raises CliError.
    """
    whole = {} if payload is None else read_json("--payload", payload)
    if not pairs:
        return whole
    # Only here: an answer without fields needs no form.
    from compozy.cli.field_flags import with_fields
    from compozy.requests.proposed import Proposed

    proposed = Proposed.of(request["spec"]) if decision == "edit" and payload is None else None
    return with_fields(whole, pairs, schema_of(request, decision), proposed)
