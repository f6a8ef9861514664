"""`kubectl compozy respond`: answers a question, field by field on a terminal or from flags."""

import sys
from collections.abc import Sequence
from typing import Any

import click

from compozy.api.limits import MAX_NOTE
from compozy.cli.answer_flags import payload_of_flags, schema_of
from compozy.cli.answering import RECORDED, Answer, raise_if_resolved, still_open_because, submit
from compozy.cli.command import command
from compozy.cli.errors import CliError
from compozy.cli.failures import of_refused_response, refusal
from compozy.cli.find import find_question, question_options
from compozy.cli.kube.client import Object
from compozy.cli.kube.errors import ApiError
from compozy.cli.provenance import provenance
from compozy.cli.session import Session
from compozy.cli.suggestions import answer_fields, decisions
from compozy.requests.approvals import approvers, needed, progress
from compozy.requests.respond import refused_decision
from compozy.requests.state import DECIDED, WITH_PAYLOAD, state_of


@command("respond")
@question_options
@click.option(
    "--decision", metavar="D", help="respond, approve, edit, reject or decline.", shell_complete=decisions
)
@click.option("--payload", metavar="JSON", help="The answer: JSON, @FILE, or - for stdin.")
@click.option(
    "--set",
    "pairs",
    multiple=True,
    metavar="K=V",
    help="One field of the answer; with edit, one that changes. Can be given again.",
    shell_complete=answer_fields,
)
@click.option("--decline", is_flag=True, help="The same as --decision decline.")
@click.option("--note", metavar="TEXT", help="A remark for whoever reads this later.")
@click.option("--no-wait", is_flag=True, help="Do not wait until the operator has accepted the answer.")
def respond(
    session: Session,
    name: str | None,
    run_name: str | None,
    node: str | None,
    generation: int | None,
    item: int | None,
    decision: str | None,
    payload: str | None,
    pairs: tuple[str, ...],
    decline: bool,
    note: str | None,
    no_wait: bool,
) -> None:
    """Answer a question: by NAME, or by --run, --node, --generation and, in a fan-out, --item.

    Without a payload the fields are asked for, one by one, where this is a terminal. One answer wins; the same
    answer again, by the same person, gives the recorded one. Where several people must approve, `--decision
    approve` adds yours, and the last that is needed decides; `--decision reject` decides at once.
    """
    if decline and decision not in (None, "decline"):
        raise click.UsageError("--decline and --decision contradict each other")
    if note is not None and len(note) > MAX_NOTE:
        fault = f"has {len(note)} characters; at most {MAX_NOTE} fit"
        raise CliError("request_validation_failed", f"the note {fault}", {"note": fault})
    try:
        request = find_question(session, name, run_name, node, generation, item, to_answer=True)
    except ApiError as error:
        raise of_refused_response(error) from error
    answer = _answer(session, request, "decline" if decline else decision, payload, pairs, note)
    written = submit(session, request, answer, wait=not no_wait)
    if session.as_json:
        session.out_json(_told(written, session.identity.username))
    else:
        _print(session, written)
        recorded = written.get("response")
        if note is not None and recorded and recorded.get("note") != note:
            session.note("Your answer was recorded before; this note was not added to it.")
        if recorded and state_of(written) == "Pending":
            session.note(RECORDED if no_wait else still_open_because(session, written))


def _answer(
    session: Session,
    request: Object,
    decision: str | None,
    payload: str | None,
    pairs: Sequence[str],
    note: str | None,
) -> Answer:
    """What was decided, from the flags or from the person at the terminal."""
    given = payload is not None or bool(pairs)
    decisions = request["spec"]["decisions"]
    refused = None if decision is None else refused_decision(decision, decisions)
    if refused is not None:
        raise_if_resolved(request)
        raise refusal(refused.code, refused.message, refused.details)
    if decision is None and (given or decisions[0] == "respond") and request["spec"]["kind"] == "Ask":
        decision = "respond"
    if decision is not None and (given or decision not in WITH_PAYLOAD):
        if given and decision not in WITH_PAYLOAD:
            raise CliError("bad_input", f"{decision} takes no payload: leave --payload and --set out")
        value: Any = payload_of_flags(request, decision, payload, pairs) if given else None
        return Answer(decision, value, note)
    raise_if_resolved(request)
    if given:
        raise _incomplete(request, decision)
    return _asked(session, request, decision, note)


def _asked(session: Session, request: Object, decision: str | None, note: str | None) -> Answer:
    # Only here: an answer in flags is given sooner.
    from compozy.cli.asking import ask_here, person_is_here
    from compozy.cli.catalog import names_in
    from compozy.requests.outcome import Answered, Declined

    if not person_is_here(session):
        raise _incomplete(request, decision)
    names = names_in(session.client, session.namespace)
    outcome = ask_here(request, sys.stdin, None if decision is None else [decision], names)
    if isinstance(outcome, Answered):
        return Answer(outcome.decision, outcome.payload, note)
    if isinstance(outcome, Declined) and "decline" in request["spec"]["decisions"]:
        return Answer("decline", None, note)
    raise CliError("bad_input", "nothing was sent: the question is still open")


def _incomplete(request: Object, decision: str | None) -> CliError:
    """Says which flags are missing, since nobody can be asked here."""
    if decision is None:
        allowed = ", ".join(request["spec"]["decisions"])
        return CliError(
            "request_validation_failed", f"--decision is required: one of {allowed}", {"decision": "required"}
        )
    from compozy.requests.forms import fields

    names = [field.name for field in fields(schema_of(request, decision))]
    # No `--set token=…`: it would look like a secret, and be told with a marker in place of the dots.
    hint = f", or each with --set FIELD=VALUE: {', '.join(names)}" if names else ""
    return CliError("bad_input", f"there is no payload: give --payload JSON{hint}")


def _told(request: Object, me: str) -> Object:
    """What has come of it, for programs."""
    spec = request["spec"]
    told = {
        "ok": True,
        "run": spec["run"],
        "node": spec["node"],
        "generation": spec["generation"],
        "item": spec.get("item"),
        "decision": (request.get("response") or {"decision": "approve"})["decision"],
        "state": state_of(request),
        "provenance": provenance(request, me),
    }
    if needed(request) > 1:
        told["approvals"] = {"given": len(approvers(request)), "needed": needed(request)}
    return told


def _print(session: Session, request: Object) -> None:
    name, response = request["metadata"]["name"], request.get("response")
    if not response:
        session.out(f"humanrequest/{name} approved: {progress(request)}")
        return
    declined = response["decision"] in ("decline", "unavailable")
    counted = progress(request) if response["decision"] == "approve" else ""
    done = "declined" if declined else DECIDED.get(response["decision"], "answered")
    session.out(f"humanrequest/{name} {done}{f': {counted}' if counted else ''}")
