"""A control plane as tests, benchmarks and ``make run`` use it."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType

from controlplane import external, kubeconfigs, servers
from controlplane.binaries import Binaries, as_binaries, binaries_in, ensure_built
from controlplane.credentials import KeyPair, issue_client
from controlplane.errors import ControlPlaneError, disk_errors_explained
from controlplane.processes import terminate
from controlplane.progress import Progress
from controlplane.source import Assets, Cache, ExternalContext, Kind, choose
from controlplane.state import SUPERVISOR, Layout, State
from controlplane.supervised import Supervised

_GRACE_SECONDS = 15.0


class ControlPlane:
    """A control plane that answers. Make one with `start` or `attach`.

    As a context manager it stops when the block ends. One that was started and not detached also stops
    when this process ends, however it ends (on kind: only when it can still clean up).
    """

    def __init__(self, layout: Layout, state: State, supervised: Supervised | None, *, disposable: bool) -> None:
        self._layout = layout
        self._state = state
        self._supervised = supervised
        self._disposable = disposable

    @classmethod
    def start(cls, directory: Path | None = None, progress: Progress | None = None) -> ControlPlane:
        """Start a control plane of its own in ``directory`` and wait until it is ready.

        It comes from the first source that is there (see `controlplane.source`). Without a directory it is
        kept in a temporary one, which is removed when it stops; else its logs stay.

        Raises `ControlPlaneError`.
        """
        progress = progress or Progress()
        layout = Layout(Path(directory or tempfile.mkdtemp(prefix="compozy-control-plane-")).absolute())
        try:
            with disk_errors_explained(layout.directory):
                _refuse_a_running_one(layout)
                layout.create()
                state, supervised = _launch(layout, progress)
        except BaseException:
            if directory is None:
                shutil.rmtree(layout.directory, ignore_errors=True)
            raise
        return cls(layout, state, supervised, disposable=directory is None)

    @classmethod
    def attach(cls, directory: Path) -> ControlPlane | None:
        """The control plane that was started in ``directory`` before, healthy or not; None when none was."""
        layout = Layout(directory.absolute())
        try:
            state = State.read(layout.state)
        except ValueError as error:
            raise ControlPlaneError(
                str(error), hint=f"end the processes it names, if they run, and remove {directory}"
            ) from error
        return None if state is None else cls(layout, state, None, disposable=False)

    def __enter__(self) -> ControlPlane:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    @property
    def state(self) -> State:
        """Where it came from and which processes it is."""
        return self._state

    @property
    def directory(self) -> Path:
        """Where its kubeconfig and logs are."""
        return self._layout.directory

    @property
    def kubeconfig(self) -> Path:
        """The administrator's kubeconfig (of an external context: that context's own user)."""
        return self._layout.kubeconfig

    @property
    def server(self) -> str:
        """The URL of the API server."""
        return self._state.server

    @property
    def ca_file(self) -> Path:
        """The PEM file of the authority that signed the server's certificate."""
        path = self._layout.pki / "ca.crt"
        if not path.exists():
            raise ControlPlaneError(
                f"the kubeconfig of context {self._state.name} names no certificate authority",
                hint="use the kubeconfig instead of the authority",
            )
        return path

    @property
    def pids(self) -> dict[str, int]:
        """Process ids by name: supervisor, etcd, kube-apiserver, kube-controller-manager.

        Empty for a cluster that another program runs.
        """
        return {name: record.pid for name, record in self._state.processes.items()}

    @property
    def owns_servers(self) -> bool:
        """Whether the servers are processes of ours; else named users are impersonated."""
        return self._state.source == "binaries"

    def is_healthy(self) -> bool:
        """Whether all its processes run and the API server says that it is ready."""
        if not self.owns_servers:
            return external.answers(self.kubeconfig)
        running = all(record.is_running() for record in self._state.processes.values())
        return running and servers.answers(self._layout, self.server, "/readyz")

    def user(self, name: str, groups: Sequence[str] = ()) -> Path:
        """A kubeconfig that is authenticated as the user ``name`` in ``groups`` (and in no other, but for
        ``system:authenticated``).

        Our own servers get a client certificate. On a kind cluster or an external context the
        administrator impersonates the user (``as`` in the kubeconfig), which kubectl and client-go honour
        and the Python clients do not. The user has no permissions until it is given some.
        """
        path = self._layout.users / kubeconfigs.file_name(name, groups)
        if path.exists():
            return path
        if not self.owns_servers:
            return kubeconfigs.write(path, kubeconfigs.impersonating(self._admin(), name, groups))
        authority = KeyPair.read(self._layout.pki / "ca")
        pair = issue_client(authority, name, groups)
        config = kubeconfigs.with_certificate(self.server, authority.certificate, name, pair)
        return kubeconfigs.write(path, config)

    def service_account(self, namespace: str, name: str, *, lifetime_seconds: int = 3600) -> Path:
        """A kubeconfig with a fresh token (TokenRequest API) of a ServiceAccount, which must exist."""
        request = ("create", "token", name, f"--namespace={namespace}", f"--duration={lifetime_seconds}s")
        token = external.kubectl("--kubeconfig", str(self.kubeconfig), *request).strip()
        user = f"system:serviceaccount:{namespace}:{name}"
        path = self._layout.users / kubeconfigs.file_name(user, ())
        return kubeconfigs.write(path, kubeconfigs.with_token(self._admin(), user, token))

    def detach(self) -> None:
        """Let it outlive this process; `attach` finds it again."""
        if self._supervised is not None:
            self._supervised.detach()

    def stop(self) -> None:
        """End what was started and remove all but the logs; an external context is left as it is.

        Idempotent.
        """
        if self._supervised is not None:
            self._supervised.stop()
        # First the supervisor, which ends its servers in order; then what it could not.
        records = dict(self._state.processes)
        supervisor = records.pop(SUPERVISOR, None)
        terminate([supervisor] if supervisor else [], grace_seconds=_GRACE_SECONDS)
        terminate(records.values(), grace_seconds=0)
        if self._state.source == "kind" and self._layout.state.exists():
            external.delete_kind_cluster(self._state.name)
        self._layout.clear()
        if self._disposable:
            shutil.rmtree(self.directory, ignore_errors=True)

    def _admin(self) -> kubeconfigs.Kubeconfig:
        return kubeconfigs.read(self.kubeconfig)


