"""Cases played on a cluster, all at once: runs are started and their questions answered by the script.

The questions of a run are answered one after the other, in the order in which they are put in this process: what a
case says of one question may depend on what has become of another. Deadlines are shortened where one has to pass.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from compozy.engine.effects import OpenRequest
from compozy.engine.nodes import each_of, merged
from compozy.engine.snapshot import from_status
from compozy.engine.state import RunState
from compozy.language.compiled import CompiledPlan
from compozy.language.problems import PlanInvalid
from compozy.plantest.compare import differences, place_of, question_differences
from compozy.plantest.model import Case, Expectation
from compozy.plantest.runner import compile_case, run_case
from compozy.plantest.script import Script, Unscripted
from compozy.requests.outcome import Answered, Declined, Expired, Outcome
from support.apiserver import plan as plan_object
from support.apiserver import run as run_object
from support.stage import Stage, eventually

SECONDS = 200.0
"""How long all the cases of a suite may take together."""
EXPIRY = "6s"
"""When a question closes that nobody is to answer."""
_FINAL = ("Succeeded", "Failed", "Canceled")
_REFUSED = "request_validation_failed"


@dataclass
class Play:
    """One case under way."""

    case: Case
    stage: Stage
    run: str
    script: Script
    order: deque[str]
    """The places whose questions are still to be put, in their order."""
    last: str | None = None
    """The name of the request that was answered last."""
    seen: set[str] = field(default_factory=set)
    """The names of the requests that the script has been asked about."""
    status: dict[str, Any] | None = None
    """How the run ended; None while it has not."""
    rejection: dict[str, Any] | None = None
    """Set when the scripted answer was refused or handed back: the question stays open, and the play is over."""
    fault: str | None = None
    """What the script did not foresee; the play is over."""

    @property
    def is_over(self) -> bool:
        """Whether nothing will happen any more."""
        return self.status is not None or self.rejection is not None or self.fault is not None

    def place_of(self, request: Mapping[str, Any]) -> str:
        """The name by which the case knows the place of a question."""
        spec, document = request["spec"], self.case.document
        if document is None or "graph" not in document.spec or "item" not in spec:
            return str(spec["node"])
        return f"{spec['node']}[{spec['item']}]"

    def attend(self, requests: Iterable[Mapping[str, Any]]) -> None:
        """See to the questions of this run: the next in order is answered once the last one is resolved."""
        known = {request["metadata"]["name"]: request for request in requests}
        last = known.get(self.last or "")
        if last is not None and _is_pending(last):
            self.rejection = last["status"].get("lastRejection")
            return
        while self.order and not self.is_over:
            # One that nobody is to answer may have expired before we have looked.
            asked = (name for name, one in known.items() if name not in self.seen and _was_put(one))
            name = next((name for name in asked if self.place_of(known[name]) == self.order[0]), None)
            if name is None:
                return
            self._answer(known[name])
            if self.last == name:
                return

    def _answer(self, request: Mapping[str, Any]) -> None:
        """Do what the script says about a question that has just opened."""
        spec, name = request["spec"], request["metadata"]["name"]
        self.seen.add(name)
        question = OpenRequest(
            self.order.popleft(), spec["generation"], spec["prompt"], spec["decisions"], {}, None
        )
        try:
            response = _response(self.script.ask(question))
        except Unscripted as missing:
            self.fault = str(missing)
            return
        if response is not None:
            response["responder"] = self.stage.person.name
            patched = self.stage.person.patch("humanrequests", name, {"response": response})
            self.last = name
            if f"{_REFUSED}: " in patched.message:
                self.rejection = {"code": _REFUSED}
            elif not patched.ok:
                self.fault = f"the answer to {spec['node']} is refused: {patched.message}"


def _is_pending(request: Mapping[str, Any]) -> bool:
    return bool(request["status"]["state"] == "Pending")


def _was_put(request: Mapping[str, Any]) -> bool:
    return _is_pending(request) or bool(request["status"]["state"] == "Expired")


def _response(outcome: Outcome) -> dict[str, Any] | None:
    match outcome:
        case Answered():
            given = {"payload": outcome.payload} if outcome.decision in ("respond", "edit") else {}
            return {"decision": outcome.decision, **given}
        case Declined():
            return {"decision": "decline"}
        case Expired():
            return None
    return {"decision": "unavailable"}


def play_all(cases: Iterable[Case], stages: Iterator[Stage]) -> dict[str, Play]:
    """Play every case to its end, or until there is nothing more to wait for; by the case's name."""
    casted = _cast(cases, stages)
    for stage in {id(stage): stage for _, stage in casted}.values():
        eventually(lambda stage=stage: _all_plans_are_judged(stage), "the called plans are judged")
    deadline = time.monotonic() + SECONDS
    plays: list[Play] = []
    # Those in which time passes begin last, when nobody is busy with the others.
    for passes_time in (False, True):
        begun = enumerate(pair for pair in casted if _passes_time(pair[0]) is passes_time)
        some = [_start(case, stage, f"case-{len(plays) + number}") for number, (case, stage) in begun]
        while not all(play.is_over for play in some) and time.monotonic() < deadline:
            _look(some)
            time.sleep(0.05)
        plays += some
    return {play.case.name: play for play in plays}


