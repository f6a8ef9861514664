"""The life of an answer: whether it is admitted, decided by named checks in one visible order.

`CHECKS` is the specification. Each check is a pure function of what was gathered; the first that refuses
names the code. Every refusal leaves the question open. That only one answer is ever admitted is not decided
here but by the API server.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from compozy.language.annotations import may_name_entities
from compozy.language.schema import SchemaInvalid, field_errors, normalize_schema
from compozy.language.shapes.bounds import dotted, json_faults
from compozy.language.shapes.canonical import canonical_json
from compozy.language.shapes.plain import surely_conforms
from compozy.requests.approvals import needed, others_missing
from compozy.requests.state import WITH_PAYLOAD, state_of
from compozy.requests.verdict import Accepted, Identity, Reason, Refused, Verdict

__all__ = [
    "APPROVAL_CHECKS",
    "CHECKS",
    "Accepted",
    "Catalog",
    "Identity",
    "Refused",
    "Verdict",
    "decision_of",
    "judge",
    "judge_approval",
    "refused_decision",
    "same_answer",
]

Catalog = Callable[[str, str], bool]
"""Whether the entity of this kind and name exists in the request's workspace."""

_MAX_NAMED = 5
_QUICK = 4 * 1024
"""Longest payload that is quickly judged, in characters of compact JSON."""
MAX_PAYLOAD = 128 * 1024
"""Longest payload, in characters of compact JSON: it becomes a node's output on the run."""


@dataclass(frozen=True, slots=True)
class _Case:
    request: Mapping[str, Any]
    response: Mapping[str, Any]
    identity: Identity
    started_by: Sequence[str | None]
    catalog: Catalog

    @property
    def spec(self) -> Mapping[str, Any]:
        spec: Mapping[str, Any] = self.request["spec"]
        return spec

    @property
    def decision(self) -> str | None:
        return decision_of(self.request, self.response)

    @property
    def payload(self) -> Any:
        return self.response.get("payload")

    @property
    def schema(self) -> dict[str, Any]:
        """The schema of the payload of a decision that takes one. Raises `SchemaInvalid`."""
        respond = "expect" if self.spec["kind"] == "Ask" else "respondSchema"
        return normalize_schema(self.spec.get("editSchema" if self.decision == "edit" else respond, {}))


def judge(
    request: Mapping[str, Any],
    response: Mapping[str, Any],
    identity: Identity,
    started_by: Sequence[str | None],
    catalog: Catalog,
) -> Verdict:
    """Decide whether `response` answers `request`.

    Args:
        request: the HumanRequest as it was before this response.
        response: decision, payload and note.
        identity: who answers.
        started_by: who started the run, then its parent run, and so on to the first; None where that is not
        known. catalog: tells whether a named entity exists.
    """
    case = _Case(request, response, identity, started_by, catalog)
    for check in CHECKS:
        refused = check(case)
        if refused is not None:
            return refused
    decision = case.decision or ""
    return Accepted(decision, case.payload if decision in WITH_PAYLOAD else None)


def is_quickly_judged(request: Mapping[str, Any], response: Mapping[str, Any]) -> bool:
    """Return whether `judge` takes well under a millisecond, whoever wrote what is judged.

    So it is for a small answer to a plain question, as nearly all are. Nothing is said of the verdict.
    """
    decision = decision_of(request, response)
    if decision not in WITH_PAYLOAD:
        return True
    case = _Case(request, response, Identity(""), (), lambda _kind, _name: True)
    payload = case.payload
    if json_faults(payload) or len(canonical_json(payload)) > _QUICK:
        return False
    try:
        return surely_conforms(case.schema, payload)
    except SchemaInvalid:
        return False


def judge_approval(
    request: Mapping[str, Any], identity: Identity, started_by: Sequence[str | None]
) -> Refused | None:
    """Why somebody may not approve a question that needs more approvals than theirs; None where they may.

    The arguments are those of `judge`. Approvals that are there already play no part.
    """
    case = _Case(request, {"decision": "approve"}, identity, started_by, lambda _kind, _name: True)
    return next((refused for check in APPROVAL_CHECKS if (refused := check(case)) is not None), None)


