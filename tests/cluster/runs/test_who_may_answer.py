"""Several people approve, the operator judges what the API server cannot, and nobody waits for nobody."""

import concurrent.futures
import json
from pathlib import Path

import pytest

from support import plans
from support.apiserver import plan as plan_object
from support.stage import eventually

pytestmark = pytest.mark.cluster


def reviewed(responders: str, decisions: str = "[approve, reject]") -> str:
    return plans.reviewed(f"{{ decisions: {decisions}, responders: {responders} }}")


GATE = """
graph:
  nodes:
    - id: check
      class: control
      kind: gate
      criteria:
        - { id: people, type: human, prompt: "Good?", responders: { approvals: 2, users: [alice, bob] } }
      on_result: { fail: halt }
    - { id: ship, class: action, kind: transform, params: { map: { shipped: { value: true } } } }
  edges: [{ from: check, to: ship }]
"""


FOUR_EYES = (Path(__file__).parents[3] / "examples" / "four-eyes.yaml").read_text()


@pytest.fixture
def people(stage):
    """Those who may answer, by name."""
    return {
        name: stage.api.user(name, stage.namespace, ["responders"]) for name in ("alice", "bob", "carol", "dora")
    }


def name_of(request):
    return request["metadata"]["name"]


def approve(stage, user, request):
    """Add one's approval by server-side apply, which merges by responder."""
    manifest = {
        "apiVersion": "compozy.dev/v1alpha1",
        "kind": "HumanRequest",
        "metadata": {"name": name_of(request)},
    }
    manifest["approvals"] = [{"responder": user.name}]
    path = user.path("humanrequests", name_of(request))
    return user.call("PATCH", path, manifest, "application/apply-patch+yaml", fieldManager=user.name)


def decide(user, request, decision="approve"):
    response = {"responder": user.name, "decision": decision}
    return user.patch("humanrequests", name_of(request), {"response": response})


def respond(stage, user, request, *more, decision="approve"):
    return stage.plugin("respond", name_of(request), "--decision", decision, *more, user=user)


def events(stage, request, reason):
    listed = stage.admin.call("GET", f"/api/v1/namespaces/{stage.namespace}/events").object()["items"]
    ours = [item for item in listed if item["involvedObject"]["uid"] == request["metadata"]["uid"]]
    return [item["message"] for item in ours if item["reason"] == reason]


def handed_back(stage, request):
    """What is left of a question from which something was taken."""

    def found():
        item = stage.admin.get("humanrequests", name_of(request))
        return item if "lastRejection" in item["status"] and not item.get("response") else None

    return eventually(found, "something is handed back")


def test_four_eyes_see_a_migration_before_it_is_applied(stage, people):
    run = stage.start(FOUR_EYES, inputs={"migration": "0042-orders"}, startedBy=stage.author.name)
    request = stage.question(run)
    first = respond(stage, people["alice"], request)
    assert first.stdout == f"humanrequest/{name_of(request)} approved: 1 of 2 approvals\n"
    second = respond(stage, people["bob"], request)
    assert second.stdout == f"humanrequest/{name_of(request)} approved: 2 of 2 approvals\n"
    assert stage.finished(run)["output"] == {"migrated": {"applied": "0042-orders"}, "kept": None}


