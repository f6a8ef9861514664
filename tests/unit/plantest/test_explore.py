"""What exploring finds: faults that validation cannot see, and nothing that is not there."""

import pytest
import yaml

from compozy.language.compile import compile_plan
from compozy.language.problems import InputsInvalid, PlanInvalid
from compozy.plantest.explore import explore
from compozy.plantest.runner import compile_case, run_case
from support.conformance import cases_of, parameters

pytestmark = pytest.mark.unit

ASK = "{{ id: E0, tool_name: ask, input: {{ prompt: Q, output_schema: {{ {} }} }} }}"
OK = ASK.format("required: [ok], properties: { ok: { type: boolean } }")
TEXT = ASK.format("required: [t], properties: { t: { type: string } }")
NUMBER = ASK.format("required: [n], properties: { n: { type: integer } }")


def found(text, plans=None, **how):
    spec = yaml.safe_load(text)
    called = {name: yaml.safe_load(plan) for name, plan in (plans or {}).items()}
    return explore(compile_plan(spec, called.get if plans else None), spec, **how)


def faults(report):
    return {(fault.place.label, fault.field, fault.code) for fault in report.faults}


def notes(report):
    return {(check.place.label, note) for check in report.checks for note in check.notes}


def step(step_id, tool, fields):
    return f"{{ id: {step_id}, tool_name: {tool}, input: {{ {fields} }} }}"


def steps_of(*steps):
    return f"steps: [{', '.join(steps)}]\n"


def exit_when(value, more="status: success", step_id="E1"):
    return step(step_id, "exit", f"when: {{ {value} }}, {more}")


@pytest.mark.parametrize(
    ("steps", "output", "expected"),
    [
        pytest.param(
            [ASK.format("properties: { x: { type: string } }"), step("E1", "a__b", 'q: "{{E0.answer.x}}"')],
            None,
            {("E1", "input", "bad_path")},
            id="a field that may be left out is read",
        ),
        pytest.param(
            [OK, exit_when('value: "{{E0.answer.ok}}", op: gt, to: 3')],
            None,
            {("E1", "when", "gate_failed")},
            id="a gate compares what has no order",
        ),
        pytest.param(
            [OK, step("E1", "exit", "status: success"), step("E2", "a__b", "")],
            None,
            {("E2", "", "unreached")},
            id="a step stands after an exit that always fires",
        ),
        pytest.param(
            [OK, step("E1", "exit", "status: success")],
            '"{{E0.answer.ok}}"',
            {("output", "", "unreached")},
            id="an output that no run comes to",
        ),
        pytest.param(
            [NUMBER, step("E1", "map", 'over: "{{E0.answer.n}}", do: { tool_name: a__b, input: {} }')],
            None,
            {("E1", "over", "over_not_a_list"), ("E1/do", "", "unreached")},
            id="something that is no list is iterated over",
        ),
        pytest.param(
            [TEXT, exit_when("value: 1, op: eq, to: 1", 'status: "{{E0.answer.t}}"')],
            None,
            {("E1", "status", "exit_status_invalid")},
            id="an exit with a status that is none",
        ),
        pytest.param(
            [
                TEXT,
                step(
                    "E1", "ask", 'prompt: "{{E0.answer.t}}", output_schema: { properties: { a: { enum: [1] } } }'
                ),
            ],
            None,
            {("E1", "prompt", "prompt_blank")},
            id="a prompt that may be blank",
        ),
        pytest.param(
            [NUMBER, step("E1", "exit", 'status: success, message: "{{E0.reason}}"')],
            None,
            {("E1", "message", "bad_path")},
            id="a reason is read that is there only where nobody answered",
        ),
        pytest.param(
            [
                step(
                    "E0",
                    "agent",
                    "prompt: P, output_schema: { type: object, required: [s], properties: { s: {} } }",
                )
            ],
            '"{{E0.output.s}}"',
            {("output", "", "bad_path")},
            id="an agent may come to no result",
        ),
        pytest.param(
            [
                OK,
                step(
                    "E1",
                    "decide",
                    'if: { value: "{{E0.answer.ok}}", op: eq, to: "yes" }, '
                    "then: { tool_name: a__b, input: {} }, else: { tool_name: a__c, input: {} }",
                ),
            ],
            None,
            {("E1/then", "", "unreached")},
            id="a branch that no answer leads to",
        ),
    ],
)
def test_faults_of_steps_are_found(steps, output, expected):
    text = steps_of(*steps) + (f"output: {output}" if output else "")
    report = found(text)
    assert faults(report) == expected
    assert report.complete