def _cast(cases: Iterable[Case], stages: Iterator[Stage]) -> list[tuple[Case, Stage]]:
    """Give each case a namespace in which the plans that it calls have its own content, and create those."""
    open_stages: list[tuple[Stage, dict[str, Any]]] = []
    casted = []
    for case in cases:
        fitting = (pair for pair in open_stages if _fits(case, pair[1]))
        stage, plans = next(fitting, None) or (next(stages), {})
        if all(stage is not known for known, _ in open_stages):
            open_stages.append((stage, plans))
        for name in case.plans.keys() - plans.keys():
            stage.author.create("plans", plan_object(name, **case.plans[name])).object()
            plans[name] = case.plans[name]
        casted.append((case, stage))
    return casted


def _fits(case: Case, plans: Mapping[str, Any]) -> bool:
    return all(plans.get(name, spec) == spec for name, spec in case.plans.items())


def _all_plans_are_judged(stage: Stage) -> bool:
    plans = stage.admin.call("GET", stage.admin.path("plans")).object()["items"]
    return all((plan.get("status") or {}).get("observedGeneration") == 1 for plan in plans)


def _start(case: Case, stage: Stage, name: str) -> Play:
    assert case.document is not None
    fields: dict[str, Any] = {"plan": case.document.spec, "inputs": dict(case.inputs)}
    if not case.attended:
        fields["attendance"] = "Unattended"
    if _passes_time(case):
        fields |= {"requestExpireAfter": EXPIRY, "plan": _soon(case.document.spec)}
    created = stage.author.create("planruns", run_object(name, **fields))
    fault = None if created.ok else f"the API server refuses the run: {created.message}"
    order = deque(question.path for question in run_case(case).asked)
    return Play(case, stage, name, Script(case), order, fault=fault)


def _passes_time(case: Case) -> bool:
    """Whether a question closes because nobody has answered it."""
    return any(isinstance(outcome, Expired) for outcome in case.answers.values())


def _soon(value: Any) -> Any:
    """A plan whose questions close early wherever they do."""
    if isinstance(value, list):
        return [_soon(item) for item in value]
    if not isinstance(value, dict):
        return value
    closes = isinstance(value.get("expires"), dict) and "after" in value["expires"]
    early = {"expires": {**value["expires"], "after": EXPIRY}} if closes else {}
    return {**{key: _soon(item) for key, item in value.items()}, **early}


