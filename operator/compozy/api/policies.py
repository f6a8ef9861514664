"""What depends on who asks, as ValidatingAdmissionPolicies.

The rules of the CRDs hold for everybody, but cannot see the user. These can, and need no server of ours
either. The API server evaluates the rules of the CRDs first: who is late hears that, whoever they are. A
policy that cannot be evaluated refuses.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from string import Formatter
from typing import Any

from compozy.api.base import GROUP, VERSION
from compozy.api.identity import ADMINISTRATORS, CLUSTER_KEEPERS, OPERATOR_USER, SERVICE_ACCOUNT_PREFIX

RESPOND_NOT_PERMITTED = "respond_not_permitted"

_API_VERSION = "admissionregistration.k8s.io/v1"
_USER = "request.userInfo.username"
_GROUPS = "request.userInfo.?groups.orValue([])"
_ON_STATUS = "request.?subResource.orValue('') == 'status'"


def _text(template: str, **values: str) -> str:
    """Return CEL of a text in which the value of a CEL expression stands for each `{name}`."""
    parts = []
    for literal, name, _, _ in Formatter().parse(template):
        if literal:
            parts.append(json.dumps(literal))
        if name:
            parts.append(values[name])
    return " + ".join(parts)


@dataclass(frozen=True)
class Validation:
    """CEL of what must hold, and CEL of the message when it does not."""

    expression: str
    message: str

    def manifest(self) -> dict[str, Any]:
        """Return the entry of `validations`."""
        return {"expression": self.expression, "messageExpression": self.message, "reason": "Forbidden"}


@dataclass(frozen=True)
class Policy:
    """Validations for the writes that match."""

    name: str
    resources: Sequence[str]
    validations: Sequence[Validation]
    conditions: Sequence[tuple[str, str]] = ()
    """Name and CEL: the policy only looks at writes for which all of them hold."""
    variables: Sequence[tuple[str, str]] = ()
    """Name and CEL of what several validations use."""

    def manifests(self) -> list[dict[str, Any]]:
        """Return the policy and the binding that puts it in force everywhere."""
        spec: dict[str, Any] = {
            "failurePolicy": "Fail",
            "matchConstraints": {
                "resourceRules": [
                    {
                        "apiGroups": [GROUP],
                        "apiVersions": [VERSION],
                        "operations": ["CREATE", "UPDATE"],
                        "resources": list(self.resources),
                    }
                ]
            },
        }
        for field, pairs in (("matchConditions", self.conditions), ("variables", self.variables)):
            if pairs:
                spec[field] = [{"name": name, "expression": expression} for name, expression in pairs]
        spec["validations"] = [validation.manifest() for validation in self.validations]
        binding = {"policyName": self.name, "validationActions": ["Deny"]}
        return [
            _object("ValidatingAdmissionPolicy", self.name, spec),
            _object("ValidatingAdmissionPolicyBinding", self.name, binding),
        ]


def _object(kind: str, name: str, spec: dict[str, Any]) -> dict[str, Any]:
    return {"apiVersion": _API_VERSION, "kind": kind, "metadata": {"name": name}, "spec": spec}


_IS_ANSWERED = "has(object.response) && (oldObject == null || !has(oldObject.response))"
_OLD_APPROVALS = "(oldObject == null ? [] : oldObject.?approvals.orValue([]))"
_NEW_APPROVALS = (
    f"object.?approvals.orValue([]).filter(one, !{_OLD_APPROVALS}.exists(known, known.responder == one.responder))"
)
_SAYS = ("says", f"({_IS_ANSWERED}) || {_NEW_APPROVALS}.size() > 0")
"""Matches the write that brings the response, or somebody's approval, and no later one."""

_WHERE = ("where", f"({_IS_ANSWERED}) ? 'response' : 'approvals'")
"""Which of the two it brings: the rules of the CRD let none bring both."""


def _said(field: str) -> str:
    """Return CEL of the list of what the new response or approvals say in `field`."""
    response = f"(({_IS_ANSWERED}) && has(object.response.{field}) ? [object.response.{field}] : [])"
    approvals = f"{_NEW_APPROVALS}.filter(one, has(one.{field})).map(one, one.{field})"
    return f"{response} + {approvals}"


_RESPONDER_IDENTITY = Policy(
    name="compozy-responder-identity",
    resources=["humanrequests"],
    conditions=[_SAYS],
    variables=[
        _WHERE,
        ("responders", f"({_said('responder')}).filter(name, name != {_USER})"),
        ("uids", f"({_said('uid')}).filter(uid, uid != request.userInfo.?uid.orValue(''))"),
        ("groups", f"({_said('groups')}).map(names, names.filter(name, !(name in {_GROUPS})))"),
    ],
    validations=[
        Validation(
            "variables.responders.size() == 0",
            _text(
                "`{where}.responder` must be the authenticated user, '{user}': it is '{responder}'",
                where="variables.where",
                user=_USER,
                responder="variables.responders[0]",
            ),
        ),
        Validation(
            "variables.uids.size() == 0",
            _text("`{where}.uid` must be left out or be the uid of '{user}'", where="variables.where", user=_USER),
        ),
        Validation(
            "variables.groups.all(names, names.size() == 0)",
            _text(
                "`{where}.groups` must be left out or be groups of '{user}'", where="variables.where", user=_USER
            ),
        ),
    ],
)