@pytest.mark.parametrize(
    "steps",
    [
        pytest.param(
            [NUMBER, exit_when('value: "{{E0.answer.n}}", op: gt, to: 41')], id="a number that a gate names"
        ),
        pytest.param(
            [TEXT, exit_when('value: "{{E0.answer.t}}", op: eq, to: magic')], id="a text that a gate names"
        ),
        pytest.param([TEXT, exit_when('value: "{{E0.answer.t.length}}", op: eq, to: 17')], id="a length"),
        pytest.param([TEXT, exit_when('value: "{{E0.answer.t}}", op: empty')], id="an empty text"),
        pytest.param([TEXT, exit_when('value: "{{E0.answer.t}}", op: eq, to: "{{input.t}}"')], id="an input"),
        pytest.param([step("T", "a__b", ""), exit_when('value: "{{T.rows.0.n}}", op: gt, to: 3')], id="an output"),
        pytest.param([step("T", "a__b", ""), exit_when('value: "{{T}}", op: eq, to: x')], id="the whole output"),
        pytest.param([step("E1", "exit", 'infer: "Is it?", status: success')], id="a verdict"),
    ],
)
def test_a_gate_is_seen_to_hold_and_not_to_hold(steps):
    text = f"inputSchema: {{ properties: {{ t: {{ default: a name }} }} }}\n{steps_of(*steps)}output: done"
    report = found(text)
    assert faults(report) == set()
    assert notes(report) == set()
    assert {(ending.phase, ending.step) for ending in report.endings} >= {("Succeeded", "E1"), ("Succeeded", "")}


@pytest.mark.parametrize(
    ("gate", "note"),
    [("value: 1, op: eq, to: 1", "always fires"), ('value: "{{E0.answer.ok}}", op: empty', "never fires")],
)
def test_a_gate_that_need_not_be_there_is_a_note(gate, note):
    report = found(steps_of(OK, exit_when(gate)))
    assert (faults(report), notes(report)) == (set(), {("E1", note)})


@pytest.mark.parametrize(
    "steps",
    [
        [step("E1", "a__c", 'a: "{{T.a.b}}", b: "{{T.rows.0.n}}", c: "{{T.length}}"')],
        [step("E1", "map", 'over: "{{T.rows}}", do: { tool_name: a__c, input: { n: "{{item.deep.n}}" } }')],
        [step("E1", "filter", 'over: "{{T.rows}}", where: { value: "{{item.n}}", op: gt, to: 3 }')],
        [exit_when('value: "{{T.n}}", op: gt, to: 3', 'status: "{{T.status}}", message: "{{#T.l}}{{x}}{{/T.l}}"')],
        [step("E1", "ask", 'prompt: "{{T.q}}", output_schema: { properties: { n: { enum: [7] } } }, '
              'when_unanswered: default, default: { n: "{{T.n}}" }')],
        [step("E1", "plan__inner", 'n: "{{T.n}}"')],
        [step("E1", "plan__inner", '"n": "{{T.rows.3}}"')],
    ],
)  # fmt: skip
def test_what_is_made_of_something_unknown_is_no_fault(steps):
    inner = "input_schema: { required: [n], properties: { n: { type: integer } } }\n" + steps_of(OK)
    report = found(steps_of(step("T", "a__b", ""), *steps), {"inner": inner})
    assert faults(report) == set()


def test_a_list_of_unknown_length_that_is_too_short_is_a_note():
    mapped = step("E1", "map", 'over: "{{T.rows}}", do: { tool_name: a__c, input: {} }')
    report = found(steps_of(step("T", "a__b", ""), mapped) + "output: '{{E1.results.0.x}}'")
    assert faults(report) == set()
    assert notes(report) == {("output", "E1.results.0.x: E1.results is an empty list [empty_data]")}


def test_a_fault_in_a_plan_that_is_called_says_where_and_its_other_steps_are_its_own():
    inner = steps_of(OK, exit_when("value: 1, op: eq, to: 2")) + "output: '{{E0.reason}}'"
    report = found(steps_of(step("E9", "plan__inner", "")), {"inner": inner})
    assert faults(report) == {("E9/plan__inner/output", "", "bad_path")}
    assert [check.place.label for check in report.checks] == ["E9", "E9/plan__inner/output"]
    assert notes(report) == set()


def test_inputs_of_a_called_plan_that_do_not_fit_are_a_fault():
    inner = "input_schema: { properties: { n: { type: integer, maximum: 5 } } }\n" + steps_of(OK)
    report = found(steps_of(NUMBER, step("E1", "plan__inner", 'n: "{{E0.answer.n}}"')), {"inner": inner})
    assert faults(report) == {("E1", "input", "inputs_invalid")}


