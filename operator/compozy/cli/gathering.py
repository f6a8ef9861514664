"""Reads what a judgement about an answer needs to know, and has it judged before anything is written.

The judgement itself is `compozy.requests.respond`, the same that the operator makes. Here it only saves a
person from waiting: the API server and the operator decide whatever the plugin thinks. So what we may not
read is left to them.
"""

from collections.abc import Iterator

from compozy.api.object_names import is_object_name
from compozy.cli.catalog import NAMED_OBJECTS, name_of_entry
from compozy.cli.failures import refusal
from compozy.cli.kube.client import Client, Identity, Object
from compozy.cli.kube.errors import ApiError, UnreachableError
from compozy.cli.kube.resources import CATALOG_ENTRIES, PLAN_RUNS
from compozy.cli.session import Session
from compozy.language.shapes.bounds import json_faults
from compozy.language.shapes.canonical import as_given_back
from compozy.requests.respond import Catalog, Refused, judge, judge_approval
from compozy.requests.respond import Identity as Responder

_DEEPEST = 256
"""As many ancestors as a run can have before we give up looking for the first."""


def check_answer(session: Session, request: Object, response: Object) -> None:
    """Raises CliError when the response would not be accepted."""
    verdict = judge(
        request,
        _as_stored(response),
        _responder(session),
        _starters(session.client, request, session.identity),
        _catalog(session.client, request["metadata"]["namespace"]),
    )
    if isinstance(verdict, Refused):
        raise refusal(verdict.code, verdict.message, verdict.details, verdict.reason)


def _as_stored(response: Object) -> Object:
    """The response as the operator will read it. One that cannot be stored is judged as it is."""
    if "payload" not in response or json_faults(response["payload"]):
        return response
    return {**response, "payload": as_given_back(response["payload"])}


def check_approval(session: Session, request: Object) -> None:
    """Raises CliError when an approval that does not decide yet would not count."""
    refused = judge_approval(request, _responder(session), _starters(session.client, request, session.identity))
    if refused is not None:
        raise refusal(refused.code, refused.message, refused.details)


def _responder(session: Session) -> Responder:
    return Responder(session.identity.username, frozenset(session.identity.groups))


def _starters(client: Client, request: Object, identity: Identity) -> list[str | None]:
    """Who started the run, its parent and so on; read only where the question depends on it."""
    responders = request["spec"].get("responders") or {}
    if not Responder(identity.username).is_agent and responders.get("initiator", "allow") == "allow":
        return []
    return [None if run is None else run["spec"].get("startedBy") for run in _lineage(client, request)]


def paused_run(client: Client, request: Object) -> str | None:
    """The run that keeps an answer from being taken up: the one that asks or one that started it, while paused.

    None where that cannot be found out, whatever the reason: the answer is stored by then, and stands.
    """
    paused = (run for run in _lineage(client, request) if run is not None and run["spec"].get("paused"))
    try:
        found = next(paused, None)
    except (ApiError, UnreachableError):
        return None
    return None if found is None else str(found["metadata"]["name"])


def _lineage(client: Client, request: Object) -> Iterator[Object | None]:
    """The run that asks, the one that started it, and so on to the first; at last None where that is not known."""
    namespace, name = request["metadata"]["namespace"], request["spec"]["run"]
    for _ in range(_DEEPEST):
        try:
            run = client.get(PLAN_RUNS, namespace, name)
        except ApiError as error:
            if error.status not in (403, 404):
                raise
            break
        yield run
        parent = _parent_of(run)
        if parent is None:
            return
        name = parent
    yield None


def _parent_of(run: Object) -> str | None:
    """The name of the run that started this one."""
    for owner in run["metadata"].get("ownerReferences") or ():
        if owner["kind"] == PLAN_RUNS.kind and owner["apiVersion"] == PLAN_RUNS.api_version:
            return str(owner["name"])
    return None


def _catalog(client: Client, namespace: str) -> Catalog:
    """Looks entities up in the request's namespace. What we may not read counts as there."""

    def exists(kind: str, name: str) -> bool:
        try:
            return _exists(client, namespace, kind, name)
        except ApiError as error:
            if error.status != 403:
                raise
            return True

    return exists


def _exists(client: Client, namespace: str, kind: str, name: str) -> bool:
    if kind not in NAMED_OBJECTS:
        entries = client.list(CATALOG_ENTRIES, namespace).items
        return any(entry["spec"]["kind"] == kind and name_of_entry(entry) == name for entry in entries)
    if not is_object_name(name):
        return False
    try:
        client.get(NAMED_OBJECTS[kind], namespace, name)
    except ApiError as error:
        if not error.not_found:
            raise
        return False
    return True
