"""`kubectl compozy plan show`: a Plan, step by step, with what it asks people."""

from collections.abc import Iterator, Mapping
from typing import Any

import click

from compozy.cli.command import command
from compozy.cli.commands.plan_list import readiness
from compozy.cli.completion import names_of
from compozy.cli.find import get_plan
from compozy.cli.kube.client import Object
from compozy.cli.kube.resources import PLANS
from compozy.cli.output.table import Column, Table
from compozy.cli.output.text import clean
from compozy.cli.session import Session


@command("show", formats=("json", "yaml"))
@click.argument("name", shell_complete=names_of(PLANS))
def show(session: Session, name: str) -> None:
    """Show a Plan: its inputs, its steps and its problems."""
    plan = get_plan(session, name)
    if session.as_json:
        session.out_json(plan)
    elif session.output == "yaml":
        session.out_yaml(plan)
    else:
        for line in _lines(plan, session.terminal_width()):
            session.out(line)


def _lines(plan: Object, terminal_width: int | None) -> Iterator[str]:
    spec, status = plan["spec"], plan.get("status") or {}
    yield f"Name:      {clean(plan['metadata']['name'])}"
    yield f"Ready:     {readiness(plan)}"
    yield f"Revision:  {clean(status.get('revision') or '<none>')}"
    if spec.get("description"):
        yield f"About:     {clean(spec['description'])}"
    yield f"Inputs:    {clean(', '.join(_inputs(spec)) or '<none>')}"
    yield ""
    columns = (Column("STEP"), Column("DOES"), Column("PROMPT", flexible=True))
    yield from Table(columns, terminal_width).lines([_step(step) for step in _steps(spec)])
    if status.get("problems"):
        yield ""
        yield "Problems:"
    for problem in status.get("problems") or []:
        yield clean(f"  {problem['path']}: {problem['message']} [{problem['code']}]")


def _inputs(spec: Mapping[str, Any]) -> Iterator[str]:
    """The names of the inputs; those that must be given are marked with `*`."""
    schema = spec.get("inputSchema") or {}
    required = schema.get("required") or ()
    for name in schema.get("properties") or {}:
        yield f"{name}*" if name in required else str(name)
    for name, declared in (spec.get("inputs") or {}).items():
        must = isinstance(declared, Mapping) and declared.get("required")
        yield f"{name}*" if must else str(name)


def _steps(spec: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return list(spec.get("steps") or (spec.get("graph") or {}).get("nodes") or [])


def _step(step: Mapping[str, Any]) -> list[object]:
    does = step.get("tool_name") or step.get("toolName") or step.get("kind")
    told = step.get("input") or step.get("params") or {}
    prompt = told.get("prompt") if isinstance(told, Mapping) else None
    return [step.get("id"), does, prompt]
