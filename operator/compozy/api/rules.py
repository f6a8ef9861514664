"""What the API server itself refuses, as CEL rules of the CRDs.

These hold whoever writes and through whichever door: merge patch, JSON patch, server-side apply, replace or
the status subresource. The API server evaluates them inside the same compare-and-swap that stores the object,
so of any number of concurrent answers one is admitted. A rule compares with `oldSelf` as stored.

CEL cannot read inside free-form fields, and cannot even name one that has no type, such as `payload`; but
when a part that contains one is compared with `==`, all of its JSON counts.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from compozy.api.base import MAX_NAME, ApiModel
from compozy.api.humanrequest import Approval, HumanRequest, HumanRequestSpec
from compozy.api.limits import MAX_APPROVALS
from compozy.api.plan import Plan, PlanSpec
from compozy.api.planrun import PlanRun, PlanRunSpec, PlanRunStatus

REQUEST_ALREADY_ANSWERED = "request_already_answered"
REQUEST_EXPIRED = "request_expired"
REQUEST_CANCELED = "request_canceled"
REQUEST_VALIDATION_FAILED = "request_validation_failed"
APPROVALS_MISSING = "approvals_missing"

MUTABLE_RUN_FIELDS = ("paused", "canceled", "canceledRequests", "retries", "ttlSecondsAfterFinished")
"""What of a run's spec may change after it was created."""

TERMINAL_PHASES = ("Succeeded", "Failed", "Canceled")


@dataclass(frozen=True)
class Rule:
    """One CEL rule. `message` says what was wrong and what one can do; `field` is blamed for it."""

    rule: str
    message: str
    field: str | None = None
    message_expression: str | None = None
    """CEL that gives a message in place of `message`."""
    on_create: bool = False
    """Also evaluated on create, with `oldSelf` as an optional: for rules that only speak of creation."""
    reason: Literal["FieldValueForbidden", "FieldValueInvalid"] = "FieldValueForbidden"

    def manifest(self) -> dict[str, Any]:
        """Return the entry of `x-kubernetes-validations`."""
        entry: dict[str, Any] = {"rule": self.rule, "message": self.message, "reason": self.reason}
        if self.message_expression:
            entry["messageExpression"] = self.message_expression
        if self.field:
            entry["fieldPath"] = self.field
        if self.on_create:
            entry["optionalOldSelf"] = True
        return entry


# `approvals` always has its default, so the API server can tell how long it is and what the rules may cost.
_NEW_APPROVALS = (
    "self.approvals.filter(one, !oldSelf.approvals.exists(known, known.responder == one.responder)).size()"
)
_WAS_OPEN = "(oldSelf.status.state == 'Pending' && !has(oldSelf.response))"
_OTHERS_MISSING = (
    "self.spec.responders.approvals - 1"
    " - self.approvals.filter(one, one.responder != self.response.responder).size()"
)

_NUMERALS = "".join(f"{number:2}" for number in range(1, MAX_APPROVALS + 1))


def _numeral(number: str) -> str:
    """Return CEL of the numeral of an integer from 1 to 20. The API server bounds the cost of a message by how
    long it may be, and takes what `string` makes for endless.
    """
    return f"'{_NUMERALS}'.substring(2 * ({number}) - 2, 2 * ({number})).trim()"