def _look(plays: list[Play]) -> None:
    """See what has changed, and answer what is asked."""
    for stage in {id(play.stage): play.stage for play in plays if not play.is_over}.values():
        waiting = {play.run: play for play in plays if play.stage is stage and not play.is_over}
        requests = stage.admin.call("GET", stage.admin.path("humanrequests")).object()["items"]
        runs = stage.admin.call("GET", stage.admin.path("planruns")).object()["items"]
        for play in waiting.values():
            play.attend(request for request in requests if request["spec"]["run"] == play.run)
        for run in runs:
            play, status = waiting.get(run["metadata"]["name"]), run.get("status") or {}
            if play is not None and status.get("phase") in _FINAL:
                play.status = {**status, "nodes": _nodes_of(stage, status)}


def told_differently(play: Play) -> list[str]:
    """Where a play differs from what its case expects."""
    expect = play.case.expect
    if play.fault is not None:
        return [play.fault]
    if expect.values.get("reason") == _REFUSED:
        return _not_handed_back(play)
    if play.status is None:
        return [_unfinished(play)]
    if expect.problems is not None:
        return _not_refused(play, play.status)
    if expect.inputs_problems is not None:
        text = _message_of(play.status)
        return [f"`{path}` is not in: {text}" for path in expect.inputs_problems if path not in text]
    plan = compile_case(play.case)
    state = _state_of(plan, play.status)
    cells = {place_of(plan, path): cell for path, cell in state.cells.items()}
    found = list(differences(_comparable(expect), state, cells))
    if expect.asked is not None:
        found += question_differences(expect.asked, play.script.asked)
    found += play.script.unused()
    return [*found, f"({_message_of(play.status)})"] if found else []


def _unfinished(play: Play) -> str:
    if play.rejection is not None:
        return f"handed back: {play.rejection}"
    awaited = f", and {play.order[0]} has not asked" if play.order else ""
    return f"not over in {SECONDS:.0f} s{awaited}"


def _not_handed_back(play: Play) -> list[str]:
    """On a cluster an answer that does not conform never reaches the run: the question stays open."""
    if play.rejection is None:
        return [f"the answer was not handed back: {play.status}"]
    return [] if play.rejection["code"] == _REFUSED else [f"handed back for another reason: {play.rejection}"]


def _not_refused(play: Play, status: Mapping[str, Any]) -> list[str]:
    """A run whose plan cannot be right fails at once, with the problems that the plan has in this process."""
    text = _message_of(status)
    found = [] if status["phase"] == "Failed" and not status.get("nodes") else [f"the run began: {status}"]
    try:
        compile_case(play.case)
    except PlanInvalid as invalid:
        found += [f"not told: {problem}" for problem in invalid.problems if str(problem) not in text]
    return found + [
        f"`{code}` is not in: {text}" for _, code in play.case.expect.problems or () if code not in text
    ]


def _nodes_of(stage: Stage, status: Mapping[str, Any]) -> dict[str, Any]:
    """The nodes of a run with what is kept apart from its status."""
    records: dict[str, Any] = {}

    def record(name: str) -> dict[str, Any]:
        path = f"/apis/apps/v1/namespaces/{stage.namespace}/controllerrevisions/{name}"
        return records.setdefault(name, stage.admin.call("GET", path).object()["data"])

    pages = (record(page["name"])["nodes"] for page in status.get("pages") or ())
    nodes = merged([*pages, status.get("nodes") or {}])
    for told in each_of(nodes):
        if "outputRef" in told:
            told["output"] = record(told["outputRef"]["name"])["output"]
    return nodes


def _state_of(plan: CompiledPlan, status: Mapping[str, Any]) -> RunState:
    """The end of a run as the engine knows it."""
    begun = RunState(inputs={}, attended=status["attended"], message=_message_of(status))
    return from_status(plan, begun, status)


def _comparable(expect: Expectation) -> Expectation:
    """Without the code of how the run ended, which a PlanRun does not tell; its steps tell theirs."""
    return replace(expect, values={key: value for key, value in expect.values.items() if key != "reason"})


def _message_of(status: Mapping[str, Any]) -> str:
    succeeded = next(item for item in status["conditions"] if item["type"] == "Succeeded")
    return str(succeeded["message"])
