"""What is kept in a control plane's directory, and the state file that ``down`` trusts."""

from __future__ import annotations

import json
import shutil
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Literal

from controlplane.processes import ProcessRecord

SUPERVISOR = "supervisor"
ETCD = "etcd"
APISERVER = "kube-apiserver"
CONTROLLER_MANAGER = "kube-controller-manager"

SourceKind = Literal["context", "binaries", "kind"]


@dataclass(frozen=True)
class Layout:
    """The paths in a control plane's directory."""

    directory: Path

    @property
    def kubeconfig(self) -> Path:
        """The administrator's kubeconfig."""
        return self.directory / "kubeconfig"

    @property
    def state(self) -> Path:
        """The state file."""
        return self.directory / "state.json"

    @property
    def lock(self) -> Path:
        """The file that ``up`` and ``down`` lock, so that two of them never overlap."""
        return self.directory / "lock"

    @property
    def pki(self) -> Path:
        """Certificates and keys of this run."""
        return self.directory / "pki"

    @property
    def users(self) -> Path:
        """Kubeconfigs made on demand."""
        return self.directory / "users"

    @property
    def data(self) -> Path:
        """etcd's data."""
        return self.directory / "etcd"

    def log(self, process: str) -> Path:
        """The log of one process."""
        return self.directory / f"{process}.log"

    def create(self) -> None:
        """Make the directory, for its owner alone, without what an earlier run left but for its logs."""
        self.directory.mkdir(parents=True, exist_ok=True)
        self.clear()
        for path in (self.pki, self.users):
            path.mkdir(mode=0o700)

    def clear(self) -> None:
        """Remove what is of no use once the control plane is down; the logs stay."""
        for path in (self.pki, self.users, self.data):
            shutil.rmtree(path, ignore_errors=True)
        for path in (self.kubeconfig, self.state):
            path.unlink(missing_ok=True)


@dataclass(frozen=True)
class State:
    """A control plane that was started: where it came from, where it answers, which processes it is.

    ``name`` is the context (source ``context``) or the kind cluster (source ``kind``).
    """

    source: SourceKind
    server: str
    name: str = ""
    processes: dict[str, ProcessRecord] = field(default_factory=dict)

    def write(self, path: Path) -> None:
        """Write it so that no reader ever sees a part of it."""
        unfinished = path.with_suffix(".unfinished")
        unfinished.write_text(json.dumps(asdict(self), indent=2) + "\n")
        unfinished.rename(path)

    @classmethod
    def read(cls, path: Path) -> State | None:
        """Read it; None when there is none. A file that cannot be understood raises `ValueError`."""
        try:
            text = path.read_text()
        except FileNotFoundError:
            return None
        try:
            loaded = json.loads(text)
            processes = {name: ProcessRecord(**record) for name, record in loaded.pop("processes").items()}
            return cls(**loaded, processes=processes)
        except (AttributeError, KeyError, TypeError, json.JSONDecodeError) as error:
            raise ValueError(f"{path} is not a state file of the control plane: {error}") from error
