"""One question in full, as text for the person who is to answer it."""

import json
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from compozy.cli.output.text import block, clean
from compozy.cli.output.times import age, seconds_only, until
from compozy.cli.provenance import approved_at
from compozy.language.json_text import readable_json
from compozy.language.problems import faults_line
from compozy.language.schema import check_schema, normalize_schema
from compozy.requests.approvals import needed, speaker, standing
from compozy.requests.forms import JSON_TYPE, MISSING, FormField, fields
from compozy.requests.state import WITH_PAYLOAD, is_open, state_of

Object = Mapping[str, Any]


def question_lines(request: Object, now: datetime, columns: int | None) -> list[str]:
    """What a person needs to decide: the whole prompt, context, fields, who may answer, until when."""
    spec, metadata = request["spec"], request["metadata"]
    lines = [f"humanrequest/{clean(metadata['name'])}  {state_of(request)}", ""]
    lines += block(spec["prompt"], columns)
    lines += [
        "",
        _line("Asked by", _asker(spec)),
        _line("Opened", _moment(metadata.get("creationTimestamp"), now)),
    ]
    if spec.get("expiresAt"):
        left = until(spec["expiresAt"], now)
        lines.append(_line("Expires", f"{seconds_only(spec['expiresAt'])} ({left})"))
    else:
        lines.append(_line("Expires", "<none>"))
    lines += [_line("Decisions", ", ".join(_decisions(spec))), _line("May answer", _responders(spec))]
    for title, key in (("Digest", "proposalDigest"), ("Revision", "revision")):
        if spec.get(key):
            lines.append(_line(title, clean(spec[key])))
    if needed(request) > 1:
        lines.append(_line("Approvals", _approvals(request)))
        lines += [_line("", told) for told in _approved(request, now)]
    lines += _block("Context", spec.get("context"), columns)
    lines += _block("Proposed", spec.get("proposedPreview"), columns)
    for title, key in (
        ("Fields", "expect"),
        ("Fields of edit", "editSchema"),
        ("Fields of respond", "respondSchema"),
    ):
        if isinstance(spec.get(key), Mapping):
            lines += ["", f"{title}:", *field_lines(spec[key], columns)]
    return lines + _outcome(request, now, columns) + _how_to_answer(request)


def field_lines(schema: Mapping[str, Any], columns: int | None) -> list[str]:
    """A line for each value to fill in, by its dotted name; the schema where no form says it as well."""
    schema = normalize_schema(schema)
    if check_schema(schema, ""):
        return ["  <nobody can answer this: no value can be held to its schema>", *_schema(schema, columns)]
    lines = [line for field in fields(schema) for line in _field(field, columns)]
    return lines or ["  <none: agreeing is the answer>"]


def _field(field: FormField, columns: int | None) -> list[str]:
    label = f" — {field.description}" if field.description else ""
    default = ""
    if field.default is not MISSING:
        default = f", default {json.dumps(field.default, ensure_ascii=False)}"
    optional = "" if field.required else ", optional"
    line = "  " + clean(f"{field.name}{label} [{field.hint}{default}{optional}]")
    return [line, *_schema(field.schema, columns)] if field.type == JSON_TYPE and field.schema else [line]


def _schema(schema: Mapping[str, Any], columns: int | None) -> list[str]:
    return block(readable_json(dict(schema)), columns, "    ")


def _decisions(spec: Object) -> list[str]:
    """What a person can decide: that nobody could be asked is for programs to say."""
    return [decision for decision in spec["decisions"] if decision != "unavailable"]


def _asker(spec: Object) -> str:
    item = f", item {spec['item']}" if spec.get("item") is not None else ""
    return clean(f"{spec['run']}/{spec['node']}, generation {spec['generation']}{item}")


def _responders(spec: Object) -> str:
    responders = spec.get("responders") or {}
    named = [f"user {name}" for name in responders.get("users") or ()]
    named += [f"group {name}" for name in responders.get("groups") or ()]
    who = clean(", ".join(named)) or "whoever may update the request"
    agents = "agents too" if responders.get("agents") == "allow" else "no agents"
    starter = ", not whoever started the run" if responders.get("initiator") == "deny" else ""
    return f"{who}; {agents}{starter}"


def _approvals(request: Object) -> str:
    rule = "; who rejects decides at once" if is_open(request) else ", by different people"
    return f"{standing(request)}{rule}"


def _approved(request: Object, now: datetime) -> Iterator[str]:
    """Who has approved without deciding, when, and what they noted."""
    for entry in request.get("approvals") or ():
        at = approved_at(request, entry["responder"])
        note = f": {entry['note']}" if entry.get("note") else ""
        yield clean(f"{speaker(entry)}{f', {_moment(at, now)}' if at else ''}{note}")


def _outcome(request: Object, now: datetime, columns: int | None) -> list[str]:
    status, response = request.get("status") or {}, request.get("response")
    lines: list[str] = []
    if response:
        resolved = status.get("resolvedAt")
        when = f", {_moment(resolved, now)}" if resolved else ", not yet taken up by the operator"
        lines += [
            "",
            _line("Answer", clean(f"{response.get('decision')} by {speaker(response)}") + when),
        ]
        if response.get("note"):
            lines.append(_line("Note", clean(response["note"])))
        decision = response.get("decision", "respond")
        counts = "" if decision in WITH_PAYLOAD else f" (without effect: {clean(decision)} takes none)"
        lines += _block(f"Payload{counts}", response.get("payload"), columns)
    elif status.get("resolvedAt"):
        lines += ["", _line("Resolved", _moment(status["resolvedAt"], now))]
    rejection = status.get("lastRejection")
    if rejection and not response:
        told = faults_line(rejection.get("fields") or {})
        lines += [
            "",
            _line(
                "Handed back",
                clean(f"{rejection['code']}, answer of {rejection['by']}{f'. {told}' if told else ''}"),
            ),
        ]
    return lines


def _how_to_answer(request: Object) -> list[str]:
    if not is_open(request):
        return []
    metadata = request["metadata"]
    return [
        "",
        f"Answer it: kubectl compozy respond {clean(metadata['name'])} -n {clean(metadata['namespace'])}",
    ]


def _block(title: str, value: Any, columns: int | None) -> list[str]:
    if value is None or value == {}:
        return []
    return ["", f"{title}:", *block(readable_json(value), columns)]


def _moment(text: str | None, now: datetime) -> str:
    return f"{seconds_only(text)} ({age(text, now)} ago)" if text else "<unknown>"


def _line(title: str, value: str) -> str:
    return f"{title + ':' if title else '':<13}{value}"
