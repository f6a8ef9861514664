"""What a command speaks of: a question by name, or by run, node, generation and item; a run; a plan."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import click

from compozy.cli.completion import names_of
from compozy.cli.errors import CliError
from compozy.cli.kube.client import Object
from compozy.cli.kube.errors import ApiError
from compozy.cli.kube.resources import HUMAN_REQUESTS, PLAN_RUNS, PLANS, Resource
from compozy.cli.kube.selectors import equal, every
from compozy.cli.session import Session
from compozy.cli.suggestions import PENDING, place

Function = TypeVar("Function", bound=Callable[..., Any])


def question_options(function: Function) -> Function:
    """Adds the argument and the options that name a question to a command."""
    for decorate in (
        click.option(
            "--item", type=int, metavar="I", help="Index of the item, in a fan-out.", shell_complete=place("item")
        ),
        click.option(
            "--generation",
            type=int,
            metavar="G",
            help="Attempt of the run that asks.",
            shell_complete=place("generation"),
        ),
        click.option("--node", metavar="N", help="Step or node that asks.", shell_complete=place("node")),
        click.option("--run", "run_name", metavar="R", help="Run that asks.", shell_complete=place("run")),
        click.argument("name", required=False, shell_complete=names_of(HUMAN_REQUESTS, PENDING)),
    ):
        function = decorate(function)
    return function


def find_question(
    session: Session,
    name: str | None,
    run_name: str | None,
    node: str | None,
    generation: int | None,
    item: int | None,
    *,
    to_answer: bool = False,
) -> Object:
    """The question. Raises CliError `request_not_found`, click.UsageError when it is not named in full.

    `to_answer`: who answers is asked for at the same time.
    """
    if name is None or any(part is not None for part in (run_name, node, generation, item)):
        _check_place(name, run_name, node, generation, item)
    if to_answer:
        session.identify()
    if name is not None:
        return get_question(session, name)
    by_number = (equal("spec.generation", generation), equal("spec.item", "" if item is None else item))
    by_name = (equal("spec.run", run_name), equal("spec.node", node))
    found = session.client.list(
        HUMAN_REQUESTS, session.namespace, field_selector=every(*by_name, *by_number)
    ).items
    if found:
        return found[0]
    from compozy.cli.requestlist import Briefs, Filter

    others = list(Briefs(session.client, session.namespace, Filter(run_name, node), None))
    raise _not_there(f"{run_name}/{node}", generation, item, others)


def _check_place(
    name: str | None, run_name: str | None, node: str | None, generation: int | None, item: int | None
) -> None:
    """Raises click.UsageError for a question that is not named once and in full, CliError for a wrong number."""
    if name is not None or run_name is None or node is None or generation is None:
        raise click.UsageError(
            "name one question: NAME, or --run R --node N --generation G and, in a fan-out, --item I"
        )
    if generation < 1 or (item or 0) < 0:
        raise CliError("bad_input", "--generation counts from 1 and --item from 0")


def get_question(session: Session, name: str) -> Object:
    """The question of a name. Raises CliError `request_not_found`."""
    return _get(session, HUMAN_REQUESTS, name, "request")


def get_run(session: Session, name: str) -> Object:
    """The run of a name. Raises CliError `run_not_found`."""
    return _get(session, PLAN_RUNS, name, "run")


def get_plan(session: Session, name: str) -> Object:
    """The Plan of a name. Raises CliError `plan_not_found`."""
    return _get(session, PLANS, name, "plan")


def _get(session: Session, resource: Resource, name: str, word: str) -> Object:
    try:
        return session.client.get(resource, session.namespace, object_name(name, resource))
    except ApiError as error:
        if not error.not_found:
            raise
        raise missing(session, word, name) from error


def missing(session: Session, word: str, name: str) -> CliError:
    """There is no question, run or plan of that name."""
    return CliError(f"{word}_not_found", f"there is no {word} {name!r} in {session.namespace}")


def object_name(text: str, resource: Resource) -> str:
    """The name in `humanrequest/NAME`, which is how commands print it, or the text itself."""
    kind, slash, name = text.partition("/")
    known = (resource.singular, resource.plural, f"{resource.singular}.{resource.api_version.split('/')[0]}")
    if slash and kind in known and name:
        return name
    if slash or not text:
        raise CliError("bad_input", f"{text!r} is not the name of a {resource.kind}")
    return text


def _not_there(
    where: str, generation: int | None, item: int | None, found: Sequence[Mapping[str, Any]]
) -> CliError:
    """Says what there is instead."""
    of_generation = [request for request in found if request["spec"]["generation"] == generation]
    items = sorted(request["spec"]["item"] for request in of_generation if "item" in request["spec"])
    generations = sorted({request["spec"]["generation"] for request in found})
    message = f"there is no request of {where} in generation {generation}"
    if item is not None:
        message += f" for item {item}"
    if items:
        message += f": it asks for items {', '.join(map(str, items[:20]))}" + (", …" if len(items) > 20 else "")
    elif generations and generation not in generations:
        message += f": it has asked in generation {', '.join(map(str, generations))}"
    elif of_generation:
        message += ": it asks once, without --item"
    return CliError("request_not_found", message)