def test_the_plugin_adds_approvals_and_the_last_one_decides(stage, people):
    run = stage.start(reviewed("{ approvals: 3, groups: [responders] }"))
    request = stage.question(run)
    first = respond(stage, people["alice"], request, "--note", "looks right")
    assert (first.returncode, first.stdout) == (0, f"humanrequest/{name_of(request)} approved: 1 of 3 approvals\n")
    second = json.loads(respond(stage, people["bob"], request, "-o", "json").stdout)
    assert second["approvals"] == {"given": 2, "needed": 3}
    assert (second["ok"], second["state"], second["decision"]) == (True, "Pending", "approve")
    assert second["provenance"]["responder"] == "bob" and second["provenance"]["answeredAt"]
    again = respond(stage, people["alice"], request)
    assert (again.returncode, again.stdout) == (0, f"humanrequest/{name_of(request)} approved: 2 of 3 approvals\n")
    shown = stage.plugin("request", name_of(request)).stdout
    assert "needs 3 people; 2 have approved" in shown and "alice (responders)" in shown and "looks right" in shown
    assert "2/3" in stage.plugin("requests").stdout
    assert (
        "needs 3 people; 2 have approved: alice (responders), bob (responders)"
        in stage.plugin("describe", run).stdout
    )
    assert stage.status(run).get("phase") in (None, "Running")
    last = respond(stage, people["carol"], request, "--note", "ship it")
    assert (last.returncode, last.stdout) == (0, f"humanrequest/{name_of(request)} approved: 3 of 3 approvals\n")
    assert stage.finished(run)["nodes"]["ship"]["output"] == {"shipped": True}
    stored = stage.admin.get("humanrequests", name_of(request))
    assert stored["response"]["groups"] == ["responders"]
    assert "approved by carol (responders)" in stage.plugin("describe", run).stdout
    told = eventually(lambda: events(stage, request, "RequestAnswered"), "the decision is told")
    assert told == ["approve by carol (responders), 3 of 3 approvals: ship it"]
    told = eventually(lambda: events(stage, request, "RequestApproved"), "the approvals are told")
    assert sorted(told)[0] == "approve by alice (responders), 1 of 3 approvals: looks right"


def test_a_change_of_mind_decides_at_once(stage, people):
    run = stage.start(reviewed("{ approvals: 3 }"))
    request = stage.question(run)
    assert respond(stage, people["alice"], request).returncode == 0
    assert respond(stage, people["alice"], request, decision="reject").returncode == 0
    assert stage.finished(run)["nodes"]["ship"]["reason"] == "quality_rejection"
    late = respond(stage, people["bob"], request, "-o", "json")
    assert (late.returncode, json.loads(late.stdout)["code"]) == (65, "request_already_answered")


def test_a_user_who_is_named_and_in_a_named_group_counts_once(stage, people):
    run = stage.start(reviewed("{ approvals: 2, users: [alice], groups: [responders] }"))
    request = stage.question(run)
    for _ in range(2):
        told = json.loads(respond(stage, people["alice"], request, "-o", "json").stdout)
        assert told["approvals"] == {"given": 1, "needed": 2}
    assert "approvals_missing: 1 more of 2" in decide(people["alice"], request).message
    assert respond(stage, people["bob"], request).returncode == 0
    assert stage.finished(run)["phase"] == "Succeeded"


def test_the_human_criterion_of_a_gate_can_need_several(stage, people):
    run = stage.start(GATE)
    request = stage.question(run)
    assert approve(stage, people["alice"], request).ok
    assert decide(people["bob"], request).ok
    assert stage.finished(run)["nodes"]["ship"]["status"] == "Succeeded"


def test_everybody_at_once(stage, people):
    """Four people with the plugin: each is told the truth, and exactly three count."""
    run = stage.start(reviewed("{ approvals: 3 }"))
    request = stage.question(run)
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        done = list(pool.map(lambda user: respond(stage, user, request, "-o", "json"), people.values()))
    told = [json.loads(one.stdout) for one in done]
    assert stage.finished(run)["phase"] == "Succeeded"
    stored = stage.admin.get("humanrequests", name_of(request))
    counted = [*(entry["responder"] for entry in stored["approvals"]), stored["response"]["responder"]]
    accepted = [name for name, one in zip(people, told, strict=True) if one["ok"]]
    assert sorted(counted) == sorted(accepted)
    assert len(set(counted)) == 3
    assert [one["code"] for one in told if not one["ok"]] == ["request_already_answered"]


