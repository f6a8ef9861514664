"""Gives an answer: decides on what was read, writes it on that very version, waits until it is accepted.

The API server lets one answer through and refuses the rest, whoever wrote them. Here we make sure that what
we say about it is true: a lost race is read again and decided again, a write whose acknowledgement was lost
is looked up, and a repetition by the same person is the recorded answer.
"""

import random
import time
from dataclasses import dataclass
from typing import Any

from compozy.cli.errors import CliError
from compozy.cli.failures import of_refused_response, refusal
from compozy.cli.find import get_question
from compozy.cli.gathering import check_answer, check_approval, paused_run
from compozy.cli.kube.client import FIELD_MANAGER, Identity, Object
from compozy.cli.kube.errors import ApiError, UnreachableError
from compozy.cli.kube.resources import HUMAN_REQUESTS
from compozy.cli.output.text import clean
from compozy.cli.output.times import seconds_only
from compozy.cli.session import Session
from compozy.requests.approvals import has_approved, mark, others_missing
from compozy.requests.respond import same_answer
from compozy.requests.state import is_open, state_of

TRIES = 8
"""How often a write is decided again after somebody else changed the request."""

VERSIONED_TRIES = 4
"""How many of these are bound to the version that was read. What an answer depends on never changes (the question)
or is held by the rules of the API server (that it is open): where the request never rests, these decide alone."""

WAIT_SECONDS = 10.0
"""How long to wait for the operator to accept an answer."""

RECORDED = "The answer is recorded. The operator has not taken it up yet."

_LATE = ("request_already_answered", "request_expired", "request_canceled", "approvals_missing")
"""Refusals after which the request is read again: it says what has happened meanwhile."""
_WITHOUT_PAYLOAD = ("approve", "reject", "decline", "unavailable")


@dataclass(frozen=True, slots=True)
class Answer:
    """What a person decided."""

    decision: str
    payload: Any = None
    note: str | None = None

    def as_response(self, identity: Identity, request: Object) -> Object:
        """The `response` of the request: who says it, by which of their groups they may, and what."""
        response: Object = {"decision": self.decision, "responder": identity.username}
        named = (request["spec"].get("responders") or {}).get("groups") or ()
        groups = [group for group in named if group in identity.groups]
        if identity.uid:
            response["uid"] = identity.uid
        if groups:
            response["groups"] = groups
        if self.decision not in _WITHOUT_PAYLOAD:
            response["payload"] = self.payload
        if self.note is not None:
            response["note"] = self.note
        return response


def submit(session: Session, request: Object, answer: Answer, *, wait: bool = True) -> Object:
    """Answers a question and returns it as it is afterwards: still open where more people must approve.

    With `wait`, until the operator has accepted the answer or handed it back, at most ten seconds, and not while
    the run is paused. Raises CliError: see the codes of `respond`.
    """
    for _ in range(TRIES):
        written = _write(session, request, answer)
        by = (written.get("response") or {}).get("responder")
        if not wait or by != session.identity.username or state_of(written) != "Pending":
            return written
        if paused_run(session.client, written) is not None:
            return written
        try:
            return _accepted(session, written)
        except CliError as error:
            if error.code != "approvals_missing":
                raise
            # An approval that was there did not count, so ours was not the last: it is given anew.
            request = get_question(session, written["metadata"]["name"])
    raise _kept_changing(request)


def _write(session: Session, request: Object, answer: Answer) -> Object:
    name = request["metadata"]["name"]
    response = answer.as_response(session.identity, request)
    for attempt in range(TRIES):
        if _is_recorded(request, response):
            return request
        raise_if_resolved(request)
        try:
            return _put(session, request, response, attempt)
        except ApiError as error:
            late = None if error.conflict or _is_overtaken(error) else of_refused_response(error)
            if error.not_found:
                late = CliError("request_not_found", f"request {name} is gone")
            if late is not None and late.code not in _LATE:
                raise late from error
        except UnreachableError:
            # The acknowledgement may be what was lost: only the object itself can tell.
            request = get_question(session, name)
            if not request.get("response") and not _is_recorded(request, response):
                raise
            continue
        pause_before_retry(attempt)
        request = get_question(session, name)
    raise _kept_changing(request)


