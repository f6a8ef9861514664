"""Every door to a question, with every change one may try there, by everybody who may stand before it.

The cells are generated, and what is expected of each follows from `expected`: a few lines that know nothing of
the rules and policies that are tested. Doors that are no more than a verb and a content type are plain HTTP; the
commands of kubectl and of the plugin are called as a person would, for a part of the cells.
"""

import copy
import itertools
import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from compozy.api.identity import OPERATOR_USER
from support.apiserver import APPLY, JSON_PATCH, MERGE, STRATEGIC, Answer, Object, User, request
from support.plans import reviewed
from support.stage import Stage, eventually

pytestmark = pytest.mark.cluster

API_VERSION = "compozy.dev/v1alpha1"
BOT = "system:serviceaccount:default:bot"
RBAC = "rbac.authorization.k8s.io"
DOORS = ("merge", "json", "strategic", "apply", "replace", "status")
VIAS = ("directly", "impersonated", "impersonated without the right")


@dataclass(frozen=True)
class Who:
    """Somebody. All but the outsider may update questions by RBAC."""

    name: str
    groups: tuple[str, ...] = ("responders",)


PEOPLE = {
    "named person": Who("alice"),
    "person not named": Who("bob"),
    "member of the group": Who("gina", ("responders", "leads")),
    "agent": Who(BOT),
    "initiator": Who("erin", ("responders", "authors")),
    "operator": Who(OPERATOR_USER, ()),
    "cluster-admin": Who("carl", ()),
    "outsider": Who("zoe", ()),
}

# The questions: who may answer them.
POLICIES: dict[str, Object] = {
    "nobody named": {},
    "users": {"users": ["alice"]},
    "groups": {"groups": ["leads"]},
    "users or groups": {"users": ["alice"], "groups": ["leads"]},
    "agents allowed": {"agents": "allow"},
    "an agent named but denied": {"users": ["alice", BOT]},
}


@dataclass(frozen=True)
class Rule:
    """One change that is tried on a question."""

    path: tuple[str, ...]
    """What of the question changes where the change is admitted."""
    value: Callable[[Who], Any]
    policy: Object
    is_answered: bool = False
    """Whether alice has answered it before."""


def own(**more: Any) -> Callable[[Who], Any]:
    return lambda who: {"responder": who.name, **more}


PLAIN: Object = {"agents": "allow"}
TWO: Object = {"agents": "allow", "approvals": 2}
RULES: dict[str, Rule] = {
    **{
        f"answer, {name}": Rule(("response",), own(decision="approve"), policy)
        for name, policy in POLICIES.items()
    },
    "decision without the approvals": Rule(("response",), own(decision="approve"), TWO),
    "first approval": Rule(("approvals",), lambda who: [{"responder": who.name}], TWO),
    "first approval, users": Rule(
        ("approvals",), lambda who: [{"responder": who.name}], {"users": ["alice", "x"], "approvals": 2}
    ),
    "first approval, initiator denied": Rule(
        ("approvals",), lambda who: [{"responder": who.name}], {**TWO, "initiator": "deny"}
    ),
    "answer, initiator denied": Rule(("response",), own(decision="approve"), {**PLAIN, "initiator": "deny"}),
    "approval of another name": Rule(("approvals",), lambda _: [{"responder": "mallory"}], TWO),
    "rejection without the approvals": Rule(("response",), own(decision="reject"), TWO),
    "answer of another name": Rule(("response",), lambda _: {"responder": "mallory", "decision": "reject"}, PLAIN),
    "foreign uid": Rule(("response",), own(decision="reject", uid="not-mine"), PLAIN),
    "foreign groups": Rule(("response",), own(decision="reject", groups=["system:masters"]), PLAIN),
    "second answer": Rule(("response",), own(decision="reject"), PLAIN, is_answered=True),
    "removal of the answer": Rule(("response",), lambda _: None, PLAIN, is_answered=True),
    "question": Rule(("spec", "prompt"), lambda _: "Another question?", PLAIN),
    "responders": Rule(("spec", "responders", "users"), lambda who: [who.name], PLAIN),
    "labels": Rule(("metadata", "labels"), lambda _: {"hidden": "yes"}, PLAIN),
    "annotations": Rule(("metadata", "annotations"), lambda _: {"note": "x"}, PLAIN),
    "owners": Rule(("metadata", "ownerReferences"), lambda _: [OWNER], PLAIN),
    "finalizers": Rule(("metadata", "finalizers"), lambda _: ["example.com/stay"], PLAIN),
    "status": Rule(("status", "state"), lambda _: "Canceled", PLAIN),
}
OWNER = {"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": ""}
"""A real object, so that nothing is deleted for the want of it; its uid is known once it is made."""