_RESPONDER_PERMISSION = Policy(
    name="compozy-responder-permission",
    resources=["humanrequests"],
    conditions=[_SAYS],
    variables=[("responders", "object.spec.?responders.orValue({})")],
    validations=[
        Validation(
            f"!{_USER}.startsWith('{SERVICE_ACCOUNT_PREFIX}')"
            " || variables.responders.?agents.orValue('deny') == 'allow'",
            _text(
                RESPOND_NOT_PERMITTED + ": '{user}' is an agent (a ServiceAccount), and"
                " `spec.responders.agents` denies agents: a person must answer",
                user=_USER,
            ),
        ),
        Validation(
            "(!has(variables.responders.users) && !has(variables.responders.groups))"
            f" || {_USER} in variables.responders.?users.orValue([])"
            f" || variables.responders.?groups.orValue([]).exists(group, group in {_GROUPS})",
            _text(
                RESPOND_NOT_PERMITTED + ": '{user}' is neither one of `spec.responders.users` nor in one of"
                " `spec.responders.groups`",
                user=_USER,
            ),
        ),
    ],
)


def _only_the_operator(operator_user: str, what: str) -> str:
    """Return CEL of a message that says who may do `what`, and who asked."""
    return _text(f"only the operator, '{operator_user}', may {what}: you are '{{user}}'", user=_USER)


def _keeper() -> str:
    """Return CEL that is true for those who clean up and repair."""
    return f"({_USER} in {list(CLUSTER_KEEPERS)} || '{ADMINISTRATORS}' in {_GROUPS})"


def _same_metadata(field: str, empty: str) -> str:
    """Return CEL that is true when a map or list of the metadata is as it was."""
    return f"object.metadata.?{field}.orValue({empty}) == oldObject.metadata.?{field}.orValue({empty})"


def _operator_only(operator_user: str) -> Policy:
    """Keep everything of a request but the adding of a response or an approval, and every status, to the operator.

    Labels, annotations, owners and finalizers count too: they could hide a question from those who select by
    them, keep it from being deleted, or have it deleted.
    """
    metadata = {"labels": "{}", "annotations": "{}", "ownerReferences": "[]", "finalizers": "[]"}
    return Policy(
        name="compozy-operator-only",
        resources=["humanrequests", "humanrequests/status", "planruns/status", "plans/status"],
        conditions=[("not-the-operator", f"{_USER} != '{operator_user}'")],
        variables=[("elsewhere", f"request.operation != 'UPDATE' || {_ON_STATUS}")],
        validations=[
            Validation(f"!({_ON_STATUS})", _only_the_operator(operator_user, "write `status`")),
            Validation(
                "request.operation != 'CREATE'", _only_the_operator(operator_user, "create a HumanRequest")
            ),
            Validation(
                "variables.elsewhere || object.spec == oldObject.spec",
                _only_the_operator(operator_user, "write `spec`"),
            ),
            Validation(
                "variables.elsewhere || !has(oldObject.response) || has(object.response)",
                _only_the_operator(operator_user, "hand a response back"),
            ),
            Validation(
                "variables.elsewhere || oldObject.?approvals.orValue([]).all(known,"
                " object.?approvals.orValue([]).exists(one, one.responder == known.responder))",
                _only_the_operator(operator_user, "hand an approval back"),
            ),
            *(
                Validation(
                    f"variables.elsewhere || {_keeper()} || {_same_metadata(field, empty)}",
                    _only_the_operator(operator_user, f"write `metadata.{field}` of a HumanRequest"),
                )
                for field, empty in metadata.items()
            ),
        ],
    )


def _run_starter(operator_user: str) -> Policy:
    """Make `startedBy` true, and keep the chain from a child run to its parents, which says who began it."""
    return Policy(
        name="compozy-run-starter",
        resources=["planruns"],
        validations=[
            Validation(
                f"request.operation != 'CREATE' || object.spec.?startedBy.orValue({_USER}) == {_USER}",
                _text(
                    "`spec.startedBy` must be left out or be the authenticated user, '{user}': it is '{starter}'",
                    user=_USER,
                    starter="object.spec.startedBy",
                ),
            ),
            Validation(
                f"request.operation != 'UPDATE' || {_USER} == '{operator_user}' || {_keeper()}"
                " || oldObject.metadata.?ownerReferences.orValue([])"
                f".filter(owner, owner.apiVersion.startsWith('{GROUP}/'))"
                ".all(owner, owner in object.metadata.?ownerReferences.orValue([]))",
                _only_the_operator(operator_user, "take a run from its parent"),
            ),
        ],
    )


def all_policies(operator_user: str = OPERATOR_USER) -> list[dict[str, Any]]:
    """Return every policy, each with its binding. `operator_user` is the operator as the API server names it.

    Raises ValueError when the name cannot stand in a CEL string.
    """
    if not operator_user or not operator_user.isprintable() or set(operator_user) & set("'\"\\{}"):
        raise ValueError(f"operator user {operator_user!r}: must be a name without quotes, braces, backslashes")
    policies = (
        _RESPONDER_IDENTITY,
        _RESPONDER_PERMISSION,
        _operator_only(operator_user),
        _run_starter(operator_user),
    )
    return [manifest for policy in policies for manifest in policy.manifests()]