def test_the_initiator_hears_at_once_that_their_approval_does_not_count(stage, people):
    author = stage.api.user("erin", stage.namespace, ["authors", "responders"])
    run = stage.start(reviewed("{ approvals: 2, initiator: deny }"), startedBy="erin")
    request = stage.question(run)
    refused = approve(stage, author, request)
    assert (refused.status, refused.body["reason"]) == (403, "Forbidden")
    causes = [(cause["field"], cause["message"]) for cause in refused.body["details"]["causes"]]
    assert causes[0] == ("approvals", "respond_self_denied")
    patch = json.dumps({"approvals": [{"responder": "erin"}]})
    told = author.kubectl("patch", "hreq", name_of(request), "--type=merge", "--patch", patch)
    assert (told.returncode, "respond_self_denied" in told.stderr) == (1, True), told.stderr
    item = stage.admin.get("humanrequests", name_of(request))
    assert (item["approvals"], "lastRejection" in item["status"]) == ([], False)
    assert approve(stage, people["alice"], request).ok
    assert decide(people["bob"], request).ok
    assert stage.finished(run)["phase"] == "Succeeded"


def test_without_the_webhook_the_initiators_approval_is_handed_back(without_webhook, stage, people):
    author = stage.api.user("erin", stage.namespace, ["authors", "responders"])
    run = stage.start(reviewed("{ approvals: 2, initiator: deny }"), startedBy="erin")
    request = stage.question(run)
    refused = respond(stage, author, request, "-o", "json")
    assert (refused.returncode, json.loads(refused.stdout)["code"]) == (77, "respond_self_denied")
    assert approve(stage, author, request).ok
    item = handed_back(stage, request)
    assert item["status"]["lastRejection"]["code"] == "respond_self_denied"
    assert item["status"]["lastRejection"]["by"] == "erin"
    eventually(lambda: not stage.admin.get("humanrequests", name_of(request))["approvals"], "it is taken away")
    assert respond(stage, people["alice"], request).returncode == 0
    assert "approvals_missing" not in decide(people["bob"], request).message
    assert stage.finished(run)["phase"] == "Succeeded"


def test_no_decision_rests_on_an_approval_that_does_not_count(stage, people, operator):
    """Both are written while the operator is away: it takes both back, and the question stays open."""
    author = stage.api.user("erin", stage.namespace, ["authors", "responders"])
    run = stage.start(reviewed("{ approvals: 2, initiator: deny }"), startedBy="erin")
    request = stage.question(run)
    operator.kill()
    assert approve(stage, author, request).ok
    assert decide(people["alice"], request).ok
    operator.start()
    item = handed_back(stage, request)
    assert (item["approvals"], item["status"]["state"]) == ([], "Pending")
    last = item["status"]["lastRejection"]
    assert (last["code"], last["by"]) == ("approvals_missing", "alice")
    assert eventually(lambda: events(stage, request, "ApprovalRejected"), "it is told")[0].startswith("erin: ")
    assert approve(stage, people["alice"], request).ok
    assert decide(people["bob"], request).ok
    assert stage.finished(run)["phase"] == "Succeeded"


def test_a_decision_of_several_that_another_made_unwanted_is_handed_back(stage, people):
    """The approvals stay, as what people had said; what they approved does not happen."""
    both = reviewed("{ approvals: 2 }") + reviewed("{}").split("nodes:\n")[1].replace("id: ship", "id: act")
    run = stage.start(both)
    eventually(lambda: len(stage.requests(run)) == 2, "both are asked")
    act, ship = sorted(stage.requests(run), key=lambda item: item["spec"]["node"])
    stage.author.patch("planruns", run, {"spec": {"paused": True}}).object()
    assert approve(stage, people["alice"], ship).ok
    assert decide(people["bob"], ship).ok
    assert decide(people["carol"], act, "reject").ok
    stage.author.patch("planruns", run, {"spec": {"paused": False}}).object()
    status = stage.finished(run)
    assert (status["phase"], status["nodes"]["act"]["reason"]) == ("Failed", "quality_rejection")
    assert "output" not in status["nodes"].get("ship", {})
    assert stage.resolved(ship) == "Canceled"
    item = stage.admin.get("humanrequests", name_of(ship))
    assert "response" not in item
    assert [entry["responder"] for entry in item["approvals"]] == ["alice"]
    assert item["status"]["lastRejection"]["code"] == "request_canceled"