# Who is late hears only that: the rules below that speak of what is missing hold while the question is open.
_APPROVAL_RULES = (
    Rule(
        "oldSelf.hasValue() || self.approvals.size() == 0",
        "a request is created without approvals: add them once the request is open",
        field=".approvals",
        on_create=True,
    ),
    Rule(
        f"{_NEW_APPROVALS} == 0 || {_WAS_OPEN}",
        REQUEST_ALREADY_ANSWERED,
        field=".approvals",
        message_expression=f"oldSelf.status.state == 'Expired' ? '{REQUEST_EXPIRED}'"
        f" : oldSelf.status.state == 'Canceled' ? '{REQUEST_CANCELED}' : '{REQUEST_ALREADY_ANSWERED}'",
    ),
    Rule(
        f"!{_WAS_OPEN} || self.approvals.size() < self.spec.responders.approvals",
        f"{REQUEST_VALIDATION_FAILED}: no more `approvals` are needed: the decision itself is `response`",
        field=".approvals",
        reason="FieldValueInvalid",
    ),
    Rule(
        f"!{_WAS_OPEN} || {_NEW_APPROVALS} <= (has(self.response) ? 0 : 1)",
        f"{REQUEST_VALIDATION_FAILED}: add one approval, your own, or write `response`",
        field=".approvals",
        reason="FieldValueInvalid",
    ),
    # Only the operator takes one away (see the policies), and with it a response that rests on it.
    Rule(
        "oldSelf.approvals.all(known, self.approvals.exists(one, one.responder == known.responder))"
        " || (oldSelf.status.state == 'Pending' && self.status.state == 'Pending' && !has(self.response))",
        "an approval stands: write `response` with the decision `reject` to change your mind",
        field=".approvals",
    ),
    Rule(
        f"!has(self.response) || self.response.decision != 'approve' || !{_WAS_OPEN} || {_OTHERS_MISSING} <= 0",
        f"{APPROVALS_MISSING}: others must approve first: add yours to `approvals`",
        field=".response",
        message_expression=f"'{APPROVALS_MISSING}: ' + {_numeral(_OTHERS_MISSING)} + ' more of '"
        f" + {_numeral('self.spec.responders.approvals')}"
        " + ' must approve before `response` can: add yours to `approvals`'",
    ),
)

_APPROVAL_STANDS = Rule("self == oldSelf", "an approval never changes: write `response` to change your mind")

_REQUEST_SPEC_RULES = (
    Rule(
        "self.responders.approvals == 1 || self.decisions.all(decision, decision in ['approve', 'reject'])",
        "more than one approval needs decisions of `approve` and `reject` only",
        field=".responders",
        reason="FieldValueInvalid",
    ),
)

# `status` is dropped when an object is created, so a rule may read `self.status` only beside `oldSelf`, which
# also keeps it from being evaluated on create. `oldSelf` always has its defaults.
_REQUEST_RULES = (
    Rule(
        "self.spec == oldSelf.spec",
        "a question never changes once it is open: cancel the request and let its run ask again",
        field=".spec",
    ),
    Rule(
        "oldSelf.hasValue() || !has(self.response)",
        "a request is created without a response: add it once the request is open",
        field=".response",
        on_create=True,
    ),
    Rule(
        "!has(oldSelf.response) || !has(self.response) || self.response == oldSelf.response",
        REQUEST_ALREADY_ANSWERED,
        field=".response",
    ),
    Rule(
        "!has(oldSelf.response) || has(self.response)"
        " || (oldSelf.status.state == 'Pending' && self.status.state == 'Pending')",
        REQUEST_ALREADY_ANSWERED,
        field=".response",
    ),
    Rule(
        "!has(self.response) || has(oldSelf.response) || oldSelf.status.state == 'Pending'",
        REQUEST_EXPIRED,
        field=".response",
        message_expression=f"oldSelf.status.state == 'Expired' ? '{REQUEST_EXPIRED}' : '{REQUEST_CANCELED}'",
    ),
    Rule(
        "!has(self.response) || has(oldSelf.response) || oldSelf.status.state != 'Pending'"
        " || self.response.decision in self.spec.decisions",
        f"{REQUEST_VALIDATION_FAILED}: the decision must be one of `spec.decisions`",
        field=".response",
        message_expression=f"'{REQUEST_VALIDATION_FAILED}: `decision` must be one of: '"
        " + self.spec.decisions.join(', ')",
        reason="FieldValueInvalid",
    ),
    Rule(
        "self.status.state == oldSelf.status.state || oldSelf.status.state == 'Pending'",
        "the state of a resolved request is final: a retry of its run opens a new request",
        field=".status",
        message_expression="'the state ' + oldSelf.status.state + ' is final:"
        " a retry of the run opens a new request'",
    ),
    Rule(
        "oldSelf.status.state != 'Pending' || !(self.status.state in ['Expired', 'Canceled'])"
        " || !has(self.response)",
        REQUEST_ALREADY_ANSWERED,
        field=".status",
    ),
    Rule(
        "oldSelf.status.state != 'Pending' || self.status.state != 'Answered'"
        " || (has(self.response) && !(self.response.decision in ['decline', 'unavailable']))",
        "Answered needs a response that decides something: a response comes first",
        field=".status",
    ),
    Rule(
        "oldSelf.status.state != 'Pending' || self.status.state != 'Declined'"
        " || (has(self.response) && self.response.decision in ['decline', 'unavailable'])",
        "Declined needs a response whose decision is 'decline' or 'unavailable': a response comes first",
        field=".status",
    ),
)

