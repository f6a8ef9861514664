"""Completions of what a question or a plan lets one write: fields and their values, decisions, inputs.

The API server is asked only while a person types one. What cannot be looked up is not completed.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from compozy.cli.completion import session_of
from compozy.cli.kube.client import Object
from compozy.cli.kube.resources import HUMAN_REQUESTS
from compozy.cli.session import Session

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

PENDING = "status.state=Pending"
_PROMPT = 60
"""How much of a prompt tells what a place asks, in characters."""
_UNSAID = "unavailable"
"""That nobody could be asked is for programs to say."""


def answer_fields(ctx: click.Context, _param: click.Parameter, incomplete: str) -> "list[CompletionItem]":
    """Completes `--set FIELD=VALUE` of the question that the command line names."""
    from compozy.cli.answer_flags import schema_of
    from compozy.requests.state import WITH_PAYLOAD

    session = session_of(ctx)
    decision = ctx.params.get("decision") or "respond"
    if decision not in WITH_PAYLOAD:
        return []
    request = _question(session, ctx)
    return _pairs(session, schema_of(request, decision), incomplete, ctx.params.get("pairs") or ())


def decisions(ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[str]:
    """Completes what can be decided on the question that the command line names."""
    offered = _question(session_of(ctx), ctx)["spec"]["decisions"]
    return [word for word in offered if word != _UNSAID and word.startswith(incomplete)]


def run_inputs(ctx: click.Context, _param: click.Parameter, incomplete: str) -> "list[CompletionItem]":
    """Completes `--input NAME=VALUE` of the plan that the command line names."""
    session = session_of(ctx)
    schema = _plan_inputs(session, ctx) or {}
    return _pairs(session, schema, incomplete, ctx.params.get("pairs") or ())


def place(key: str) -> "Callable[[click.Context, click.Parameter, str], list[CompletionItem]]":
    """A completer of `--run`, `--node`, `--generation` and `--item`: of the questions that wait."""

    def complete(ctx: click.Context, _param: click.Parameter, incomplete: str) -> "list[CompletionItem]":
        from click.shell_completion import CompletionItem

        session = session_of(ctx)
        given = {"run": ctx.params.get("run_name")} | {
            name: ctx.params.get(name) for name in ("node", "generation", "item")
        }
        wanted = {name: value for name, value in given.items() if value is not None and name != key}
        waiting = session.client.list(HUMAN_REQUESTS, session.namespace, field_selector=PENDING).items
        fitting = [item for item in waiting if _fits(item["spec"], wanted)]
        prompts = {item["spec"][key]: item["spec"]["prompt"] for item in fitting if key in item["spec"]}
        found = [(str(value), " ".join(prompts[value].split())[:_PROMPT]) for value in sorted(prompts)]
        return [CompletionItem(value, help=told) for value, told in found if value.startswith(incomplete)]

    return complete


def _fits(spec: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    return all(spec.get(name) == value for name, value in wanted.items())


def _argument(ctx: click.Context, name: str) -> str | None:
    """The argument of a command line that ends with an option without its value: click does not assign it."""
    given: str | None = ctx.params.get(name)
    return given or next(iter(ctx.args), None)


def _question(session: Session, ctx: click.Context) -> Object:
    from compozy.cli.find import find_question

    run, node, generation, item = (ctx.params.get(key) for key in ("run_name", "node", "generation", "item"))
    return find_question(session, _argument(ctx, "name"), run, node, generation, item)


def _plan_inputs(session: Session, ctx: click.Context) -> Mapping[str, Any] | None:
    """The schema of a plan's inputs: of a file, or of a Plan."""
    if ctx.params.get("file"):
        from compozy.cli.planfile import require_plan

        return require_plan(ctx.params["file"])[2].input_schema
    from compozy.cli.find import get_plan
    from compozy.language.compile import compile_plan

    return compile_plan(get_plan(session, _argument(ctx, "plan_name") or "")["spec"]).input_schema


def _pairs(
    session: Session, schema: Mapping[str, Any], incomplete: str, given: Sequence[str]
) -> "list[CompletionItem]":
    """Names with `=` behind them, or the values of the name that stands there already."""
    from click.shell_completion import CompletionItem

    from compozy.requests.forms import fields

    form = {field.name: field for field in fields(schema) if field.path}
    name, equals, value = incomplete.partition("=")
    if not equals:
        written = {pair.partition("=")[0] for pair in given}
        return [
            CompletionItem(f"{field.name}=", help=field.description or field.hint)
            for field in form.values()
            if field.name.startswith(name) and field.name not in written
        ]
    found = _values(session, form[name]) if name in form else ()
    return [CompletionItem(f"{name}={text}", help=told or None) for text, told in found if text.startswith(value)]


def _values(session: Session, field: Any) -> Iterable[tuple[str, str]]:
    """What can stand for a field, and what it means."""
    from compozy.cli.catalog import names_in

    if field.type == "boolean":
        return [("true", ""), ("false", "")]
    if field.entity_kind and field.type == "string":
        names = names_in(session.client, session.namespace)(field.entity_kind) or ()
        return [(str(choice.value), choice.title) for choice in names]
    return [(choice.text, choice.title) for choice in field.choices]