GRAPH = """
graph:
  nodes:
    - id: ask
      class: control
      kind: ask
      params:
        prompt: Q
        expect: { type: object, required: [n], properties: { n: { type: integer } } }
        expires: { after: 1h, route: late }
    - { id: pick, class: control, kind: route, routes: [{ when: WHEN, to: big }], default: small }
    - { id: big, class: action, kind: transform, params: { map: { n: { from: nodes.ask.output.n } } } }
    - { id: small, class: action, kind: transform, params: { map: { n: { value: 0 } } } }
    - { id: late, class: action, kind: transform, params: { map: { n: { value: 0 } } } }
  edges: [{ from: ask, to: pick }, { from: pick, to: big }, { from: pick, to: small }, { from: ask, to: late }]
"""


@pytest.mark.parametrize(
    ("when", "expected"),
    [
        ("nodes.ask.output.n > 41", set()),
        ("nodes.ask.output.n > 41 && nodes.ask.output.n < 40", {("big", "", "unreached")}),
        ("nodes.ask.output == null", {("big", "", "unreached")}),
        ("nodes.ask.output.n > 'x'", {("pick", "nodes.ask.output.n > 'x'", "predicate_evaluation_failed")}),
    ],
)
def test_faults_of_graphs_are_found(when, expected):
    report = found(GRAPH.replace("WHEN", f'"{when}"'))
    unreached = {fault for fault in faults(report) if fault[2] == "unreached"}
    assert (unreached if expected <= unreached else faults(report) - unreached) == expected
    assert report.complete


def test_a_fault_comes_with_what_leads_to_it():
    report = found(steps_of(OK, step("E1", "exit", 'status: success, message: "{{E0.reason}}"')))
    [fault] = report.faults
    assert fault.situation.as_case() == {"answers": {"E0": {"payload": {"ok": True}}}}


def test_answers_that_make_no_difference_do_not_multiply():
    steps = [OK.replace("E0", f"E{number}") for number in range(30)]
    report = found(steps_of(*steps))
    assert report.complete
    assert report.runs < 100


@pytest.mark.parametrize("gates", [4, 12])
def test_what_lies_behind_many_gates_is_reached_early(gates):
    steps = []
    for number in range(gates):
        steps += [
            ASK.replace("E0", f"Q{number}").format(
                "properties: { a: { enum: [1, 2, 3, 4] }, b: { type: string } }"
            ),
            exit_when(f'value: "{{{{Q{number}.answer.a}}}}", op: ne, to: 4', "status: error", f"G{number}"),
        ]
    everything = {f"o{number}": f"{{{{Q{number}.answer}}}}" for number in range(gates)}
    report = found(
        yaml.safe_dump({"steps": yaml.safe_load(f"[{', '.join(steps)}]"), "output": everything}), max_runs=400
    )
    assert [check.place.label for check in report.checks if not check.reached] == []


def test_what_a_bound_kept_from_being_reached_is_a_note():
    decided = step(
        "E1", "decide", 'if: { value: "{{E0.answer.ok}}", op: eq, to: 3 }, then: { tool_name: a__b, input: {} }'
    )
    report = found(steps_of(OK, decided), max_runs=1)
    assert (report.runs, report.complete, faults(report)) == (1, False, set())
    assert ("E1/then", "no run has come here yet") in notes(report)
    assert report.limits == ("stopped after 1 runs; --max-runs allows more",)


def test_a_question_without_any_answer_that_could_be_made_is_told():
    report = found(steps_of(ASK.format("properties: { x: { type: string, pattern: ^qqq$ } }, required: [x]")))
    assert report.limits == ("no answer to E0 could be generated; give `examples` in its schema",)
    assert [(ending.phase, ending.reason) for ending in report.endings] == [
        ("Failed", "request_declined"),
        ("Failed", "request_unavailable"),
    ]


def test_inputs_that_are_given_stay_and_others_are_made():
    text = "inputSchema: { required: [a, b], properties: { a: { enum: [1, 2] }, b: { enum: [3, 4] } } }\n"
    text += steps_of(exit_when('value: "{{input.a}}", op: eq, to: 1')) + "output: done"
    assert notes(found(text)) == set()
    assert notes(found(text, inputs={"a": 2})) == {("E1", "never fires")}
    with pytest.raises(InputsInvalid):
        found(text, inputs={"a": 3})


def _runnable(cases):
    for case in cases:
        try:
            compile_case(case)
        except PlanInvalid:
            continue
        yield case


@pytest.mark.parametrize("case", parameters(list(_runnable(cases_of("steps")))))
def test_whatever_a_case_of_the_suite_reaches_exploring_reaches(case):
    report = explore(compile_case(case), case.document.spec)
    state = run_case(case).state
    reached = {path for path, cell in state.cells.items() if cell.status == "Succeeded"} if state else set()
    assert not reached & {fault.place.label for fault in report.faults if fault.code == "unreached"}