def test_approvals_outlive_the_operator(stage, people, operator):
    run = stage.start(reviewed("{ approvals: 3 }"))
    request = stage.question(run)
    assert approve(stage, people["alice"], request).ok
    operator.kill()
    assert approve(stage, people["bob"], request).ok
    operator.start()
    assert respond(stage, people["carol"], request).returncode == 0
    assert stage.finished(run)["nodes"]["ship"]["output"] == {"shipped": True}
    told = eventually(lambda: events(stage, request, "RequestApproved"), "the approvals are told")
    assert sorted(text.partition(",")[0] for text in told)[:1] == ["approve by alice"]


def test_a_plain_patch_without_uid_and_groups_still_works(stage, people):
    run = stage.start(plans.STEPS, plans.STEPS_INPUTS)
    request = stage.question(run)
    patch = json.dumps({"response": {"responder": "alice", "payload": plans.STEPS_ANSWER, "note": "by hand"}})
    done = people["alice"].kubectl("patch", "hreq", name_of(request), "--type=merge", "--patch", patch)
    assert done.returncode == 0, done.stderr
    stage.finished(run)
    told = eventually(lambda: events(stage, request, "RequestAnswered"), "it is told")
    assert told == ["respond by alice: by hand"]
    shown = stage.plugin("request", name_of(request)).stdout
    assert "Answer:      respond by alice" in shown and "by hand" in shown


class TestNobodyCouldAnswer:
    def test_a_question_that_the_initiator_must_not_answer_needs_a_run_that_says_who_that_is(self, stage):
        status = stage.finished(stage.start(reviewed("{ initiator: deny }")))
        assert status["nodes"]["ship"]["reason"] == "responders_unsatisfiable"
        assert "`spec.startedBy`" in status["nodes"]["ship"]["message"]

    def test_a_question_to_the_initiator_alone_is_not_put(self, stage):
        run = stage.start(reviewed("{ users: [erin], initiator: deny }"), startedBy="erin")
        status = stage.finished(run)
        assert status["nodes"]["ship"]["reason"] == "responders_unsatisfiable"
        assert "only who started the run is named" in status["nodes"]["ship"]["message"]
        assert stage.requests(run) == []

    def test_nor_in_a_run_that_the_initiators_run_has_started(self, stage):
        stage.author.create(
            "plans", plan_object("inner", **plans.spec(reviewed("{ users: [erin], initiator: deny }")))
        )
        outer = "graph: { nodes: [{ id: call, class: action, kind: run-loop, params: { loop: inner } }] }"
        status = stage.finished(stage.start(outer, startedBy="erin"))
        assert status["phase"] == "Failed"
        runs = stage.admin.call("GET", stage.admin.path("planruns")).object()["items"]
        (inner,) = [item for item in runs if item["metadata"].get("ownerReferences")]
        assert inner["status"]["nodes"]["ship"]["reason"] == "responders_unsatisfiable"

    def test_a_plan_that_names_nobody_is_refused_when_it_is_applied(self, stage):
        for number, (responders, key) in enumerate(
            [
                ("{ users: [] }", "users"),
                ("{ users: [a, b], approvals: 3 }", "approvals"),
                ("{ users: ['system:serviceaccount:a:b'] }", "agents"),
            ]
        ):
            name = f"nobody-{number}"
            stage.author.create("plans", plan_object(name, **plans.spec(reviewed(responders)))).object()
            status = eventually(lambda name=name: problems(stage, name), "the plan is judged")
            assert [(item["path"], item["code"]) for item in status] == [
                (f"graph.nodes[0].review.responders.{key}", "responder_policy_invalid")
            ]


