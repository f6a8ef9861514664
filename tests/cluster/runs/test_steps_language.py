"""What the steps language adds on a cluster: questions in turn, plans that call plans, frozen bundles."""

import pytest

from support import plans
from support.apiserver import plan as plan_object
from support.stage import eventually

pytestmark = pytest.mark.cluster

KEEP = """
steps:
  - id: E0
    tool_name: map
    input:
      over: "{{input.names}}"
      concurrency: 3
      do:
        - id: B0
          tool_name: ask
          input:
            prompt: "Keep {{item}} ({{index}})?"
            output_schema:
              type: object
              required: [keep]
              properties: { keep: { type: boolean, description: Keep this one? } }
output: { kept: "{{E0.results}}" }
"""
OUTER = """
steps:
  - id: E0
    tool_name: plan__inner
    input: { version: "{{input.version}}", fallback: beta }
output: { channel: "{{E0.channel}}" }
"""


def test_questions_in_a_concurrent_map_are_put_one_at_a_time_in_item_order(stage):
    run = stage.start(KEEP, {"names": ["a", "b", "c"]})
    for index, name in enumerate("abc"):
        request = stage.question(run)
        assert request["spec"]["prompt"] == f"Keep {name} ({index})?"
        assert (request["spec"]["node"], request["spec"]["item"]) == (f"E0/do.{index}/B0", index)
        assert len(stage.requests(run)) == index + 1
        assert stage.answer(request, {"keep": index != 1}).ok
    status = stage.finished(run)
    kept = [result["answer"]["keep"] for result in status["output"]["kept"]]
    assert kept == [True, False, True]
    assert set(status["nodes"]) == {"E0"}


def test_a_map_goes_on_where_it_was_when_the_operator_comes_back(operator, stage):
    run = stage.start(KEEP, {"names": ["a", "b", "c", "d"]})
    for _ in range(2):
        assert stage.answer(stage.question(run), {"keep": True}).ok
    third = stage.question(run)
    operator.kill()
    assert stage.answer(third, {"keep": False}).ok
    operator.start()
    assert stage.answer(stage.question(run), {"keep": True}).ok
    status = stage.finished(run)
    assert [result["answer"]["keep"] for result in status["output"]["kept"]] == [True, True, False, True]
    assert len(stage.requests(run)) == 4
    assert status["stepsExecuted"] == 5


def test_a_plan_calls_a_plan_and_the_question_says_where_it_is(stage):
    stage.author.create("plans", plan_object("inner", **plans.spec(plans.STEPS))).object()
    stage.author.create("plans", plan_object("outer", **plans.spec(OUTER))).object()
    run = stage.start(None, {"version": "2.0"}, planRef={"name": "outer"})
    request = stage.question(run)
    assert (request["spec"]["node"], request["spec"]["path"]) == ("E0/plan__inner/E0", "inner→E0")
    assert stage.answer(request, plans.STEPS_ANSWER).ok
    assert stage.finished(run)["output"] == {"channel": "nightly"}


@pytest.mark.parametrize("how", ["by reference", "inline"])
def test_called_plans_are_frozen_with_the_run(stage, how):
    stage.author.create("plans", plan_object("inner", **plans.spec(plans.STEPS))).object()
    if how == "by reference":
        stage.author.create("plans", plan_object("outer", **plans.spec(OUTER))).object()
        run = stage.start(None, {"version": "2.0"}, planRef={"name": "outer"})
    else:
        run = stage.start(OUTER, {"version": "2.0"})
    request = stage.question(run)
    changed = plans.spec(plans.STEPS.replace("E0.answer.channel", "E0.answer.confirm"))
    inner = stage.admin.get("plans", "inner")
    assert stage.author.replace("plans", {**inner, "spec": changed}).ok
    eventually(lambda: stage.admin.get("plans", "inner")["status"].get("observedGeneration") == 2, "observed")
    assert stage.answer(request, plans.STEPS_ANSWER).ok
    assert stage.finished(run)["output"] == {"channel": "nightly"}


def test_a_caller_is_ready_once_what_it_calls_is_there(stage):
    stage.author.create("plans", plan_object("outer", **plans.spec(OUTER))).object()

    def ready():
        conditions = (stage.admin.get("plans", "outer").get("status") or {}).get("conditions") or [{}]
        return conditions[0].get("status")

    eventually(lambda: ready() == "False", "the caller is not ready")
    stage.author.create("plans", plan_object("inner", **plans.spec(plans.STEPS))).object()
    eventually(lambda: ready() == "True", "the caller is ready")


def test_what_cannot_be_called_fails_the_step_and_says_why(stage):
    tool = "steps: [{ id: E0, tool_name: server__search, input: { q: x } }]"
    status = stage.finished(stage.start(tool))
    assert (status["phase"], status["nodes"]["E0"]["reason"]) == ("Failed", "tool_unavailable")
    judge = "steps: [{ id: E0, tool_name: exit, input: { infer: 'Is it so?', status: success } }]"
    status = stage.finished(stage.start(judge))
    assert status["nodes"]["E0"]["reason"] == "model_unconfigured"
    assert "no model is configured" in status["nodes"]["E0"]["message"]
