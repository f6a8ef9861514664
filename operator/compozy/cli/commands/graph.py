"""`kubectl compozy graph`: a plan as a picture, or a run with where it stands."""

import click

from compozy.cli.command import command
from compozy.cli.completion import names_of
from compozy.cli.drawing.model import Drawing
from compozy.cli.drawing.planned import draw_plan
from compozy.cli.drawing.standing import put_run
from compozy.cli.errors import CliError
from compozy.cli.feed import phase_of
from compozy.cli.find import get_plan, get_run
from compozy.cli.kube.client import Object
from compozy.cli.kube.errors import ApiError
from compozy.cli.kube.resources import HUMAN_REQUESTS, PLAN_RUNS, PLANS
from compozy.cli.output.text import clean
from compozy.cli.session import Session
from compozy.cli.stored import Stored
from compozy.requests.state import is_open

_RUN_WORDS = ("run", "planrun", "planruns", "planrun.compozy.dev")
_PLAN_WORDS = ("plan", "plans", "plan.compozy.dev")
_MOST_EDGES = 500
"""Mermaid's viewers refuse more, unless they are told otherwise."""


def _names(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    """Runs and plans."""
    return [item for resource in (PLAN_RUNS, PLANS) for item in names_of(resource)(ctx, param, incomplete)]


@command("graph", formats=("mermaid", "dot", "svg", "json"))
@click.argument("name", metavar="[RUN|PLAN]", required=False, shell_complete=_names)
@click.option(
    "-f",
    "--filename",
    "file",
    type=click.Path(),
    metavar="FILE",
    help="Draw the plan of this file; `-` reads stdin.",
)
def graph(session: Session, name: str | None, file: str | None) -> None:
    """Draw a plan, or a run with where it stands: ways taken, and who is waited for since when.

    A name is that of a run, else of a Plan; run/NAME and plan/NAME say which. Prints Mermaid, which GitHub draws;
    -o dot prints Graphviz source, -o svg a picture (it needs Graphviz), -o json nodes and edges.
    """
    if bool(name) == bool(file):
        raise click.UsageError("say what to draw: RUN, PLAN, or -f FILE")
    drawing = _of_file(session, file) if file else _of_name(session, name or "")
    _print(session, drawing)


def _print(session: Session, drawing: Drawing) -> None:
    if session.output == "json":
        from compozy.cli.drawing.data import to_data

        session.out_json(to_data(drawing))
    elif session.output in ("dot", "svg"):
        from compozy.cli.drawing.dot import to_dot
        from compozy.cli.graphviz import to_svg

        source = to_dot(drawing)
        session.out((to_svg(source) if session.output == "svg" else source).rstrip("\n"))
    else:
        from compozy.cli.drawing.mermaid import to_mermaid

        if len(drawing.links) > _MOST_EDGES:
            session.note(f"More than {_MOST_EDGES} edges: most viewers of Mermaid refuse that. Try -o svg.")
        session.out(to_mermaid(drawing).rstrip("\n"))


def _of_file(session: Session, file: str) -> Drawing:
    from compozy.cli.planfile import invalid_plan, read_plan

    plan = read_plan(file)
    if plan.document is None:
        raise invalid_plan(plan.problem_lines(), plan.problems)
    if plan.problems:
        _warn(session, len(plan.problems), f"kubectl compozy plan validate {file}")
    return draw_plan(plan.document.spec, plan.name or "plan")


def _of_name(session: Session, text: str) -> Drawing:
    word, slash, name = text.partition("/")
    if slash and word in _RUN_WORDS:
        return _of_run(session, get_run(session, name))
    if slash and word in _PLAN_WORDS:
        return _of_plan(session, get_plan(session, name))
    run, plan = _found(session, text)
    if run is not None:
        if plan is not None:
            session.note(f"This is the run. There is a Plan of that name too: plan/{plan['metadata']['name']}")
        return _of_run(session, run)
    if plan is None:
        raise CliError("not_found", f"there is neither a run nor a Plan {text!r} in {session.namespace}")
    return _of_plan(session, plan)


def _found(session: Session, name: str) -> tuple[Object | None, Object | None]:
    """The run and the Plan of a name. Who may not read one of the kinds is told so only without the other."""
    found: list[Object | None] = []
    refused: Exception | None = None
    for get, missing in ((get_run, "run_not_found"), (get_plan, "plan_not_found")):
        try:
            found.append(get(session, name))
        except CliError as error:
            if error.code != missing:
                raise
            found.append(None)
        except ApiError as error:
            if error.status != 403:
                raise
            refused = error
            found.append(None)
    if refused is not None and found == [None, None]:
        raise refused
    return found[0], found[1]


def _of_plan(session: Session, plan: Object) -> Drawing:
    name, problems = plan["metadata"]["name"], (plan.get("status") or {}).get("problems") or ()
    if problems:
        _warn(session, len(problems), f"kubectl compozy plan show {name} -n {session.namespace}")
    return draw_plan(plan["spec"], name)


def _of_run(session: Session, run: Object) -> Drawing:
    stored, name = Stored(session), run["metadata"]["name"]
    spec = stored.plan_of(run)
    if spec is None:
        message = f"the plan that run {name} began with cannot be read, or is there no more"
        raise CliError("plan_not_found", message)
    selector = f"spec.run={name},status.state=Pending"
    questions = session.client.list(HUMAN_REQUESTS, session.namespace, field_selector=selector).items
    drawing = draw_plan(spec, name)
    waiting = [question for question in questions if is_open(question)]
    put_run(drawing, phase_of(run), stored.full_nodes(run, outputs=False), waiting, session.now())
    return drawing


def _warn(session: Session, count: int, command_line: str) -> None:
    problems = "1 problem" if count == 1 else f"{count} problems"
    session.note(clean(f"The plan has {problems}, and the picture what could be read. See: {command_line}"))
