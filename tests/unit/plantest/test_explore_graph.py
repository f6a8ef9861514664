"""What exploring a graph finds: in lanes, gates, sub-loops, reviews, and after failures and time."""

import pytest

from compozy.language.document import parse_document
from compozy.language.problems import PlanInvalid
from compozy.plantest.explore import explore
from compozy.plantest.exploring.labels import label_of
from compozy.plantest.exploring.values import few_values_for
from compozy.plantest.runner import compile_case, run_case
from support.conformance import cases_of, parameters
from support.documents import ROOT
from support.graphs import ask, collect, compile_plan, fan_out, graph, made, node, tool

pytestmark = pytest.mark.unit

TRAIN = ROOT / "examples" / "release-train.yaml"
NUMBER = {"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}}}
YES_OR_NO = {"type": "object", "required": ["ok"], "properties": {"ok": {"type": "boolean"}}}


def found(nodes, edges="", **how):
    spec = graph(nodes, edges)
    return explore(compile_plan(spec), spec, **how)


def faults(report):
    return {(fault.place.label, fault.field, fault.code) for fault in report.faults}


def notes(report):
    return {(check.place.label, note) for check in report.checks for note in check.notes}


def reached(report):
    return {check.place.label for check in report.checks if check.reached}


def endings(report):
    return {(ending.phase, ending.reason, ending.step) for ending in report.endings}


def test_runs_that_lead_elsewhere_end_otherwise():
    spec = parse_document((ROOT / "examples" / "deploy.yaml").read_text("utf-8")).spec
    report = explore(compile_plan(spec), spec)
    assert {(ending.phase, ending.last) for ending in report.endings} == {
        ("Succeeded", "deploy"),
        ("Succeeded", "too_late"),
    }


def route(node_id, default, **ways):
    return node(node_id, "route", routes=[{"when": when, "to": to} for to, when in ways.items()], default=default)


def told(report, phase="Succeeded"):
    [ending] = [ending for ending in report.endings if ending.phase == phase]
    return [f"{decision.label}: {decision.told}" for decision in ending.situation.decisions]


def test_the_release_train_is_followed_to_the_end():
    document = parse_document(TRAIN.read_text("utf-8"))
    report = explore(compile_plan(document.spec), document.spec)
    assert (report.complete, faults(report), notes(report)) == (True, set(), set())
    assert [check.place.label for check in report.checks] == [
        *("services", "each", "agree", "decided", "aboard", "left", "departure"),
        *("deploy", "verify", "canceled", "arrived", "rollback", "report", "output"),
    ]
    assert endings(report) == {("Succeeded", "completed", ""), ("Failed", "request_unavailable", "deploy")}


def test_a_fault_in_a_lane_is_placed_in_the_file():
    text = TRAIN.read_text("utf-8").replace("{ from: nodes.agree.output }", "{ from: nodes.agree.output.version }")
    document = parse_document(text)
    [fault] = explore(compile_plan(document.spec), document.spec, {"train": "May"}).faults
    line, _ = fault.place.position(document, fault.field)
    assert (fault.place.label, fault.code) == ("aboard", "bad_path")
    assert "nodes.agree.output.version" in text.splitlines()[line - 1]
    assert fault.situation.as_case()["answers"] == {"agree[0]": {"payload": {"travels": True}}}


# Reviews.


def review(**more):
    return {"review": {"decisions": ["approve", "edit", "reject", "respond"], **more}}


def test_every_decision_of_a_review_is_tried():
    produces = {**YES_OR_NO, "properties": {"ok": {"type": "boolean"}, "by": {"const": "a person"}}}
    nodes = [
        tool("ship", n=1)
        | {"produces": produces}
        | review(on_reject={"route": "no"}, expires={"after": "1h", "route": "late"}),
        route("how", "ran", wrote='has(nodes.ship.output.by) && nodes.ship.output.by == "a person"'),
        made("wrote", a=1),
        made("ran", a=1),
        made("no", a=1),
        made("late", a=1),
    ]
    report = found(nodes, "ship>how>wrote how>ran ship>no ship>late")
    assert faults(report) == set()
    assert reached(report) == {"ship", "how", "wrote", "ran", "no", "late"}
    assert report.complete


def test_an_edit_that_breaks_what_comes_later_is_found_with_the_edit():
    nodes = [
        made("plan", list=[1, 2]) | {"review": {"decisions": ["approve", "edit"]}},
        node("first", "branch", condition="nodes.plan.output.list[0] > 0"),
        made("then", a=1),
    ]
    report = found(nodes, "plan>first>then")
    assert faults(report) == {("first", "condition", "predicate_evaluation_failed")}
    [fault] = report.faults
    assert fault.situation.as_case() == {"answers": {"plan": {"decision": "edit", "payload": {"list": []}}}}


def test_an_edit_has_every_value_of_each_parameter_once():
    flags = [f"f{number}" for number in range(12)]
    schema = {
        "type": "object",
        "properties": {**{flag: {"type": "boolean"} for flag in flags}, "n": {"enum": [1, 2, 3]}},
    }
    edits = few_values_for(schema)
    assert {edit["n"] for edit in edits if "n" in edit} == {1, 2, 3}
    assert all({edit[flag] for edit in edits if flag in edit} == {True, False} for flag in flags)
    assert len(edits) <= 4


def test_an_edit_that_does_not_fit_what_the_action_declares_is_found():
    produces = {"type": "object", "properties": {"name": {"type": "string", "minLength": 1}}}
    nodes = [made("plan", name="x") | {"produces": produces, "review": {"decisions": ["approve", "edit"]}}]
    assert faults(found(nodes)) == {("plan", "produces", "output_invalid")}


def test_parameters_that_nobody_knows_are_edited_only_as_they_are():
    nodes = [
        tool("look"),
        made("plan", it={"from": "nodes.look.output"}) | {"review": {"decisions": ["edit"]}},
        made("use", it={"from": "nodes.plan.output.it"}),
    ]
    report = found(nodes, "look>plan>use")
    assert (faults(report), reached(report)) == (set(), {"look", "plan", "use"})


@pytest.mark.parametrize(
    ("when", "note"), [("inputs.n > 3", None), ("true", "is always reviewed"), ("false", "is never reviewed")]
)
def test_a_review_that_is_always_or_never_asked_for_is_a_note(when, note):
    spec = graph([made("do", a=1) | {"review": {"when": when}}], inputs={"n": {"type": "number"}})
    report = explore(compile_plan(spec), spec, {} if note is None else {"n": 1})
    assert {text for _, text in notes(report)} == ({note} if note else set())


# Gates.

CRITERIA = [
    {"id": "tests", "type": "command", "check": "make test"},
    {"id": "clean", "type": "command", "check": "git status", "expect": "stdout_contains", "contains": "clean"},
    {"id": "judge", "type": "agent-judge", "rubric": "Is {{ .nodes.draft.output.x }} good?"},
    {"id": "person", "type": "human", "prompt": "Is {{ .nodes.draft.output.x }} good?"},
    {"id": "other", "type": "extension", "tool": "x__y", "inputs": {}},
]


@pytest.mark.parametrize("criterion", CRITERIA, ids=lambda criterion: criterion["type"])
def test_each_verdict_of_each_kind_of_criterion_is_followed(criterion):
    ways = {verdict: {"route": "branch", "branch": f"on_{verdict}"} for verdict in ("pass", "fail", "error")}
    gate = node("ready", "gate", criteria=[criterion], on_result=ways)
    after = [made(f"on_{verdict}", a=1) for verdict in ways]
    report = found([made("draft", x=1), gate, *after], "draft>ready>on_pass ready>on_fail ready>on_error")
    assert faults(report) == set()
    assert reached(report) == {"draft", "ready", f"ready/{criterion['id']}", "on_pass", "on_fail", "on_error"}
    assert report.complete


@pytest.mark.parametrize("bound", [1, 2, 64])
def test_revisions_are_followed_to_the_last_without_trying_each(bound):
    gate = node("ready", "gate", criteria=[CRITERIA[3]], max_revisions=bound)
    report = found([made("draft", x=1), gate], "draft>ready")
    assert ("Failed", "gate_max_revisions_exhausted", "ready") in endings(report)
    assert (report.complete, report.runs < 20) == (True, True)


def test_generations_that_a_plan_looks_at_are_all_followed():
    gate = node("ready", "gate", criteria=[CRITERIA[3]], max_revisions=8)
    nodes = [made("draft", x=1), gate, node("late", "branch", condition="generation == 6"), made("told", a=1)]
    report = found(nodes, "draft>ready>late>told")
    assert (faults(report), reached(report) >= {"told"}) == (set(), True)


# Calls, time and failures.


def test_failures_are_tried_where_the_author_speaks_of_them():
    assert endings(found([tool("t")])) == {("Succeeded", "completed", "")}
    report = found([tool("t") | {"on_error": {"route": "bad"}}, made("ok", a=1), made("bad", a=1)], "t>ok t>bad")
    assert (faults(report), reached(report)) == (set(), {"t", "ok", "bad"})


def test_attempts_are_made_again_after_time_has_passed():
    nodes = [tool("t") | {"timeout": "10s", "retry": {"max_attempts": 3}}]
    report = found(nodes)
    assert endings(report) == {
        ("Succeeded", "completed", ""),
        ("Failed", "transport", "t"),
        ("Failed", "attempt_timeout", "t"),
    }
    [ending] = [ending for ending in report.endings if ending.reason == "transport"]
    assert [decision.told for decision in ending.situation.decisions] == [
        "x__y fails [transport]",
        "its time has come",
        "x__y fails [transport]",
        "its time has come",
        "x__y fails [transport]",
    ]
    assert len(ending.situation.as_case()["tools"]["x__y"]) == 3


def test_waits_pass():
    nodes = [node("w", "wait", params={"for": "72h"}), node("u", "wait", params={"until": "2030-01-01T00:00:00Z"})]
    report = found([*nodes, made("after", at={"from": "nodes.u.output.until"})], "w>u>after")
    assert (faults(report), told(report)) == (set(), ["w: its time has come", "u: its time has come"])


@pytest.mark.parametrize(
    ("default", "expected"), [("1h", set()), ("soon", {("w", "for", "duration_invalid"), ("z", "", "unreached")})]
)
def test_a_duration_that_is_none_is_a_fault(default, expected):
    spec = graph([node("w", "wait", params={"for": "{{ .inputs.d }}"}), made("z", a=1)], "w>z")
    spec["inputs"] = {"d": {"type": "string", "default": default}}
    assert faults(explore(compile_plan(spec), spec, {"d": default})) == expected


def test_other_plans_and_agents_give_what_they_may():
    agent = {"agent": "writer", "prompt": "Write", "output_schema": {**YES_OR_NO}}
    nodes = [
        node("child", "run-loop", params={"loop": "other"}, on_error={"route": "bad"}),
        node("beside", "run-loop", params={"loop": "other", "mode": "detach"}),
        node("write", "run-agent", params=agent),
        route("how", "no", yes="nodes.write.output.ok", never="nodes.child.output == null"),
        *(made(name, a={"from": "nodes.beside.output.run"}) for name in ("yes", "no", "never")),
        made("bad", a=1),
    ]
    report = found(nodes, "child>beside>write>how>yes how>no how>never child>bad")
    assert faults(report) == set()
    assert reached(report) >= {"yes", "no", "bad"}


def test_a_template_that_fails_where_failures_are_foreseen_is_a_note():
    bad = made("told", v={"from": "nodes.q.output.v"}) | {"on_error": {"allow_fail": True}}
    report = found([ask("q", expect={"type": "object", "properties": {"v": {"type": "string"}}}), bad], "q>told")
    assert faults(report) == set()
    assert [place for place, note in notes(report) if "[bad_path]" in note] == ["told"]


def test_a_destination_that_no_answer_leads_to_is_found():
    nodes = [ask("q", expect=NUMBER), route("r", "small", big="nodes.q.output.n > 7 && nodes.q.output.n < 7")]
    report = found([*nodes, made("big", a=1), made("small", a=1)], "q>r>big r>small")
    assert faults(report) == {("big", "", "unreached")}


@pytest.mark.parametrize("further", [True, False])
def test_fields_that_a_tool_may_give_beside_those_it_declares_are_no_fault(further):
    produces = {**NUMBER, "additionalProperties": True}
    nodes = [tool("t") | ({"produces": produces} if further else {}), made("x", a={"from": "nodes.t.output.more"})]
    assert faults(found(nodes, "t>x")) == set()


# Lanes.


def lanes(*body, after=(), **more):
    """A fan-out with a question in each lane."""
    names = [each["id"] for each in body]
    nodes = [fan_out("each", **more), ask("choose", expect=NUMBER), *body, collect("all"), *after]
    chain = ["each", "choose", *names, "all", *(each["id"] for each in after)]
    return nodes, ">".join(chain)


def test_a_template_in_a_lane_that_fails_for_one_answer_is_found():
    expect = {**NUMBER, "properties": {"n": {"type": "integer"}, "v": {"type": "string"}}}
    nodes, edges = lanes(made("told", v={"from": "nodes.choose.output.v"}))
    nodes[1] = ask("choose", expect=expect)
    report = found(nodes, edges)
    assert faults(report) == {("told", "v", "bad_path")}
    [fault] = report.faults
    assert fault.situation.as_case() == {"answers": {"choose[0]": {"payload": {"n": 1}}}}


@pytest.mark.parametrize("condition", ["nodes.big.items.exists(i, i.status == 'succeeded')",
                                       "nodes.big.items.all(i, i.status == 'succeeded')",
                                       "nodes.big.items.exists_one(i, i.status == 'succeeded')"])  # fmt: skip
def test_lanes_are_answered_alike_and_differently(condition):
    nodes = [
        fan_out("each"),
        ask("choose", expect=NUMBER),
        route("size", "small", big="nodes.choose.output.n > 41"),
        *(made(name, a=1) for name in ("big", "small")),
        collect("all"),
        route("which", "otherwise", so=condition),
        *(made(name, a=1) for name in ("so", "otherwise")),
    ]
    report = found(nodes, "each>choose>size>big>all size>small>all>which>so which>otherwise")
    assert (faults(report), reached(report) >= {"so", "otherwise"}, report.complete) == (set(), True, True)


@pytest.mark.parametrize("count", [1, 4, 20])
@pytest.mark.parametrize("first", [ask("q", expect=NUMBER), tool("q")], ids=["asked", "called"])
def test_many_lanes_do_not_multiply(first, count):
    nodes = [
        fan_out("each", collection=list(range(count)), max_fan_out=100),
        first,
        route("size", "small", big="nodes.q.output.n > 41"),
        *(made(name, a=1) for name in ("big", "small")),
        collect("all"),
        made("last", big={"from": "nodes.big.items"}, asked={"from": "nodes.q.items"}),
    ]
    report = found(nodes, "each>q>size>big>all size>small>all>last")
    assert (report.complete, faults(report), report.runs < 500) == (True, set(), True)


def test_a_collection_that_nobody_knows_has_no_one_and_two_elements():
    nodes = [
        tool("list"),
        fan_out("each", collection="{{ .nodes.list.output.items }}"),
        route("which", "no", yes="item.ok"),
        *(made(name, a=1) for name in ("yes", "no")),
        collect("all"),
        route("many", "one", none="nodes.all.output.total == 0", two="nodes.all.output.total == 2"),
        *(made(name, a=1) for name in ("none", "one", "two")),
    ]
    report = found(nodes, "list>each>which>yes>all which>no>all>many>none many>one many>two")
    assert (faults(report), reached(report) >= {"yes", "no", "none", "one", "two"}) == (set(), True)


def test_a_collection_that_is_no_list_for_one_answer_is_a_fault():
    either = {"type": "object", "required": ["x"], "properties": {"x": {"type": ["array", "string"]}}}
    ask_first = tool("q") | {"produces": either}
    nodes = [ask_first, fan_out("each", collection="{{ .nodes.q.output.x }}"), made("do", a=1), collect("all")]
    assert faults(found(nodes, "q>each>do>all")) == {("each", "collection", "collection_not_a_list")}


@pytest.mark.parametrize(
    ("strategy", "branch"),
    [
        ({"kind": "best_effort", "threshold": {"count": 2}}, "nodes.all.output.partial"),
        ({"kind": "best_effort", "threshold": {"count": 2}}, "nodes.all.output.failed == 1"),
        ("race", "nodes.all.output.n == 42"),
    ],
)
def test_strategies_come_to_what_they_may(strategy, branch):
    after = [node("b", "branch", condition=branch), made("z", a=1)]
    nodes, edges = lanes(strategy=strategy, after=after)
    report = found(nodes, edges)
    assert reached(report) >= {"b", "z"}
    assert ("Failed", "fan_out_failed", "all") in endings(report)
    assert report.complete


def test_nested_lanes_are_told_by_node_and_item():
    nodes = [fan_out("outer", collection=[1, 2]), fan_out("inner", collection=["a", "b"]), ask("q", expect=NUMBER)]
    report = found([*nodes, collect("ci"), collect("co")], "outer>inner>q>ci>co")
    places = [line.partition(":")[0] for line in told(report)]
    assert places == ["outer.0/q[0]", "outer.0/q[1]", "outer.1/q[0]", "outer.1/q[1]"]
    assert [check.place.label for check in report.checks] == ["outer", "inner", "q", "ci", "co"]


@pytest.mark.parametrize(
    ("condition", "note"),
    [
        ("item > 0", "its filter keeps every element"),
        ("item > 1", None),
        ("item > 9", "its filter drops every element"),
    ],
)
def test_a_filter_that_need_not_be_there_is_a_note(condition, note):
    report = found([fan_out("each", filter=condition), made("do", a=1), collect("all")], "each>do>all")
    assert {text for place, text in notes(report) if place == "each"} == ({note} if note else set())


# Sub-loops.


@pytest.mark.parametrize("cap", [1, 2, 50])
def test_a_sub_loop_ends_early_later_and_at_its_cap(cap):
    body = {"nodes": [ask("ok", expect=YES_OR_NO), made("told", a={"from": "nodes.ok.output.ok"})],
            "edges": [{"from": "ok", "to": "told"}]}  # fmt: skip
    contract = {"stop_when": "nodes.ok.output.ok", "iteration_cap": cap}
    nodes = [
        node("polish", "sub-loop", body=body, contract=contract),
        node("again", "branch", condition="nodes.polish.output.iterations > 1"),
        made("twice", a=1),
    ]
    report = found(nodes, "polish>again>twice")
    assert ("Failed", "iteration_cap_reached", "polish") in endings(report)
    assert reached(report) >= {"polish", "polish/ok", "polish/told", "again"}
    assert ("twice" in reached(report)) == (cap > 1)
    assert report.complete


def test_a_sub_loop_over_something_unknown_is_followed():
    body = {"nodes": [tool("look")], "edges": []}
    contract = {"stop_when": "nodes.look.output.ready", "iteration_cap": 5}
    report = found([node("until", "sub-loop", body=body, contract=contract)])
    assert endings(report) == {("Succeeded", "completed", ""), ("Failed", "iteration_cap_reached", "until")}
    assert (report.complete, notes(report)) == (True, set())


def runnable(cases):
    for case in cases:
        try:
            compile_case(case)
        except PlanInvalid:
            continue
        if case.expect.inputs_problems is None:
            yield case


@pytest.mark.parametrize("case", parameters(list(runnable(cases_of("graph")))))
def test_whatever_a_case_of_the_suite_reaches_exploring_reaches(case):
    plan = compile_case(case)
    report, state = explore(plan, case.document.spec, case.inputs), run_case(case).state
    cells = state.cells.items() if state is not None else ()
    succeeded = {label_of(plan, path) for path, cell in cells if cell.status == "Succeeded"}
    assert not succeeded & {fault.place.label for fault in report.faults if fault.code == "unreached"}
