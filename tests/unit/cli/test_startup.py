"""The plugin starts fast because of what it does not import."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module

import click
import pytest

from compozy.api.base import API_VERSION
from compozy.api.crds import KINDS
from compozy.cli.command import Command, LazyGroup
from compozy.cli.kube import resources
from compozy.cli.main import cli

pytestmark = pytest.mark.unit

HEAVY = ("kubernetes", "kopf", "aiohttp", "pydantic", "rich", "cel_expr_python", "requests")
"""Libraries that no command of the plugin needs to do its work: they cost from 80 ms to half a second."""


def imported_after(statement: str) -> set[str]:
    """The top-level modules that a fresh interpreter has after a statement."""
    program = f"{statement}\nimport sys\nprint('MODULES', *sorted(sys.modules))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)
    line = next(line for line in done.stdout.splitlines() if line.startswith("MODULES"))
    return set(line.split()[1:])


def test_help_imports_nothing_but_click() -> None:
    modules = imported_after("from compozy.cli.main import run\nrun(['--help'])")
    unwanted = {*HEAVY, "urllib3", "yaml", "jsonschema", "json", "ssl", "compozy.language", "compozy.hosts"}
    assert not modules & unwanted


@pytest.mark.parametrize(
    "command", ["requests", "request", "respond", "runs", "describe", "cancel", "retry", "graph", "run"]
)
def test_a_command_imports_nothing_heavy(command: str) -> None:
    modules = imported_after(f"import compozy.cli.commands.{command}\nimport compozy.cli.kube.client")
    assert not modules & set(HEAVY)


def test_an_answer_in_flags_needs_no_terminal_no_engine_and_no_patterns() -> None:
    modules = imported_after("import compozy.cli.commands.respond\nimport compozy.cli.kube.client")
    ours = {"compozy.hosts.terminal", "compozy.engine.events", "compozy.requests.forms", "compozy.cli.kube.watch"}
    assert not modules & {*ours, "re2", "jsonschema", "click.shell_completion", "subprocess", "tempfile"}


def commands(group: LazyGroup) -> list[tuple[str, str, str]]:
    """Every command of a group and of those within: name, where it is, its line in the group's help."""
    found = []
    for name, (target, line) in group.table.items():
        found.append((name, target, line))
        inner = group.get_command(click.Context(group), name)
        if isinstance(inner, LazyGroup):
            found += commands(inner)
    return found


@pytest.mark.parametrize(("name", "target", "line"), commands(cli))
def test_the_table_of_commands_is_right(name: str, target: str, line: str) -> None:
    module, attribute = target.split(":")
    command = getattr(import_module(module), attribute)
    assert isinstance(command, Command | LazyGroup)
    assert command.name == name
    assert command.help
    assert line.endswith(".")
    for parameter in command.params:
        if isinstance(parameter, click.Option):
            assert parameter.help, f"{name} {parameter.opts} has no help"


def test_the_resources_are_those_of_the_api() -> None:
    ours = {
        resource.kind: resource.plural
        for resource in vars(resources).values()
        if isinstance(resource, resources.Resource) and resource.api_version == resources.API_VERSION
    }
    assert resources.API_VERSION == API_VERSION
    assert ours.items() <= {kind.name: kind.plural for kind in KINDS}.items()