def _put(session: Session, request: Object, response: Object, attempt: int) -> Object:
    """Writes an answer, or an approval where others must approve as well."""
    client, name = session.client, request["metadata"]["name"]
    if response["decision"] != "approve" or not others_missing(request, response["responder"]):
        check_answer(session, request, response)
        change = {"op": "add", "path": "/response", "value": response}
        return client.json_patch(HUMAN_REQUESTS, session.namespace, name, _patch(request, change, attempt))
    check_approval(session, request)
    approval = {key: value for key, value in response.items() if key != "decision"}
    # The list is always there: the API server puts an empty one where there is none.
    patch = _patch(request, {"op": "add", "path": "/approvals/-", "value": approval}, attempt)
    # A name for each person, so that the API server remembers when each of them approved.
    manager = f"{FIELD_MANAGER}-{mark(response['responder'])}"
    return client.json_patch(HUMAN_REQUESTS, session.namespace, name, patch, manager)


def _is_overtaken(error: ApiError) -> bool:
    """Whether an approval was refused since another came first: then ours is the decision, or there already."""
    return error.status != 403 and any(cause.field.lstrip(".") == "approvals" for cause in error.causes)


def _is_recorded(request: Object, response: Object) -> bool:
    """Whether the request says already what is to be said: the answer, or an approval that was not the last."""
    if same_answer(request, response):
        return True
    if response["decision"] != "approve" or not has_approved(request, response["responder"]):
        return False
    return is_open(request) or (request.get("response") or {}).get("decision") == "approve"


def _kept_changing(request: Object) -> CliError:
    name = request["metadata"]["name"]
    return CliError("conflict", f"request {name} kept changing while it was answered: try again")


def pause_before_retry(attempt: int) -> None:
    """Waits a little, longer each time, so that those who collided do not meet again."""
    time.sleep(random.uniform(0.5, 1.0) * min(0.02 * 2**attempt, 0.5))  # noqa: S311 - jitter


def still_open_because(session: Session, request: Object) -> str:
    """What people are told of an answer that is recorded and not yet taken up."""
    paused = paused_run(session.client, request)
    if paused is None:
        return RECORDED
    resume = f"kubectl compozy resume {paused} -n {request['metadata']['namespace']}"
    return clean(f"The answer is recorded. Run {paused} is paused: it takes the answer up after {resume}")


def raise_if_resolved(request: Object) -> None:
    """Raises CliError when nobody can answer any more. A request without a status has just opened."""
    state = state_of(request)
    name, status = request["metadata"]["name"], request.get("status") or {}
    when = f" at {seconds_only(status['resolvedAt'])}" if status.get("resolvedAt") else ""
    if request.get("response") or state in ("Answered", "Declined"):
        response = request.get("response") or {}
        by, decision = response.get("responder", "somebody"), response.get("decision", "respond")
        raise CliError(
            "request_already_answered",
            f"request {name} was already answered by {by}{when}",
            {"recorded_decision": decision},
        )
    if state == "Expired":
        raise CliError("request_expired", f"request {name} expired{when}")
    if state == "Canceled":
        raise CliError("request_canceled", f"request {name} was canceled{when}")


def _patch(request: Object, change: Object, attempt: int) -> list[Object]:
    """Makes a change to the version of the request that it was decided on, at last to the request as it is.

    A JSON patch, because a merge patch would drop what is null in the payload. Replacing the resourceVersion
    makes the API server compare it, so that a stale one is a conflict (409) like with any other write.
    """
    metadata = request["metadata"]
    guard = {"op": "replace", "path": "/metadata/resourceVersion", "value": metadata["resourceVersion"]}
    if attempt >= VERSIONED_TRIES:
        guard = {"op": "test", "path": "/metadata/uid", "value": metadata["uid"]}
    return [guard, change]


def _accepted(session: Session, written: Object) -> Object:
    """The request once the operator has taken the answer, or as it is when the time is over.

    Raises CliError when the answer was handed back or the request is gone.
    """
    # Only here: `--no-wait` watches nothing.
    from compozy.cli.kube.watch import watch_object

    ours, request = written["response"], written
    for change in watch_object(session.client, HUMAN_REQUESTS, written, WAIT_SECONDS):
        request = change.object
        if not same_answer(request, ours):
            raise _handed_back(request, ours)
        if change.deleted:
            raise CliError("request_canceled", f"request {request['metadata']['name']} was deleted with its run")
        if state_of(request) != "Pending":
            break
    return request


def _handed_back(request: Object, ours: Object) -> CliError:
    """Why our answer is not there any more."""
    rejection = (request.get("status") or {}).get("lastRejection") or {}
    if rejection.get("by") == ours["responder"]:
        code = rejection.get("code", "request_validation_failed")
        details = dict(rejection.get("fields") or {})
        return refusal(code, f"the answer was handed back: {code.replace('_', ' ')}", details)
    try:
        raise_if_resolved(request)
    except CliError as error:
        return error
    return CliError("conflict", "the answer was handed back and the question is open again")