ADMITTED, IGNORED = "admitted", "admitted, and nothing changes"


def is_permitted(who: Who, policy: Object) -> bool:
    """Whether the question admits somebody."""
    if who.name.startswith("system:serviceaccount:") and policy.get("agents") != "allow":
        return False
    named, groups = policy.get("users"), policy.get("groups")
    return named is groups is None or who.name in (named or ()) or bool({*who.groups} & {*(groups or ())})


def expected(door: str, rule: str, person: str, via: str) -> str:
    """What becomes of a cell: ADMITTED, IGNORED, or part of the message of the refusal."""
    who, policy, field = PEOPLE[person], RULES[rule].policy, RULES[rule].path[-1]
    if via == VIAS[2]:
        return "cannot impersonate"
    if person == "outsider" or (door == "status" and person not in ("operator", "cluster-admin")):
        return 'resource "humanrequests'
    if door == "strategic":
        return "the body of the request was in an unknown format"
    if door == "status" and person == "cluster-admin":
        return "may write `status`: you are 'carl'"
    if (door == "status") != (rule == "status"):
        return IGNORED if "status" in (door, rule) else _of_the_question(door, rule, who, policy, field)
    return ADMITTED if door == "status" else _of_the_question(door, rule, who, policy, field)


def _of_the_question(door: str, rule: str, who: Who, policy: Object, field: str) -> str:
    """The same of what is not about the status, by somebody whom RBAC lets in."""
    known = {
        "decision without the approvals": "approvals_missing: 1 more of 2",
        "approval of another name": "it is 'mallory'",
        "answer of another name": "it is 'mallory'",
        "foreign uid": "`response.uid` must be left out",
        "foreign groups": "`response.groups` must be left out",
        "second answer": "request_already_answered",
        "question": "a question never changes",
        "responders": "a question never changes",
    }
    if rule in known:
        return known[rule]
    if rule == "removal of the answer" and door == "apply":
        return IGNORED  # Applying without a field takes away only what the same manager had applied.
    if rule == "removal of the answer" or field in ("labels", "annotations", "ownerReferences", "finalizers"):
        what = "hand a response back" if rule == "removal of the answer" else f"write `metadata.{field}`"
        return ADMITTED if who.name == OPERATOR_USER else f"may {what}"
    if policy.get("initiator") == "deny" and who == PEOPLE["initiator"]:
        return "respond_self_denied: somebody other than who started the run must answer"  # so says the webhook
    return ADMITTED if is_permitted(who, policy) else f"respond_not_permitted: '{who.name}' is "


def cells() -> Iterator[tuple[str, str, str, str]]:
    """Each door, change and identity, directly and impersonated; without that right, through one door."""
    for door, rule, person, via in itertools.product(DOORS, RULES, PEOPLE, VIAS):
        if via != VIAS[2] or door == "merge":
            yield door, rule, person, via


@dataclass
class House:
    """A namespace with the operator at work, and everybody who comes to its doors."""

    stage: Stage
    users: dict[str, User]
    with_right: User
    without_right: User
    run: str
    numbers: Iterator[int]

    def open(self, rule: Rule) -> Object:
        """A question that its run does not know of: only the API server and its webhook judge what is written."""
        name = f"door-{next(self.numbers)}"
        spec = {
            "kind": "Review",
            "decisions": ["approve", "reject"],
            "responders": rule.policy,
            "run": self.run,
        }
        opened = self.operator.create("humanrequests", request(name, **spec)).object()
        if not rule.is_answered:
            return opened
        first = {"response": {"responder": "alice", "decision": "approve"}}
        return self.users["named person"].patch("humanrequests", name, first).object()

    @property
    def operator(self) -> User:
        return self.users["operator"]

    def comes(self, person: str, via: str) -> User:
        """Somebody at a door, as themselves or by somebody who acts for them."""
        if via == VIAS[0]:
            return self.users[person]
        who = PEOPLE[person]
        acting = self.with_right if via == VIAS[1] else self.without_right
        return acting.acting_as(who.name, who.groups)


