"""Plans and runs, as the API server holds them: one source, frozen, ended once a generation."""

from typing import Any

import pytest

from support.apiserver import APPLY, JSON_PATCH, STRATEGIC, Object, plan, run

pytestmark = pytest.mark.cluster

STEPS = [{"id": "E0", "tool_name": "ask", "input": {"prompt": "Which channel?"}}]
INLINE: Object = {
    "profile": "delivery",
    "steps": STEPS,
    "output": ["{{E0.answer}}"],
    "inputSchema": {"type": "object"},
}
TERMINAL = ("Succeeded", "Failed", "Canceled")
PHASES = ("Pending", "Running", *TERMINAL)


def refused(answer: Any, text: str, code: int = 422) -> None:
    assert (answer.status, text in answer.message) == (code, True), answer


class TestCreating:
    @pytest.mark.parametrize("spec", [{}, {"planRef": {"name": "release"}, "plan": INLINE}], ids=["none", "both"])
    def test_a_run_has_exactly_one_plan(self, workspace: Any, spec: Object) -> None:
        refused(workspace.erin.create("planruns", run("one-plan", **spec)), "set exactly one of `planRef`")

    @pytest.mark.parametrize("spec", [{}, {"steps": STEPS, "graph": {"nodes": []}}], ids=["none", "both"])
    def test_a_plan_is_in_exactly_one_dialect(self, workspace: Any, spec: Object) -> None:
        text = "set exactly one of `steps` and `graph`"
        refused(workspace.erin.create("plans", plan("one-dialect", **spec)), text)
        refused(workspace.erin.create("planruns", run("one-dialect", plan=spec)), text)

    @pytest.mark.parametrize("length", [63, 64])
    def test_names_have_at_most_63_characters(self, workspace: Any, length: int) -> None:
        name = "n" * length
        answers = (
            workspace.erin.create("plans", plan(name, steps=STEPS), dryRun="All"),
            workspace.erin.create("planruns", run(name, plan=INLINE), dryRun="All"),
        )
        for answer in answers:
            if length <= 63:
                answer.object()
            else:
                refused(answer, "the name must be at most 63 characters")

    @pytest.mark.parametrize(
        ("duration", "text"),
        [
            ("72h", ""),
            ("1h30m", ""),
            ("0.5s", ""),
            ("0s", "a duration must be longer than zero"),
            ("3 days", "should match"),
            ("-1h", "should match"),
            ("99999999999999999999h", "duration"),
        ],
    )
    def test_a_duration_is_positive(self, workspace: Any, duration: str, text: str) -> None:
        spec = {"planRef": {"name": "release"}, "requestExpireAfter": duration}
        answer = workspace.erin.create("planruns", run("duration", **spec), dryRun="All")
        if text:
            refused(answer, text)
        else:
            answer.object()

    def test_a_status_that_nobody_has_written_is_of_no_generation(self, workspace: Any) -> None:
        """So that who waits for a run by kstatus takes it for one in progress."""
        found = workspace.erin.get("planruns", workspace.start())
        assert found["status"] == {"observedGeneration": -1}


CHANGES = [
    {"planRef": {"name": "other"}},
    {"inputs": {"tag": {"deep": [1, 2, 4]}}},
    {"inputs": {"more": None, "added": 1}},
    {"inputs": None},
    {"attendance": "Attended"},
    {"attendance": None},
    {"requestExpireAfter": "2h"},
    {"startedBy": "mallory"},
    {"startedBy": None},
]
INLINE_CHANGES = [
    {"plan": {"steps": [{**STEPS[0], "input": {"prompt": "Really?"}}]}},
    {"plan": {"steps": [*STEPS, *STEPS]}},
    {"plan": {"output": ["{{E1.answer}}"]}},
    {"plan": {"output": "text"}},
    {"plan": {"output": None}},
    {"plan": {"inputSchema": {"type": "array"}}},
    {"plan": {"profile": "watch"}},
    {"plan": None, "planRef": {"name": "release"}},
]
SPEC = {
    "inputs": {"tag": {"deep": [1, 2, 3]}},
    "attendance": "Unattended",
    "requestExpireAfter": "1h",
    "startedBy": "erin",
}