_NAME_LENGTH = Rule(
    f"self.metadata.name.size() <= {MAX_NAME}",
    f"the name must be at most {MAX_NAME} characters: it becomes part of the names of what it makes",
    reason="FieldValueInvalid",
)

_PLAN_SPEC_RULES = (
    Rule(
        "has(self.steps) != has(self.graph)",
        "set exactly one of `steps` and `graph`",
        reason="FieldValueInvalid",
    ),
)


def _frozen_run_fields() -> Iterator[Rule]:
    """One rule a field, so that the refusal names the field."""
    mutable = " and ".join((", ".join(MUTABLE_RUN_FIELDS[:-1]), MUTABLE_RUN_FIELDS[-1]))
    for field in PlanRunSpec.model_fields.values():
        name = str(field.alias)
        if name not in MUTABLE_RUN_FIELDS:
            yield Rule(
                f"has(self.{name}) == has(oldSelf.{name}) && (!has(self.{name}) || self.{name} == oldSelf.{name})",
                f"a run's `{name}` never changes, only {mutable} do: start another run",
                field=f".{name}",
            )


_RUN_SPEC_RULES = (
    Rule(
        "has(self.planRef) != has(self.plan)",
        "set exactly one of `planRef` (the name of a Plan) and `plan` (a plan written here)",
        reason="FieldValueInvalid",
    ),
    *_frozen_run_fields(),
    Rule(
        "!has(oldSelf.canceled) || !oldSelf.canceled || (has(self.canceled) && self.canceled)",
        "canceling cannot be taken back: start another run",
        field=".canceled",
    ),
    Rule(
        "!has(oldSelf.canceledRequests) || (has(self.canceledRequests)"
        " && oldSelf.canceledRequests.all(name, name in self.canceledRequests))",
        "canceling a question cannot be taken back: add to the list",
        field=".canceledRequests",
    ),
    Rule(
        "!has(oldSelf.retries) || (has(self.retries) && self.retries >= oldSelf.retries)",
        "`retries` only grows: set it to the attempt that has failed, which is `status.generation`",
        field=".retries",
    ),
)

_OLD_GENERATION = "(has(oldSelf.generation) ? oldSelf.generation : 0)"
_NEW_GENERATION = "(has(self.generation) ? self.generation : 0)"

# Transition rules of `status` always have both sides: a status that is left out gets its default back.
_RUN_STATUS_RULES = (
    Rule(
        f"!has(oldSelf.phase) || !(oldSelf.phase in {list(TERMINAL_PHASES)})"
        f" || (has(self.phase) && self.phase == oldSelf.phase) || {_NEW_GENERATION} > {_OLD_GENERATION}",
        "the phase of a finished run is final until a retry opens a new generation",
        field=".phase",
    ),
    Rule(
        f"{_NEW_GENERATION} >= {_OLD_GENERATION}",
        "the generation of a run only grows: it is 1 at first and one more with each retry",
        field=".generation",
    ),
)

RULES: Mapping[type[ApiModel], tuple[Rule, ...]] = {
    HumanRequest: (*_REQUEST_RULES, *_APPROVAL_RULES),
    HumanRequestSpec: _REQUEST_SPEC_RULES,
    Approval: (_APPROVAL_STANDS,),
    Plan: (_NAME_LENGTH,),
    PlanSpec: _PLAN_SPEC_RULES,
    PlanRun: (_NAME_LENGTH,),
    PlanRunSpec: _RUN_SPEC_RULES,
    PlanRunStatus: _RUN_STATUS_RULES,
}
"""The rules of each model. They hold wherever the model is used."""