def same_answer(request: Mapping[str, Any], response: Mapping[str, Any]) -> bool:
    """Return whether `response` says what the recorded one says: same responder, decision and JSON payload.

    Whoever sends an answer again because they never heard that it arrived gets the recorded answer, not a
    refusal.
    """
    recorded = request.get("response")
    if not recorded or recorded["responder"] != response.get("responder"):
        return False
    decision = decision_of(request, recorded)
    if decision != decision_of(request, response):
        return False
    if decision not in WITH_PAYLOAD:
        return True
    given, known = response.get("payload"), recorded.get("payload")
    if json_faults(given) or json_faults(known):
        return False
    return canonical_json(given) == canonical_json(known)


def decision_of(request: Mapping[str, Any], response: Mapping[str, Any]) -> str | None:
    """Return what was decided. An answer to an ask need not say that it responds; a review's must say."""
    decision: str | None = response.get("decision") or ("respond" if request["spec"]["kind"] == "Ask" else None)
    return decision


def _still_open(case: _Case) -> Refused | None:
    """Late answers hear what became of the question. Its state decides, never the clock."""
    state = state_of(case.request)
    if state == "Expired":
        return Refused("request_expired", "the question has expired: nobody answered in time")
    if state == "Canceled":
        return Refused("request_canceled", "the question was canceled: nobody needs to answer it any more")
    recorded = case.request.get("response")
    if recorded or state != "Pending":
        by = f" by {recorded['responder']}" if recorded else ""
        return Refused("request_already_answered", f"the question was already answered{by}")
    return None


def _decision_allowed(case: _Case) -> Refused | None:
    """A decision must be one of those the question was opened with."""
    return refused_decision(case.decision, case.spec["decisions"])


def refused_decision(decision: str | None, allowed: Sequence[str]) -> Refused | None:
    """Why a question that allows these does not take a decision; None where it does."""
    if decision in allowed:
        return None
    listed = ", ".join(allowed)
    fault = f"must be one of {listed}" if decision is not None else f"is required: one of {listed}"
    return Refused("request_validation_failed", f"the decision {fault}", {"decision": fault})


def _not_own_run(case: _Case) -> Refused | None:
    """An agent never answers a run that it started, itself or through child runs; in doubt it does not."""
    if not case.identity.is_agent:
        return None
    if case.identity.user in case.started_by:
        return Refused("respond_self_denied", "an agent may not answer a run that it started")
    if not case.started_by or None in case.started_by:
        return Refused("respond_self_denied", "who started the run is not known, so no agent may answer it")
    return None


def _agents_allowed(case: _Case) -> Refused | None:
    """Agents answer only where the author lets them."""
    if not case.identity.is_agent or _responders(case).get("agents", "deny") == "allow":
        return None
    return Refused("respond_not_permitted", "a person must answer: the question does not let agents answer")


def _named_responder(case: _Case) -> Refused | None:
    """Where the author names users or groups, nobody else answers, whatever they may do in the cluster."""
    users, groups = _responders(case).get("users"), _responders(case).get("groups")
    if users is None and groups is None:
        return None
    known = case.identity.groups
    by_group = groups and (known is None or not known.isdisjoint(groups))
    if case.identity.user in (users or ()) or by_group:
        return None
    named = " ".join(part for part in (_named(users, "user"), _named(groups, "group")) if part)
    message = f"{case.identity.user} may not answer: only {named or 'nobody'} may"
    return Refused("respond_not_permitted", message)


def _initiator_allowed(case: _Case) -> Refused | None:
    """Where two people are wanted, whoever started the run is not the second."""
    if _responders(case).get("initiator", "allow") == "allow":
        return None
    if case.identity.user in case.started_by or not case.started_by or None in case.started_by:
        return Refused("respond_self_denied", "somebody other than who started the run must answer")
    return None