class TestTheSpecIsFrozen:
    @pytest.mark.parametrize("change", CHANGES, ids=str)
    def test_no_part_changes(self, workspace: Any, change: Object) -> None:
        name = workspace.start(**SPEC)
        for user in (workspace.erin, workspace.operator, workspace.admin):
            answer = user.patch("planruns", name, {"spec": change})
            refused(answer, f"spec.{next(iter(change))}: Forbidden: a run's `{next(iter(change))}` never changes")

    @pytest.mark.parametrize("change", INLINE_CHANGES, ids=str)
    def test_nor_does_a_plan_within(self, workspace: Any, change: Object) -> None:
        answer = workspace.erin.patch("planruns", workspace.start(plan=INLINE), {"spec": change})
        refused(answer, "a run's `plan` never changes")

    def test_through_no_other_door(self, workspace: Any) -> None:
        name, erin = workspace.start(plan=INLINE, **SPEC), workspace.erin
        deep = [{"op": "replace", "path": "/spec/plan/steps/0/input/prompt", "value": "Really?"}]
        refused(erin.patch("planruns", name, deep, JSON_PATCH), "a run's `plan` never changes")
        applied = run(name, plan=INLINE | {"output": []}, **SPEC)
        answer = erin.patch("planruns", name, applied, APPLY, fieldManager="other", force="true")
        refused(answer, "a run's `plan` never changes")
        found = erin.get("planruns", name)
        found["spec"]["inputs"]["tag"]["deep"][0] = 0
        refused(erin.replace("planruns", found), "a run's `inputs` never changes")
        assert erin.patch("planruns", name, {"spec": {"inputs": {}}}, STRATEGIC).status == 415
        workspace.operator.replace("planruns", found, subresource="status").object()
        assert erin.get("planruns", name)["spec"]["inputs"] == SPEC["inputs"]

    @pytest.mark.parametrize(
        "change", [{"paused": True}, {"canceled": True}, {"ttlSecondsAfterFinished": 60}], ids=str
    )
    def test_but_one_may_pause_cancel_and_set_when_it_is_deleted(self, workspace: Any, change: Object) -> None:
        name = workspace.start(**SPEC)
        workspace.erin.patch("planruns", name, {"spec": change}).object()
        undone = workspace.erin.patch("planruns", name, {"spec": dict.fromkeys(change)})
        assert undone.ok is ("canceled" not in change)

    @pytest.mark.parametrize("after", [None, [], ["b"], ["c"]], ids=str)
    def test_canceling_a_question_cannot_be_taken_back(self, workspace: Any, after: Any) -> None:
        name = workspace.start()
        for named in (["a"], ["a", "b"], ["b", "a"]):
            workspace.erin.patch("planruns", name, {"spec": {"canceledRequests": named}}).object()
        answer = workspace.erin.patch("planruns", name, {"spec": {"canceledRequests": after}})
        assert answer.status == 422
        assert "canceling a question cannot be taken back" in answer.message

    def test_whoever_may_change_a_run_may_have_it_tried_again(self, workspace: Any) -> None:
        name = workspace.start()
        for retries in (1, 1, 2, 7):
            found = workspace.erin.patch("planruns", name, {"spec": {"retries": retries}}).object()
            assert found["spec"]["retries"] == retries
        answer = workspace.alice.patch("planruns", name, {"spec": {"retries": 8}})
        assert answer.status == 403

    @pytest.mark.parametrize("retries", [1, 0, None])
    def test_how_often_a_run_is_tried_again_only_grows(self, workspace: Any, retries: int | None) -> None:
        name = workspace.start(retries=2)
        for user in (workspace.erin, workspace.operator):
            answer = user.patch("planruns", name, {"spec": {"retries": retries}})
            refused(answer, "spec.retries: Forbidden: `retries` only grows: set it to the attempt that has failed")

    def test_no_attempt_is_below_the_first(self, workspace: Any) -> None:
        refused(workspace.erin.create("planruns", run("below", planRef={"name": "r"}, retries=-1)), "spec.retries")

    @pytest.mark.parametrize("canceled", [False, None])
    def test_canceling_cannot_be_taken_back(self, workspace: Any, canceled: bool | None) -> None:
        name = workspace.start(canceled=True)
        for user in (workspace.erin, workspace.operator):
            answer = user.patch("planruns", name, {"spec": {"canceled": canceled}})
            refused(answer, "canceling cannot be taken back")