@pytest.fixture(scope="module")
def house(shared_operator: Any, make_namespace: Callable[..., Stage]) -> House:
    if shared_operator.process is None:
        shared_operator.start()
    stage = make_namespace()
    users = {key: stage.api.user(who.name, stage.namespace, who.groups) for key, who in PEOPLE.items()}
    acts = {"metadata": {"name": "acts-for-others"}, "rules": [
        {"apiGroups": [""], "resources": ["users", "groups", "serviceaccounts"], "verbs": ["impersonate"]}
    ]}  # fmt: skip
    stage.admin.call("POST", f"/apis/{RBAC}/v1/clusterroles", acts)
    for role, user in (("cluster-admin", "carl"), ("acts-for-others", "ina")):
        bound = stage.admin.kubectl(
            "create", "clusterrolebinding", user, f"--clusterrole={role}", f"--user={user}"
        )
        assert bound.returncode == 0, bound.stderr
    path = f"/api/v1/namespaces/{stage.namespace}/configmaps"
    OWNER["uid"] = stage.admin.call("POST", path, {"metadata": {"name": "owner"}}).object()["metadata"]["uid"]
    ina = stage.api.user("ina", stage.namespace)
    nils = stage.api.user("nils", stage.namespace, ["responders"])
    waiting = stage.start(None, planRef={"name": "not-there"}, startedBy="erin")
    made = House(stage, users, ina, nils, waiting, itertools.count(1))
    eventually(lambda: users["cluster-admin"].call("GET", ina.path("humanrequests")).ok, "RBAC is in force")
    eventually(
        lambda: made.comes("named person", VIAS[1]).call("GET", ina.path("humanrequests")).ok, "and for ina"
    )
    return made


def nested(path: tuple[str, ...], value: Any) -> Object:
    """A value at a path."""
    for key in reversed(path):
        value = {key: value}
    found: Object = value
    return found


def changed(found: Object, path: tuple[str, ...], value: Any) -> Object:
    """A whole object with a value at a path; without it where the value is None."""
    result = copy.deepcopy(found)
    inner = result
    for key in path[:-1]:
        inner = inner.setdefault(key, {})
    if value is None:
        inner.pop(path[-1], None)
    else:
        inner[path[-1]] = value
    return result


def json_patch(path: tuple[str, ...], value: Any) -> list[Object]:
    """The change as a JSON patch; what is there already is replaced by it."""
    pointer = "/" + "/".join(path)
    return [{"op": "remove", "path": pointer} if value is None else {"op": "add", "path": pointer, "value": value}]


def manifest(name: str, path: tuple[str, ...], value: Any) -> Object:
    """The change as it is applied: nothing but what is meant, without the version of what it was read from."""
    applied = {"apiVersion": API_VERSION, "kind": "HumanRequest", "metadata": {"name": name}}
    return applied if value is None else changed(applied, path, value)


def enter(door: str, user: User, found: Object, path: tuple[str, ...], value: Any) -> Answer:
    """Try a change through a door."""
    name = found["metadata"]["name"]
    match door:
        case "merge":
            return user.patch("humanrequests", name, nested(path, value), MERGE)
        case "strategic":
            return user.patch("humanrequests", name, nested(path, value), STRATEGIC)
        case "status":
            return user.patch("humanrequests", name, nested(path, value), MERGE, "status")
        case "json":
            return user.patch("humanrequests", name, json_patch(path, value), JSON_PATCH)
        case "apply":
            query = {"fieldManager": "somebody", "force": "true"}
            return user.patch("humanrequests", name, manifest(name, path, value), APPLY, **query)
    return user.replace("humanrequests", changed(found, path, value))


def essence(found: Object) -> Object:
    """An object without what every write leaves on it."""
    metadata = {
        key: value
        for key, value in found["metadata"].items()
        if key not in ("resourceVersion", "managedFields", "generation")
    }
    return {**found, "metadata": metadata}


def judge(before: Object, after: Object, rule: Rule, who: Who) -> str:
    """What has become of a question that was not refused."""
    if essence(after) == essence(before):
        return IGNORED
    wanted = changed(essence(before), rule.path, rule.value(who))
    assert essence(after) == wanted, "more has changed than was meant"
    return ADMITTED


