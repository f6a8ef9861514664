"""One call of the plugin: its flags, its streams and, when first needed, its connection."""

import os
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any

from compozy.cli.errors import CliError
from compozy.cli.flags import Flags

if TYPE_CHECKING:
    from compozy.cli.ahead import Ahead
    from compozy.cli.kube.client import Client, Identity


EVENT_VARIABLES = ("COMPOZY_EVENTS", "GRAPH_EVENTS")
"""Environment variables that, set to `jsonl`, claim stderr for events."""


class Session:
    """What a command works with."""

    def __init__(self, flags: Flags, environ: Mapping[str, str] | None = None) -> None:
        self.flags = flags
        self.environ = os.environ if environ is None else environ
        self._identity: Ahead[Identity] | None = None

    @cached_property
    def client(self) -> "Client":
        """The connection. Raises ConfigError when there is nothing to connect to."""
        from compozy.api.object_names import is_object_name
        from compozy.cli.kube.access import Selection
        from compozy.cli.kube.client import Client
        from compozy.cli.kube.kubeconfig import load_access

        flags = self.flags
        if flags.namespace and not is_object_name(flags.namespace):
            raise CliError("bad_input", f"{flags.namespace!r} cannot be the name of a namespace")
        selection = Selection(
            kubeconfig=flags.kubeconfig,
            context=flags.context,
            cluster=flags.cluster,
            user=flags.user,
            namespace=flags.namespace,
            as_user=flags.as_user,
            as_uid=flags.as_uid,
            as_groups=flags.as_groups,
        )
        return Client(load_access(selection, self.environ), self.environ, seconds_of(flags.request_timeout))

    @cached_property
    def identity(self) -> "Identity":
        """Who we are, as the API server sees it."""
        return self.client.whoami() if self._identity is None else self._identity.result()

    def identify(self) -> None:
        """Begins to find out who we are: it saves a way to the API server and back, where that is needed later."""
        from compozy.cli.ahead import Ahead

        self._identity = Ahead(self.client.whoami)

    @property
    def namespace(self) -> str:
        """The namespace of this call."""
        return self.client.access.namespace

    @property
    def scope(self) -> str | None:
        """The namespace to list in; None with `-A`."""
        return None if self.flags.all_namespaces else self.namespace

    @property
    def output(self) -> str | None:
        """The format after `-o`, if one was given."""
        return self.flags.output

    @property
    def as_json(self) -> bool:
        """Whether the output is for a program."""
        return self.flags.output == "json"

    def now(self) -> datetime:
        """The time, in UTC."""
        return datetime.now(UTC)

    def terminal_width(self) -> int | None:
        """Columns of the terminal that stdout is; None when it is not one."""
        if not sys.stdout.isatty():
            return None
        import shutil

        return shutil.get_terminal_size().columns

    def out(self, text: str) -> None:
        """Prints lines to stdout at once. The text must be clean already."""
        print(text, flush=True)

    def out_json(self, value: Any, *, indented: bool = True) -> None:
        """Prints JSON to stdout."""
        from compozy.cli.output.structured import to_json

        self.out(to_json(value, indented=indented))

    def out_yaml(self, value: Any) -> None:
        """Prints YAML to stdout."""
        from compozy.cli.output.structured import to_yaml

        self.out(to_yaml(value).rstrip("\n"))

    @property
    def events(self) -> bool:
        """Whether stderr belongs to a program that reads events, one JSON object a line."""
        return any(self.environ.get(name) == "jsonl" for name in EVENT_VARIABLES)

    def note(self, text: str) -> None:
        """Tells people something on stderr. The text must be clean already."""
        if self.events:
            from compozy.cli.output.structured import to_json

            text = to_json({"event": "note", "message": text}, indented=False)
        print(text, file=sys.stderr, flush=True)


def seconds_of(text: str | None) -> float | None:
    """A timeout in seconds from kubectl's spelling: `5s`, `1m30s`, or seconds without a unit."""
    if text is None:
        return None
    if text.isdigit():
        return float(text)
    import durationpy

    try:
        return float(durationpy.from_str(text).total_seconds())
    except (durationpy.DurationError, ValueError) as error:
        raise CliError("bad_input", f"--request-timeout {text!r} is not a time such as 5s or 1m30s") from error