def problems(stage, name):
    return (stage.admin.get("plans", name).get("status") or {}).get("problems")


class TestAnotherScope:
    def test_a_request_of_another_namespace_is_not_answered(self, stage, make_namespace):
        """The rights of one namespace are worth nothing in another, also under the same name of a request."""
        run = stage.start(plans.STEPS, plans.STEPS_INPUTS)
        request = stage.question(run)
        elsewhere = make_namespace()
        outsider = stage.api.user("zoe", stage.namespace, ["others"])
        binding = ("create", "rolebinding", "zoe", "--clusterrole=compozy-responder", "--user=zoe")
        assert elsewhere.admin.kubectl(*binding).returncode == 0
        refused = stage.answer(request, plans.STEPS_ANSWER, outsider)
        assert refused.status == 403
        done = stage.plugin(
            "respond", name_of(request), "--payload", json.dumps(plans.STEPS_ANSWER), user=outsider
        )
        assert done.returncode == 77
        assert stage.state(request) == "Pending"

    def test_a_replayed_answer_does_not_reach_a_later_question(self, stage):
        """The first answer again, with the uid and version of its request, on the next one."""
        run = stage.start(plans.TWO_QUESTIONS)
        first = stage.question(run, "a")
        assert stage.answer(first, {"x": "1"}).ok
        second = stage.question(run, "c")
        response = {"decision": "respond", "payload": {"x": "1"}, "responder": stage.person.name}
        stale = {key: first["metadata"][key] for key in ("uid", "resourceVersion")}
        replayed = stage.person.patch("humanrequests", name_of(second), {"metadata": stale, "response": response})
        assert replayed.status == 409
        again = stage.person.patch("humanrequests", name_of(first), {"metadata": stale, "response": response})
        assert not again.ok
        assert "response" not in stage.admin.get("humanrequests", name_of(second))


def test_the_third_of_three_named_people_answers(stage, people):
    run = stage.start(reviewed("{ users: [zoe, bob, carol] }"))
    request = stage.question(run)
    assert not decide(people["alice"], request).ok
    assert decide(people["carol"], request).ok
    assert stage.finished(run)["phase"] == "Succeeded"


def test_an_administrator_who_is_not_named_hears_who_may(stage):
    """Whatever one may do in the cluster: the author of the plan has said who decides."""
    run = stage.start(reviewed("{ users: [bob] }"))
    request = stage.question(run)
    assert "neither one of `spec.responders.users` nor in one of" in decide(stage.admin, request).message
    done = stage.plugin("respond", name_of(request), "--decision", "approve", user=stage.admin)
    assert done.returncode == 77
    assert "may not answer: only user bob may" in done.stderr


def test_a_double_click_answers_once(stage, people):
    """Twice the same answer at the same time: both are told that it is recorded, and it is told once."""
    run = stage.start(reviewed("{}"))
    request = stage.question(run)
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        done = [pool.submit(respond, stage, people["alice"], request) for _ in range(2)]
    assert [one.result().returncode for one in done] == [0, 0]
    stage.finished(run)
    told = eventually(lambda: events(stage, request, "RequestAnswered"), "it is told")
    assert told == ["approve by alice"]


def test_three_misfits_then_a_fit_are_accepted_once(without_webhook, stage):
    run = stage.start(plans.STEPS, plans.STEPS_INPUTS)
    request = stage.question(run)
    for wrong in ("loud", "quiet", ""):
        assert stage.answer(request, {"channel": wrong, "confirm": True}).ok

        def taken_back(wrong=wrong):
            item = stage.admin.get("humanrequests", name_of(request))
            return "response" not in item

        eventually(taken_back, "it is handed back")
    assert stage.answer(request, plans.STEPS_ANSWER).ok
    assert stage.finished(run)["nodes"]["E0"]["output"]["answer"] == plans.STEPS_ANSWER
    assert len(stage.requests(run)) == 1