def _enough_approvals(case: _Case) -> Refused | None:
    """Where several people must approve, only the last of them decides; whoever rejects decides at once."""
    missing = others_missing(case.request, case.identity.user)
    if case.decision != "approve" or not missing:
        return None
    others = "1 other" if missing == 1 else f"{missing} others"
    message = f"{others} of {needed(case.request)} must approve before this can be the decision"
    return Refused("approvals_missing", message, {"approvals": message})


def _shape(case: _Case) -> Refused | None:
    """The payload must conform to the schema that was frozen with the question."""
    if case.decision not in WITH_PAYLOAD:
        return None
    if "payload" not in case.response:
        return _misshapen({"payload": f"is required with `{case.decision}`"})
    try:
        faults = field_errors(case.schema, case.payload) or _size_fault(case.payload)
    except SchemaInvalid as error:
        faults = {"payload": f"cannot be checked, since the question's schema is unusable: {error}"[:1000]}
    return _misshapen(faults) if faults else None


def _hidden(case: _Case) -> Refused | None:
    """An edit gives a value for what is hidden, never the marker in its place: the action would run with that."""
    if case.decision != "edit":
        return None
    from compozy.requests.proposed import Proposed

    told = "has a marker in place of what is hidden: give the value itself"
    faults = {dotted(pointer): told for pointer in Proposed.of(case.spec).markers_in(case.payload)}
    return _misshapen(faults) if faults else None


def _size_fault(payload: Any) -> dict[str, str]:
    size = len(canonical_json(payload))
    if size <= MAX_PAYLOAD:
        return {}
    return {"payload": f"has {size} characters as JSON; at most {MAX_PAYLOAD} fit: answer with a reference"}


def _misshapen(faults: dict[str, str]) -> Refused:
    path, fault = next(iter(faults.items()))
    more = f", and {len(faults) - 1} more" if len(faults) > 1 else ""
    return Refused("request_validation_failed", f"{path} {fault}{more}", faults)


def _entities(case: _Case) -> Refused | None:
    """What the payload names must exist in the request's workspace."""
    if case.decision not in WITH_PAYLOAD or not may_name_entities(case.schema):
        return None
    # Only here, as elsewhere for what an answer rarely needs: the plugin would load it at each start.
    from compozy.redaction.redactor import redact_text
    from compozy.requests.entities import references

    try:
        named = references(case.schema, case.payload)
    except ValueError as error:  # too costly: the schema was fine a moment ago
        return _misshapen({"payload": str(error)})
    faults: dict[str, str] = {}
    reasons: list[Reason] = []
    for reference in named:
        if not isinstance(reference.value, str):
            faults[reference.path] = f"must be the name of a {reference.kind}"
            reasons.append("invalid_kind_payload")
        elif not case.catalog(reference.kind, reference.value.strip()):
            faults[reference.path] = f"there is no {reference.kind} '{redact_text(reference.value)[:100]}' here"
            reasons.append("unknown_reference")
    if not faults:
        return None
    path, fault = next(iter(faults.items()))
    return Refused("input_validation", f"{path}: {fault}", faults, "response", path, reasons[0])


def _responders(case: _Case) -> Mapping[str, Any]:
    return case.spec.get("responders") or {}


def _named(names: Sequence[str] | None, what: str) -> str:
    if not names:
        return ""
    more = f" and {len(names) - _MAX_NAMED} more" if len(names) > _MAX_NAMED else ""
    return f"{what}{'s' if len(names) > 1 else ''} {', '.join(names[:_MAX_NAMED])}{more}"


Check = Callable[[_Case], Refused | None]

APPROVAL_CHECKS: tuple[Check, ...] = (
    _still_open,
    _decision_allowed,
    _not_own_run,
    _agents_allowed,
    _named_responder,
    _initiator_allowed,
)
"""The checks of an approval that does not decide yet."""

CHECKS: tuple[Check, ...] = (*APPROVAL_CHECKS, _enough_approvals, _shape, _hidden, _entities)
"""The checks in the order in which they are made; the first that refuses decides."""
