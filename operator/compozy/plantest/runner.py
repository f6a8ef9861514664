"""One case, run in this process with the real engine."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial

from compozy.engine.state import RunState
from compozy.hosts.local import Host
from compozy.language.compile import compile_plan
from compozy.language.compiled import CompiledPlan
from compozy.language.problems import InputsInvalid, PlanInvalid
from compozy.plantest.compare import differences, place_of, question_differences, told
from compozy.plantest.model import Case, Question
from compozy.plantest.script import Clock, Script, Unscripted


@dataclass(frozen=True, slots=True)
class Result:
    """What became of a case."""

    differences: tuple[str, ...]
    """Where it differs from what must follow, one line each."""
    state: RunState | None = None
    """How the run ended; None where it did not begin, or stopped at a question without an answer."""
    asked: tuple[Question, ...] = ()
    """The questions that were put, in their order."""

    @property
    def passed(self) -> bool:
        """Whether everything was as it must be."""
        return not self.differences


def run_case(case: Case) -> Result:
    """Run one case and compare. Never raises for a fault of the plan or of the case."""
    try:
        plan = compile_case(case)
    except PlanInvalid as invalid:
        return Result(tuple(_refused(case, invalid)))
    if case.expect.problems is not None:
        return Result((told("problems", _listed(case.expect.problems), []),))
    script, clock = Script(case, lambda path: place_of(plan, path)), Clock()
    find = partial(_called, case)
    host = Host(clock, script.ask if case.attended else None, script.perform, find, clock.sleep)
    try:
        state = host.run(plan, case.inputs)
    except InputsInvalid as invalid:
        return Result(tuple(_inputs_refused(case, invalid)))
    except Unscripted as missing:
        return Result((str(missing),))
    return Result(tuple(_compared(case, plan, state, script)), state, tuple(script.asked))


def _called(case: Case, name: str) -> CompiledPlan | None:
    """The plan that a run starts, where the case has it. Raises PlanInvalid."""
    spec = case.source(name) if case.source is not None else None
    return None if spec is None else compile_plan(spec, case.source, trusts_unknown=case.trusts_unknown)


def compile_case(case: Case) -> CompiledPlan:
    """The plan of a case, ready to run. Raises PlanInvalid."""
    if case.document is None:
        raise PlanInvalid(case.refused)
    return compile_plan(case.document.spec, case.source, trusts_unknown=case.trusts_unknown)


def _compared(case: Case, plan: CompiledPlan, state: RunState, script: Script) -> Iterator[str]:
    expect = case.expect
    if expect.inputs_problems is not None:
        yield told("inputs_problems", list(expect.inputs_problems), [])
        return
    cells = {place_of(plan, path): cell for path, cell in state.cells.items()}
    found = list(differences(expect, state, cells))
    if expect.asked is not None:
        found += question_differences(expect.asked, script.asked)
    if expect.called is not None and list(expect.called) != script.called:
        found.append(told("called", list(expect.called), script.called))
    yield from found
    yield from script.unused()
    if found:
        if state.phase == "Failed" and "message" not in expect.values:
            yield f"the run failed: {state.message} [{state.reason}]"
        yield from script.without_stub()


def _refused(case: Case, invalid: PlanInvalid) -> Iterator[str]:
    if case.expect.problems is None:
        yield "the plan was refused:"
        for problem in invalid.problems:
            yield f"  {problem}"
        return
    expected = _listed(case.expect.problems)
    got = _listed((problem.path, problem.code) for problem in invalid.problems)
    for line in expected:
        if line not in got:
            yield f"problems: expected {line}, but it was not found"
    for problem in invalid.problems:
        if f"{problem.path} [{problem.code}]" not in expected:
            yield f"problems: did not expect {problem}"
    if sorted(expected) != sorted(got) and set(expected) == set(got):
        yield told("problems", expected, got)


def _listed(problems: Iterable[tuple[str, str]]) -> list[str]:
    return [f"{path} [{code}]" for path, code in problems]


def _inputs_refused(case: Case, invalid: InputsInvalid) -> Iterator[str]:
    expected = case.expect.inputs_problems
    if expected is None:
        yield "the inputs were refused:"
        for path, message in invalid.problems.items():
            yield f"  {path}: {message}"
    elif sorted(expected) != sorted(invalid.problems):
        yield told("inputs_problems", sorted(expected), sorted(invalid.problems))