def _refuse_a_running_one(layout: Layout) -> None:
    before = ControlPlane.attach(layout.directory)
    if before is None:
        return
    if before.state.source == "kind" or any(record.is_running() for record in before.state.processes.values()):
        raise ControlPlaneError(
            f"a control plane already runs in {layout.directory}",
            hint=f"run `python -m controlplane down --dir {layout.directory}` or choose another directory",
        )


def prepare(progress: Progress) -> None:
    """Build what `ControlPlane.start` would have to build first, which takes minutes.

    Raises `ControlPlaneError`.
    """
    match choose(os.environ):
        case Assets(directory):
            binaries_in(directory, progress)
        case Cache():
            ensure_built(progress)


def _launch(layout: Layout, progress: Progress) -> tuple[State, Supervised | None]:
    source = choose(os.environ)
    match source:
        case ExternalContext(name):
            return external.use_context(layout, name, progress), None
        case Kind():
            return external.create_kind_cluster(layout, progress), None
        case Assets(directory):
            return _launch_servers(layout, binaries_in(directory, progress), progress)
        case Cache():
            return _launch_servers(layout, as_binaries(ensure_built(progress)), progress)


def _launch_servers(layout: Layout, programs: Binaries, progress: Progress) -> tuple[State, Supervised]:
    with progress.step("starting the control plane"):
        supervised = Supervised(layout, programs)
        try:
            supervised.wait_until_ready()
            state = State.read(layout.state)
            assert state is not None  # the supervisor wrote it before it said that it is ready
        except BaseException:
            supervised.stop()
            raise
    return state, supervised