class TestTheEndOfARun:
    @pytest.mark.parametrize("after", PHASES)
    @pytest.mark.parametrize("before", TERMINAL)
    def test_its_phase_is_final(self, workspace: Any, before: str, after: str) -> None:
        name = workspace.start()
        workspace.set_status("planruns", name, phase=before, generation=1)
        answer = workspace.operator.patch("planruns", name, {"status": {"phase": after}}, subresource="status")
        if after == before:
            answer.object()
        else:
            refused(answer, "the phase of a finished run is final until a retry opens a new generation")

    @pytest.mark.parametrize("before", TERMINAL)
    def test_a_retry_opens_a_new_generation(self, workspace: Any, before: str) -> None:
        name = workspace.start()
        workspace.set_status("planruns", name, phase=before, generation=1)
        workspace.set_status("planruns", name, phase="Running", generation=2)
        assert workspace.erin.get("planruns", name)["status"]["phase"] == "Running"

    @pytest.mark.parametrize("patch", [{"phase": None}, {"generation": None, "phase": "Running"}])
    def test_leaving_it_out_does_not_reopen_the_run(self, workspace: Any, patch: Object) -> None:
        name = workspace.start()
        workspace.set_status("planruns", name, phase="Failed", generation=1)
        operator = workspace.operator
        refused(operator.patch("planruns", name, {"status": patch}, subresource="status"), "is final")
        found = operator.get("planruns", name)
        del found["status"]
        refused(operator.replace("planruns", found, subresource="status"), "is final")

    @pytest.mark.parametrize("generation", [1, None])
    def test_the_generation_only_grows(self, workspace: Any, generation: int | None) -> None:
        name = workspace.start()
        workspace.set_status("planruns", name, phase="Running", generation=2)
        patch = {"status": {"generation": generation}}
        answer = workspace.operator.patch("planruns", name, patch, subresource="status")
        refused(answer, "the generation of a run only grows")

    def test_what_a_node_produced_may_be_null(self, workspace: Any) -> None:
        name = workspace.start()
        nodes = {"E0": {"status": "Skipped", "output": None}}
        found = workspace.operator.get("planruns", name)
        found["status"]["nodes"] = nodes
        workspace.operator.replace("planruns", found, subresource="status").object()
        assert workspace.erin.get("planruns", name)["status"]["nodes"] == nodes


MOMENT = "2026-05-01T12:00:00.000001Z"
STORED = {"name": "run-1-output", "bytes": 20000}
ITEM: Object = {
    "status": "Running",
    "output": [None],
    "outputRef": STORED,
    "reason": "r",
    "message": "m",
    "route": "next",
    "startedAt": MOMENT,
    "attempt": 2,
    "until": MOMENT,
    "completedAt": MOMENT,
    "request": "run-1-choose",
    "run": "run-1-child",
    "lanes": {"total": 40, "succeeded": 10, "failed": 1, "canceled": 1},
}


class TestWhereARunStands:
    def write(self, workspace: Any, **status: Any) -> Any:
        """What the API server answers to a status of a new run."""
        found = workspace.operator.get("planruns", workspace.start())
        found["status"] |= status
        path = workspace.operator.path("planruns", found["metadata"]["name"], "status")
        return workspace.operator.call("PUT", path, found, fieldValidation="Strict")

    def test_everything_about_nodes_and_their_items_is_kept(self, workspace: Any) -> None:
        told = {
            "nodes": {
                "choose": {**ITEM, "items": {"0": ITEM, "39": {"status": "Waiting"}}},
                "deploy": {"items": {"0": ITEM}},
            },
            "pages": [{"name": f"page-{number}", "cells": 500} for number in (2, 0, 1)],
            "deadline": MOMENT,
            "outputRef": STORED,
        }
        stored = self.write(workspace, **told).object()["status"]
        assert {key: stored[key] for key in told} == told

    @pytest.mark.parametrize(
        ("status", "where"),
        [
            ({"nodes": {"a": {**ITEM, "attempt": 0}}}, "status.nodes.a.attempt"),
            ({"nodes": {"a": {**ITEM, "until": "soon"}}}, "status.nodes.a.until"),
            ({"nodes": {"a": {**ITEM, "items": {"0": {"status": "Odd"}}}}}, "status.nodes.a.items.0.status"),
            ({"nodes": {"a": {"items": {"0": {"attempt": 1}}}}}, "status.nodes.a.items.0.status"),
            ({"nodes": {"a": {**ITEM, "items": {"0": {**ITEM, "items": {}}}}}}, 'unknown field "status.nodes.a.'),
            ({"nodes": {"a": {**ITEM, "outputRef": {"name": "x"}}}}, "status.nodes.a.outputRef.bytes"),
            ({"pages": [{"name": "p", "cells": 1}] * 2}, "status.pages[1]"),
            ({"pages": [{"name": f"p{n}", "cells": 1} for n in range(2001)]}, "status.pages"),
            ({"deadline": "2026-05-01"}, "status.deadline"),
        ],
        ids=lambda value: value if isinstance(value, str) else "",
    )
    def test_nothing_else_is(self, workspace: Any, status: Object, where: str) -> None:
        answer = self.write(workspace, **status)
        assert (answer.ok, where in answer.message) == (False, True), answer

    def test_whoever_reads_runs_reads_what_they_keep_elsewhere(self, workspace: Any) -> None:
        path = f"/apis/apps/v1/namespaces/{workspace.namespace}/controllerrevisions"
        revision = {"metadata": {"name": "kept"}, "data": {"output": [1]}, "revision": 1}
        made = workspace.operator.call(
            "POST", path, {**revision, "apiVersion": "apps/v1", "kind": "ControllerRevision"}
        )
        made.object()
        for user in (workspace.alice, workspace.erin):
            assert user.call("GET", f"{path}/kept").object()["data"] == {"output": [1]}
            assert user.call("GET", path).ok
            assert user.call("DELETE", f"{path}/kept").status == 403
