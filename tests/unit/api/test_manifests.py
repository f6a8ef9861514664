"""What is installed, in which order, and for which operator."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compozy.api.identity import OPERATOR_NAMESPACE, OPERATOR_USER
from compozy.api.manifests import all_manifests, manifest_files
from compozy.api.policies import all_policies

pytestmark = pytest.mark.unit

OTHER = "system:serviceaccount:tools:plans"


def named(manifests: list[dict[str, Any]], kind: str, name: str) -> dict[str, Any]:
    (found,) = [one for one in manifests if (one["kind"], one["metadata"]["name"]) == (kind, name)]
    return found


def test_what_others_refer_to_comes_first() -> None:
    manifests = all_manifests()
    kinds = [manifest["kind"] for manifest in manifests]
    crds = kinds.count("CustomResourceDefinition")
    assert kinds[:crds] == ["CustomResourceDefinition"] * crds
    seen: set[tuple[str, str]] = set()
    for manifest in manifests:
        kind, metadata = manifest["kind"], manifest["metadata"]
        if "namespace" in metadata:
            assert ("Namespace", metadata["namespace"]) in seen
        if kind == "ValidatingAdmissionPolicyBinding":
            assert ("ValidatingAdmissionPolicy", manifest["spec"]["policyName"]) in seen
        if "roleRef" in manifest:
            assert (manifest["roleRef"]["kind"], manifest["roleRef"]["name"]) in seen
        seen.add((kind, metadata["name"]))


def test_everything_is_in_a_file() -> None:
    assert [one for manifests in manifest_files().values() for one in manifests] == all_manifests()


@pytest.mark.parametrize("policy", [one for one in all_policies() if "validations" in one["spec"]], ids=str)
def test_a_policy_that_cannot_be_evaluated_refuses(policy: dict[str, Any]) -> None:
    assert policy["spec"]["failurePolicy"] == "Fail"
    binding = named(all_policies(), "ValidatingAdmissionPolicyBinding", policy["metadata"]["name"])
    assert binding["spec"]["validationActions"] == ["Deny"]


def test_names_of_secrets_are_looked_up_without_a_right_to_secrets() -> None:
    """Only in the operator's own namespace, where it keeps what it has to run itself."""
    allowed = [
        (one["kind"], one["metadata"].get("namespace"))
        for one in all_manifests()
        for rule in one.get("rules", ())
        if {"secrets", "*"} & set(rule["resources"]) and {"", "*"} & set(rule["apiGroups"])
    ]
    assert set(allowed) == {("Role", OPERATOR_NAMESPACE)}


@pytest.mark.parametrize(
    ("user", "subject"),
    [
        (
            OPERATOR_USER,
            {"kind": "ServiceAccount", "name": "compozy-operator", "namespace": "compozy-system"},
        ),
        (OTHER, {"kind": "ServiceAccount", "name": "plans", "namespace": "tools"}),
        ("operator@example.com", {"kind": "User", "name": "operator@example.com"}),
    ],
)
def test_the_operator_may_have_another_name(user: str, subject: dict[str, str]) -> None:
    manifests = all_manifests(user)
    for kind in ("ClusterRoleBinding", "RoleBinding"):
        (found,) = named(manifests, kind, "compozy-operator")["subjects"]
        assert subject.items() <= found.items()
    policies = json.dumps([one for one in manifests if one["kind"] == "ValidatingAdmissionPolicy"])
    assert (OPERATOR_USER in policies) is (user == OPERATOR_USER)
    condition = f"request.userInfo.username != '{user}'"
    assert condition in policies


@given(st.text())
def test_a_name_is_either_whole_in_the_policies_or_refused(user: str) -> None:
    try:
        policies = all_policies(user)
    except ValueError as error:
        assert "must be a name" in str(error)
    else:
        condition = named(policies, "ValidatingAdmissionPolicy", "compozy-operator-only")["spec"][
            "matchConditions"
        ]
        assert condition[0]["expression"] == f"request.userInfo.username != '{user}'"
        assert not set(user) & set("'\"\\{}\n")


@pytest.mark.parametrize("user", ["", "a'b", 'a"b', "a\\b", "a\nb", "{user}"])
def test_a_name_that_could_be_more_than_a_name_is_refused(user: str) -> None:
    with pytest.raises(ValueError, match="must be a name without quotes, braces, backslashes"):
        all_manifests(user)


@pytest.mark.parametrize("role", [one for one in all_manifests() if "rules" in one], ids=str)
def test_no_role_has_more_than_it_names(role: dict[str, Any]) -> None:
    for rule in role["rules"]:
        named_things = {*rule["apiGroups"], *rule["resources"], *rule["verbs"]}
        assert not named_things & {"*", "escalate", "bind", "impersonate", "deletecollection"}
        if "validatingwebhookconfigurations" in named_things:
            assert rule["resourceNames"]
            assert set(rule["verbs"]) == {"get", "update"}


def test_the_webhook_is_asked_about_answers_only_and_nothing_depends_on_it() -> None:
    configuration = named(all_manifests(), "ValidatingWebhookConfiguration", "compozy-answers")
    (webhook,) = configuration["webhooks"]
    assert webhook["rules"] == [
        {
            "apiGroups": ["compozy.dev"],
            "apiVersions": ["v1alpha1"],
            "operations": ["UPDATE"],
            "resources": ["humanrequests"],
            "scope": "Namespaced",
        }
    ]
    assert [one["expression"] for one in webhook["matchConditions"]] == [
        "!has(oldObject.response) && (has(object.response)"
        " || object.approvals.size() > oldObject.approvals.size())"
    ]
    wanted = ("Ignore", "None", "Equivalent", 5)
    fields = ("failurePolicy", "sideEffects", "matchPolicy", "timeoutSeconds")
    assert tuple(webhook[field] for field in fields) == wanted
    assert "caBundle" not in webhook["clientConfig"]


def test_the_api_server_calls_the_service_or_an_operator_elsewhere() -> None:
    service = named(all_manifests(), "Service", "compozy-webhook")
    called = _client(all_manifests())["service"]
    assert (called["name"], called["namespace"]) == (service["metadata"]["name"], service["metadata"]["namespace"])
    assert called["port"] in [port["port"] for port in service["spec"]["ports"]]
    elsewhere = all_manifests(webhook_url="https://127.0.0.1:9443/answers")
    assert _client(elsewhere) == {"url": "https://127.0.0.1:9443/answers"}
    assert "Service" not in [one["kind"] for one in elsewhere]


def _client(manifests: list[dict[str, Any]]) -> dict[str, Any]:
    configuration = named(manifests, "ValidatingWebhookConfiguration", "compozy-answers")
    client: dict[str, Any] = configuration["webhooks"][0]["clientConfig"]
    return client
