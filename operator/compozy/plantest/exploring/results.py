"""What a call may come to that has no stub: every kind of result, and the failures of which the author speaks."""

from collections.abc import Callable, Mapping
from typing import Any

from compozy.engine.effects import Call
from compozy.engine.failing import DEADLINE, TIMEOUT, TRANSPORT
from compozy.language.compiled import CompiledPlan, Criterion, RunAgentSpec
from compozy.language.schema import field_errors
from compozy.plantest.exploring.labels import GraphNode, graph_nodes, label_of
from compozy.plantest.exploring.unknown import Unknown

Generate = Callable[[str, Mapping[str, Any]], list[Any]]
"""Values that conform to a schema, for the place with a label."""

STARTED = "a-run"
"""The name of a run that nobody waits for."""

_TOLD = {
    TRANSPORT: "the way there failed",
    TIMEOUT: "not done in time",
    DEADLINE: "not done within its deadline",
}


class Results:
    """What calls may come to."""

    def __init__(self, plan: CompiledPlan, generate: Generate) -> None:
        self._plan = plan
        self._nodes = graph_nodes(plan)
        self._generate = generate

    def outputs(self, call: Call) -> list[Any]:
        """What it may give, the typical result first."""
        known = self._nodes.get(label_of(self._plan, call.node))
        match call.kind:
            case "infer":
                return [{"verdict": verdict, "reason": None} for verdict in (True, False)]
            case "solver":
                return ["an answer"]
            case "run" if call.detach:
                return [{"run": STARTED}]
        if known is not None:
            return self._of_node(call, known)
        return self._of_agent(call) if call.kind == "agent" else [Unknown()]

    def _of_agent(self, call: Call) -> list[Any]:
        outputs = self._generate(call.node, call.input["output_schema"])
        finished = [_agent_result(output, 1, final=True) for output in outputs]
        return [*finished, _agent_result({}, call.input["max_iterations"], final=False)]

    def _of_node(self, call: Call, known: GraphNode) -> list[Any]:
        if known.criterion is not None:
            return _verdicts(known.criterion)
        spec, produces = known.node.spec, known.node.policy.produces
        declared = spec.output_schema if isinstance(spec, RunAgentSpec) else None
        schema = declared or produces
        if schema is None:
            return [Unknown()]
        made = self._generate(call.node, schema)
        fitting = [output for output in made if not (produces and field_errors(produces, output))]
        return [_opened(schema, output) for output in fitting]

    def failures(self, call: Call) -> list[tuple[str, str]]:
        """Code and text of each failure that leads to something else than the end of the run."""
        known = self._nodes.get(label_of(self._plan, call.node))
        if known is None:
            return []
        policy = known.node.policy
        codes = []
        if known.speaks_of_failure:
            codes.append("child_failed" if call.kind == "run" else f"{call.kind}_failed")
        if policy.retry is not None:
            codes.append(TRANSPORT)
        if codes and policy.timeout is not None:
            codes.append(TIMEOUT)
        if known.speaks_of_failure and policy.deadline is not None:
            codes.append(DEADLINE)
        return [(code, _TOLD.get(code, "it failed")) for code in codes]


def _opened(schema: Any, value: Any) -> Any:
    """A value in which every object that may have further fields has all of them, unknown ones."""
    if not isinstance(value, dict) or not isinstance(schema, Mapping):
        return value
    declared = schema.get("properties") or {}
    fields = {name: _opened(declared.get(name), field) for name, field in value.items()}
    return Unknown(fields) if schema.get("additionalProperties") or isinstance(value, Unknown) else fields


def _verdicts(criterion: Criterion) -> list[Any]:
    """Results of a check that pass and that do not."""
    if criterion.type != "command":
        return [{"passed": True}, {"passed": False}]
    if criterion.expect == "stdout_contains":
        return [{"exit_code": 0, "stdout": criterion.contains}, {"exit_code": 0, "stdout": ""}]
    codes = (0, 1) if criterion.expect == "exit_zero" else (1, 0)
    return [{"exit_code": code, "stdout": ""} for code in codes]


def _agent_result(output: Any, iterations: int, *, final: bool) -> dict[str, Any]:
    return {"output": output, "iterations": iterations, "tools_called": [], "final": final}