@pytest.mark.timeout(600)
@pytest.mark.parametrize("rule", RULES)
def test_each_door_gives_the_same_verdict(house: House, rule: str) -> None:
    tried, wrong = RULES[rule], []
    mine = [cell for cell in cells() if cell[1] == rule]
    assert len(mine) == len(DOORS) * len(PEOPLE) * 2 + len(PEOPLE)
    for door, _, person, via in mine:
        who, before = PEOPLE[person], house.open(tried)
        answer = enter(door, house.comes(person, via), before, tried.path, tried.value(who))
        after = house.stage.admin.get("humanrequests", before["metadata"]["name"])
        told = judge(before, after, tried, who) if answer.ok else answer.message
        if not answer.ok:
            assert after == before, "a refused write has left something behind"
        hoped = expected(door, rule, person, via)
        if (hoped not in told) if not answer.ok else (hoped != told):
            wrong.append((door, person, via, hoped, told))
    assert wrong == []


# What only the operator can tell: who has started the run.

REVIEW = reviewed("{ responders: { agents: allow, initiator: deny } }")
ASKING = ("merge", "json", "apply", "replace")
WAITING = [person for person in PEOPLE if person not in ("outsider", "operator")]


@pytest.mark.timeout(600)
def test_the_initiator_is_handed_back_through_every_door(without_webhook: None, house: House) -> None:
    """The API server admits them; the operator takes the answer back, and the question stays open."""
    tried = [(door, person, via) for door in ASKING for person in WAITING for via in VIAS[:2]]
    runs = [house.stage.start(REVIEW, startedBy="erin") for _ in tried]
    questions = [house.stage.question(run) for run in runs]
    for (door, person, via), question in zip(tried, questions, strict=True):
        response = {"responder": PEOPLE[person].name, "decision": "approve"}
        # The operator may have written on it meanwhile: a replacement is tried on what is there now.
        found = house.stage.admin.get("humanrequests", question["metadata"]["name"])
        enter(door, house.comes(person, via), found, ("response",), response).object()
    for (door, person, via), run, question in zip(tried, runs, questions, strict=True):
        name = question["metadata"]["name"]
        if person == "initiator":
            item = eventually(lambda name=name: handed_back(house, name), f"{door}, {via}: it is handed back")
            assert (item["code"], item["by"]) == ("respond_self_denied", "erin")
            assert house.stage.state(question) == "Pending"
        else:
            assert house.stage.finished(run)["phase"] == "Succeeded", (door, person, via)


def handed_back(house: House, name: str) -> Object | None:
    found = house.stage.admin.get("humanrequests", name)
    rejection: Object | None = found["status"].get("lastRejection")
    return rejection if "response" not in found else None


# The commands, for a part of the cells: how kubectl makes each of them an HTTP request is its own affair.

EDITOR = f"""#!{sys.executable}
import json, os, sys, yaml
path, key, value = sys.argv[1], json.loads(os.environ["CHANGE_PATH"]), json.loads(os.environ["CHANGE_VALUE"])
text = open(path).read()
found = yaml.safe_load(text)
inner = found
for part in key[:-1]:
    inner = inner.setdefault(part, {{}})
inner[key[-1]] = value
remarks = "".join(line for line in text.splitlines(True) if line.startswith("#"))
open(path, "w").write(remarks + yaml.safe_dump(found))
"""
DOOR_OF = {
    "patch merge": "merge",
    "patch json": "json",
    "patch strategic": "strategic",
    "apply": "apply",
    "replace": "replace",
    "edit": "merge",
}
"""By command: the door that it goes through."""

CHOSEN = [
    ("answer, users", "named person", VIAS[0]),
    ("answer, users", "person not named", VIAS[0]),
    ("answer, users", "cluster-admin", VIAS[0]),
    ("answer, users", "outsider", VIAS[0]),
    ("first approval", "member of the group", VIAS[0]),
    ("second answer", "person not named", VIAS[0]),
    ("labels", "named person", VIAS[0]),
    ("question", "operator", VIAS[0]),
    ("answer, users", "named person", VIAS[1]),
    ("answer, users", "person not named", VIAS[1]),
    ("answer, users", "named person", VIAS[2]),
]


