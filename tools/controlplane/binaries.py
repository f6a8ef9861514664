"""The server programs, built once from pinned Go modules into a per-user cache."""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
import signal
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from controlplane.buildlog import explain_build_failure
from controlplane.errors import ControlPlaneError, disk_errors_explained
from controlplane.locking import exclusively
from controlplane.processes import killed_with_parent
from controlplane.progress import Progress
from controlplane.toolchain import build_environment, find_go, required_version

MODULES = Path(__file__).parent / "modules"
KUBERNETES_VERSION = "v1.37.2"

_KUBERNETES_STAMP = " ".join(
    f"-X k8s.io/component-base/version.{name}={value}"
    for name, value in (
        ("gitVersion", KUBERNETES_VERSION),
        ("gitMajor", KUBERNETES_VERSION[1:].split(".")[0]),
        ("gitMinor", KUBERNETES_VERSION[1:].split(".")[1]),
    )
)


@dataclass(frozen=True)
class Program:
    """One server program: the module that pins it, its package and flags, how long a first build takes."""

    name: str
    module: str
    package: str
    ldflags: str
    minutes: int

    def build_command(self, go: str, output: Path) -> list[str]:
        """The ``go build`` command, to be run in the module's directory."""
        flags = ["-mod=readonly", "-trimpath", "-ldflags", self.ldflags, "-o", str(output)]
        return [go, "build", *flags, self.package]


PROGRAMS = (
    Program("etcd", "etcd", "go.etcd.io/etcd/server/v3", "-s -w", 1),
    Program(
        "kube-apiserver",
        "kubernetes",
        "k8s.io/kubernetes/cmd/kube-apiserver",
        f"-s -w {_KUBERNETES_STAMP}",
        7,
    ),
    Program(
        "kube-controller-manager",
        "kubernetes",
        "k8s.io/kubernetes/cmd/kube-controller-manager",
        f"-s -w {_KUBERNETES_STAMP}",
        2,
    ),
)


@dataclass(frozen=True)
class Binaries:
    """Paths of the three server programs."""

    etcd: Path
    apiserver: Path
    controller_manager: Path


def cache_key(modules: Path = MODULES) -> str:
    """A short hash of all that decides what is built: go.mod, go.sum, flags, platform."""
    digest = hashlib.sha256(f"{platform.system()} {platform.machine()}\n".encode())
    for program in PROGRAMS:
        digest.update("\0".join(program.build_command("go", Path(program.name))).encode() + b"\n")
        for name in ("go.mod", "go.sum"):
            digest.update((modules / program.module / name).read_bytes())
    return digest.hexdigest()[:16]


def cache_directory(environ: Mapping[str, str]) -> Path:
    """Where the programs are kept: below XDG_CACHE_HOME, else below ~/.cache."""
    base = Path(environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base.absolute() / "compozy" / "controlplane" / cache_key()


def ensure_built(progress: Progress, only: frozenset[str] | None = None) -> dict[str, Path]:
    """Paths of the programs (or of those named in ``only``), building what the cache does not hold yet.

    Only one process builds at a time; a second waits and says so. A program is built under another name
    and renamed when it is complete, so one that is there is whole. Raises `ControlPlaneError`.
    """
    cache = cache_directory(os.environ)
    wanted = [program for program in PROGRAMS if only is None or program.name in only]
    paths = {program.name: cache / program.name for program in wanted}
    if all(path.exists() for path in paths.values()):
        return paths
    with disk_errors_explained(cache):
        cache.mkdir(parents=True, exist_ok=True)
        with exclusively(cache / "lock", progress, "waiting for another build of the control plane"):
            missing = [program for program in wanted if not (cache / program.name).exists()]
            if missing:
                _build_all(missing, cache, progress)
    return paths


def _build_all(programs: list[Program], cache: Path, progress: Progress) -> None:
    wheel = cache / "go-toolchain"
    go = find_go(required_version([MODULES / program.module / "go.mod" for program in PROGRAMS]), wheel, progress)
    for program in programs:
        expected = f"once; up to {program.minutes} min on 2 cores"
        with progress.step(f"building {program.name} ({expected})"), _scratch(cache / "tmp") as scratch:
            _build(program, go, cache, scratch)
    shutil.rmtree(wheel, ignore_errors=True)  # 240 MB that nothing needs once all is built


@contextmanager
def _scratch(directory: Path) -> Iterator[Path]:
    """A place of ours for Go's temporary files, so that a build that was killed leaves none in /tmp."""
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir()
    try:
        yield directory
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def _build(program: Program, go: str, cache: Path, scratch: Path) -> None:
    unfinished = cache / f"{program.name}.unfinished"
    process = subprocess.Popen(
        program.build_command(go, unfinished),
        cwd=MODULES / program.module,
        env={**build_environment(os.environ), "GOTMPDIR": str(scratch)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,  # not a file: on a disk that is full it would stay empty
        stderr=subprocess.STDOUT,
        process_group=0,
        preexec_fn=killed_with_parent(),
    )
    try:
        output = process.communicate()[0]
    except BaseException:
        _end_group(process)
        raise
    if process.returncode != 0:
        unfinished.unlink(missing_ok=True)
        log = cache / f"{program.name}.build.log"
        with suppress(OSError):
            log.write_bytes(output)
        raise explain_build_failure(program.name, output.decode(errors="replace"), log)
    unfinished.rename(cache / program.name)


def _end_group(process: subprocess.Popen[bytes]) -> None:
    """End the compiler processes too, which are in the group of ``go``."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def binaries_in(directory: Path, progress: Progress) -> Binaries:
    """The programs in a directory such as KUBEBUILDER_ASSETS.

    The assets of envtest have no kube-controller-manager: it is then built. Raises `ControlPlaneError`
    when etcd or kube-apiserver is not there.
    """
    paths = {program.name: directory / program.name for program in PROGRAMS}
    absent = frozenset(name for name, path in paths.items() if not os.access(path, os.X_OK))
    needed = absent - {"kube-controller-manager"}
    if needed:
        raise ControlPlaneError(
            f"KUBEBUILDER_ASSETS={directory} has no {' and no '.join(sorted(needed))}",
            hint="point it at a directory with etcd and kube-apiserver, or unset it",
        )
    if absent:
        progress.note(f"KUBEBUILDER_ASSETS has no kube-controller-manager: taking our own {KUBERNETES_VERSION}")
        paths |= ensure_built(progress, absent)
    return as_binaries(paths)


def as_binaries(paths: Mapping[str, Path]) -> Binaries:
    """The three programs by their names."""
    return Binaries(paths["etcd"], paths["kube-apiserver"], paths["kube-controller-manager"])
