"""What the API server asks about an answer before it stores it, and what it is told: AdmissionReview, version 1.

Where several people must approve, the approvals that do not decide yet are asked about too. A refusal is told
as the API server tells its own: a status whose message begins with the code, with a cause for each path that is
at fault. So a person at kubectl and a program read it like any other refusal.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from pydantic import BaseModel, Field, ValidationError

from compozy.api.base import API_VERSION, GROUP
from compozy.api.humanrequest import Approval, Approvals, HumanRequest, Response
from compozy.api.object_names import is_object_name
from compozy.requests.respond import decision_of
from compozy.requests.verdict import Identity, Refused, Verdict, bounded

REVIEW_VERSION = "admission.k8s.io/v1"
REVIEW_KIND = "AdmissionReview"

_FORBIDDEN = ("respond_not_permitted", "respond_self_denied")


class ReviewInvalid(ValueError):
    """This is no AdmissionReview that can be answered. The message says what is wrong with it."""


@dataclass(frozen=True, slots=True)
class Answering:
    """A write that brings an answer, or an approval that does not decide yet."""

    request: dict[str, Any]
    """The HumanRequest as it is stored, without the answer."""
    response: dict[str, Any] | None
    """None of an approval that does not decide yet."""
    identity: Identity
    """Who writes, as the API server authenticated them."""


@dataclass(frozen=True, slots=True)
class Review:
    """What is to be said about one write."""

    uid: str
    """To be repeated in the reply."""
    answering: Answering | None
    """None where the write brings neither: there is nothing to say against it."""


class _User(BaseModel):
    username: str = ""
    groups: list[str] = []


class _Asked(BaseModel):
    uid: str = Field(min_length=1, max_length=256)
    operation: str
    user: _User = Field(alias="userInfo")
    new: dict[str, Any] | None = Field(None, alias="object")
    old: dict[str, Any] | None = Field(None, alias="oldObject")


class _Said(BaseModel):
    """What people write: nothing else of a request can have changed."""

    response: Response | None = None
    approvals: Approvals = Field(default_factory=list)


def read_review(body: bytes) -> Review:
    """Read an AdmissionReview. Raises `ReviewInvalid`."""
    asked = _asked(body)
    old, new = asked.old, asked.new
    if asked.operation != "UPDATE" or old is None or new is None:
        return Review(asked.uid, None)
    if not (_is_request(old) and _is_request(new)):
        raise ReviewInvalid(f"the objects must be of the kind HumanRequest, {API_VERSION}")
    response = new.get("response")
    if old.get("response") is not None or (response is None and new.get("approvals") == old.get("approvals")):
        return Review(asked.uid, None)
    try:
        # What a newer CRD knows beside that is let pass.
        before = HumanRequest.model_validate(old, extra="ignore")
        said = _Said.model_validate({key: new[key] for key in _Said.model_fields if key in new}, extra="ignore")
        if response is None and not _approvers(said.approvals) - _approvers(before.approvals):
            return Review(asked.uid, None)
        name, namespace = old["metadata"]["name"], old["metadata"]["namespace"]
    except ValidationError as error:
        _raise_invalid(error)
    except KeyError as error:
        raise ReviewInvalid(f"the object has no metadata.{error.args[0]}") from None
    for text in (name, namespace, old["spec"]["run"]):
        # They become parts of what the API server is asked for.
        if not isinstance(text, str) or not is_object_name(text):
            raise ReviewInvalid("the object, its namespace and its run must have names that objects can have")
    request = {key: value for key, value in old.items() if key != "response"}
    identity = Identity(asked.user.username, frozenset(asked.user.groups))
    return Review(asked.uid, Answering(request, response, identity))


def _approvers(approvals: Sequence[Approval]) -> set[str]:
    return {approval.responder for approval in approvals}


def _asked(body: bytes) -> _Asked:
    try:
        review = json.loads(body, parse_constant=_refuse_constant)
    except RecursionError:
        raise ReviewInvalid("the body nests too deep to be read") from None
    except ValueError as error:
        raise ReviewInvalid(f"the body is no JSON: {error}"[:500]) from None
    if not isinstance(review, dict) or (review.get("apiVersion"), review.get("kind")) != (
        REVIEW_VERSION,
        REVIEW_KIND,
    ):
        raise ReviewInvalid(f"the body must be an {REVIEW_KIND} of {REVIEW_VERSION}")
    try:
        return _Asked.model_validate(review.get("request"))
    except ValidationError as error:
        _raise_invalid(error)


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON number")


def _raise_invalid(error: ValidationError) -> NoReturn:
    first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    place = ".".join(map(str, first["loc"])) or "request"
    raise ReviewInvalid(f"{place}: {first['msg']}"[:500]) from None


def _is_request(item: Mapping[str, Any]) -> bool:
    return item.get("kind") == "HumanRequest" and item.get("apiVersion") == API_VERSION


def reply(review: Review, verdict: Verdict | None) -> dict[str, Any]:
    """Return the AdmissionReview that answers one; without a verdict, or with a good one, the write goes on."""
    response: dict[str, Any] = {"uid": review.uid, "allowed": True}
    if review.answering is not None and isinstance(verdict, Refused):
        response |= {"allowed": False, "status": status_of(verdict, review.answering)}
    return {"apiVersion": REVIEW_VERSION, "kind": REVIEW_KIND, "response": response}


def status_of(refused: Refused, answering: Answering) -> dict[str, Any]:
    """Return the `Status` that tells of a refusal; its first cause has the code."""
    is_forbidden = refused.code in _FORBIDDEN
    causes = _causes(refused, answering)
    return {
        "status": "Failure",
        "code": 403 if is_forbidden else 422,
        "reason": "Forbidden" if is_forbidden else "Invalid",
        "message": f"{refused.code}: {refused.message}"[:4096],
        "details": {
            "group": GROUP,
            "kind": "HumanRequest",
            "name": answering.request["metadata"]["name"],
            **({"causes": causes} if causes else {}),
        },
    }


def _causes(refused: Refused, answering: Answering) -> list[dict[str, str]]:
    # kubectl shows the causes in place of the message, and the code must be among what it shows.
    if answering.response is None:
        texts = (refused.code, refused.message)
        return [_cause("FieldValueInvalid", "approvals", text) for text in texts]
    details = bounded(refused.details)
    if not details:
        return []
    kind = "FieldValueNotFound" if refused.reason == "unknown_reference" else "FieldValueInvalid"
    decides = decision_of(answering.request, answering.response) in answering.request["spec"]["decisions"]
    root = "response.payload" if decides else "response"
    causes = [_cause(kind, field_of(path, root), text) for path, text in details.items()]
    return [_cause("FieldValueInvalid", "response", refused.code), *causes]


def field_of(path: str, root: str = "response.payload") -> str:
    """Return the path from the object for one from the payload, whose own is `payload`."""
    return root if path == "payload" else f"{root}.{path}"


def _cause(reason: str, field: str, message: str) -> dict[str, str]:
    return {"reason": reason, "field": field, "message": message}
