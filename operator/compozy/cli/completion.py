"""Names of objects as completions of an argument. The API server is asked only while a person types one."""

from collections.abc import Callable
from dataclasses import replace

import click

from compozy.cli.flags import collect
from compozy.cli.kube.resources import Resource
from compozy.cli.kube.selectors import equal, every, unequal
from compozy.cli.session import Session
from compozy.cli.states import ENDED

SECONDS = "2s"
"""Longest wait for one answer of the API server."""

GOING_ON = every(*(unequal("status.phase", phase) for phase in ENDED))
"""Selects runs that have not ended."""
FAILED = equal("status.phase", "Failed")
"""Selects runs that can be tried again."""

Completer = Callable[[click.Context, click.Parameter, str], list[str]]


def session_of(ctx: click.Context) -> Session:
    """The session of a command line that is not finished yet, impatient."""
    return Session(replace(collect(ctx), request_timeout=SECONDS))


def names_of(resource: Resource, field_selector: str = "") -> Completer:
    """A completer of the names of objects in the namespace of the command line, flags and all."""

    def complete(ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[str]:
        session = session_of(ctx)
        names = session.client.names(resource, session.namespace, field_selector)
        return [name for name in names if name.startswith(incomplete)]

    return complete
