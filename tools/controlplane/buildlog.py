"""What the output of ``go build`` says went wrong."""

from __future__ import annotations

import re
from pathlib import Path

from controlplane.errors import ControlPlaneError

# Pattern in Go's output, what it means, what to do. The first that matches is taken: a full disk also makes
# links fail, and a compiler that was killed also prints an exit status.
_CAUSES = (
    (
        r"no space left on device",
        "no space left on device",
        "free about 6 GB (Go's caches, `go env GOCACHE GOMODCACHE`, need most of it) or set XDG_CACHE_HOME, "
        "GOCACHE, GOMODCACHE and TMPDIR to a larger disk, and run it again",
    ),
    (
        r"disk quota exceeded",
        "the disk quota is used up",
        "free about 6 GB or set XDG_CACHE_HOME, GOCACHE and GOMODCACHE to a larger disk, and run it again",
    ),
    (
        r"signal: killed|cannot allocate memory|out of memory",
        "the compiler was killed, most likely for want of memory",
        "free about 3 GB of memory, or set GOFLAGS=-p=1, and run it again",
    ),
    (
        r"dial tcp|i/o timeout|no such host|proxyconnect|TLS handshake timeout|connection refused|"
        r"certificate signed by unknown authority|module lookup disabled",
        "the Go modules could not be downloaded",
        "check the network and GOPROXY, and run it again: what was downloaded is kept",
    ),
    (
        r"checksum mismatch|SECURITY ERROR",
        "a Go module is not the one that go.sum pins",
        "run `go clean -modcache` and check GOPROXY",
    ),
    (r"requires go >= ", "this Go is too old", "install the Go that go.mod asks for, and run it again"),
)


def explain_build_failure(program: str, output: str, log: Path) -> ControlPlaneError:
    """The error for a build of ``program`` that failed with this output, which is kept in ``log``."""
    for pattern, meaning, hint in _CAUSES:
        if re.search(pattern, output, re.IGNORECASE):
            return ControlPlaneError(f"building {program} failed: {meaning}", hint=hint, log=log)
    lines = [line for line in output.splitlines() if line.strip()]
    last = lines[-1].strip()[:200] if lines else "go said nothing"
    return ControlPlaneError(f"building {program} failed: {last}", hint="see the log", log=log)
