from __future__ import annotations

from pathlib import Path

import pytest

from controlplane.buildlog import explain_build_failure

pytestmark = pytest.mark.unit

LOG = Path("kube-apiserver.build.log")


@pytest.mark.parametrize(
    ("output", "says", "advises"),
    [
        ("compile: writing output: write $WORK/b1/_pkg_.a: no space left on device", "no space left", "free"),
        (
            "link: flushing $WORK/exe: no space left on device\nlink: signal: killed",
            "no space left",
            "GOCACHE",
        ),
        ("open /x: disk quota exceeded", "quota", "free"),
        ("k8s.io/api: compile: signal: killed", "want of memory", "GOFLAGS=-p=1"),
        (
            'go: k8s.io/api@v0.37.2: Get "https://proxy.test/x": dial tcp: lookup proxy.test: no such host',
            "could not be downloaded",
            "GOPROXY",
        ),
        ("verifying k8s.io/api@v0.37.2: checksum mismatch\n\nSECURITY ERROR", "not the one", "modcache"),
        ("go: go.mod requires go >= 1.26.0 (running go 1.25.1; GOTOOLCHAIN=local)", "too old", "install"),
        ("main.go:3:1: syntax error\n\n", "main.go:3:1: syntax error", "see the log"),
        ("", "go said nothing", "see the log"),
    ],
)
def test_one_line_says_what_happened_what_to_do_and_where_the_rest_is(
    output: str, says: str, advises: str
) -> None:
    error = explain_build_failure("kube-apiserver", output, LOG)

    assert says in error.message
    assert advises in error.hint
    assert str(error).startswith("building kube-apiserver failed: ")
    assert str(error).endswith(f"(full log: {LOG})")
    assert "\n" not in str(error)