def call(command: str, user: User, found: Object, rule: Rule, who: Who, editor: Path, flags: list[str]) -> Any:
    """A change by a command of kubectl.

    It is not to look at the schema first: without the right to impersonate it would not come to the request.
    """
    name, value = found["metadata"]["name"], rule.value(who)
    if command.startswith("patch"):
        kind = command.split()[1]
        body = json_patch(rule.path, value) if kind == "json" else nested(rule.path, value)
        return user.kubectl("patch", "hreq", name, f"--type={kind}", "-p", json.dumps(body), *flags)
    if command == "apply":
        body = json.dumps(manifest(name, rule.path, value))
        return user.kubectl(
            "apply", "--server-side", "--force-conflicts", "--validate=false", "-f", "-", *flags, stdin=body
        )
    if command == "replace":
        return user.kubectl(
            "replace", "--validate=false", "-f", "-", *flags, stdin=json.dumps(changed(found, rule.path, value))
        )
    change = {"CHANGE_PATH": json.dumps(rule.path), "CHANGE_VALUE": json.dumps(value)}
    variables = {"KUBE_EDITOR": str(editor), "TMPDIR": str(editor.parent), **change}
    return user.kubectl("edit", "hreq", name, *flags, variables=variables)


def told(done: Any, directory: Path) -> str:
    """What a command says; `edit` writes why a rule has refused into the file that one edits."""
    files = sorted(directory.glob("kubectl-edit-*"))
    text = done.stderr + "".join(file.read_text() for file in files)
    for file in files:
        file.unlink()
    return text


def comes_with(house: House, person: str, via: str) -> tuple[User, list[str]]:
    """Who calls a command, and the flags with which they call it."""
    who = PEOPLE[person]
    if via == VIAS[0]:
        return house.users[person], []
    flags = [f"--as={who.name}", *(f"--as-group={group}" for group in who.groups)]
    return (house.with_right if via == VIAS[1] else house.without_right), flags


@pytest.mark.timeout(600)
@pytest.mark.parametrize("command", DOOR_OF)
def test_each_command_of_kubectl_gives_the_same_verdict(house: House, command: str, tmp_path: Path) -> None:
    editor = tmp_path / "editor"
    editor.write_text(EDITOR)
    editor.chmod(0o755)
    for name, person, via in CHOSEN:
        rule, who, before = RULES[name], PEOPLE[person], house.open(RULES[name])
        user, flags = comes_with(house, person, via)
        done = call(command, user, before, rule, who, editor, flags)
        after = house.stage.admin.get("humanrequests", before["metadata"]["name"])
        hoped = expected(DOOR_OF[command], name, person, via)
        if done.returncode == 0:
            assert judge(before, after, rule, who) == hoped, (name, person, via, done.stdout)
        else:
            assert hoped in told(done, tmp_path), (name, person, via, done.stderr)
            assert after == before


THROUGH_THE_PLUGIN = [
    *(("answer, users", *who) for who in itertools.product(["named person", "person not named"], VIAS)),
    *(("answer, users", person, VIAS[0]) for person in ("cluster-admin", "outsider")),
    *(("first approval", person, VIAS[0]) for person in ("named person", "outsider")),
    ("second answer", "person not named", VIAS[0]),
]


@pytest.mark.timeout(600)
@pytest.mark.parametrize(("rule", "person", "via"), THROUGH_THE_PLUGIN)
def test_the_plugin_gives_the_same_verdict(house: House, rule: str, person: str, via: str) -> None:
    before = house.open(RULES[rule])
    user, flags = comes_with(house, person, via)
    words = ("respond", before["metadata"]["name"], "--decision", "approve", "--no-wait", *flags)
    done = house.stage.plugin(*words, user=user)
    after = house.stage.admin.get("humanrequests", before["metadata"]["name"])
    if expected("merge", rule, person, via) == ADMITTED:
        assert done.returncode == 0, done.stderr
        (said,) = after["approvals"] or [after["response"]]
        assert said["responder"] == PEOPLE[person].name
    else:
        assert done.returncode == (65 if RULES[rule].is_answered else 77), done.stderr
        assert after == before


def test_the_role_of_responders_opens_no_other_door(house: House) -> None:
    """What it may do with questions, as the API server counts it: read them, and update them."""
    rights = house.users["named person"].kubectl("auth", "can-i", "--list", "--no-headers").stdout.splitlines()
    (line,) = [line for line in rights if "humanrequests" in line]
    assert line.split(None, 1)[0] == "humanrequests.compozy.dev"
    verbs = line[line.rindex("[") + 1 : line.rindex("]")].split()
    assert sorted(verbs) == ["get", "list", "patch", "update", "watch"]
