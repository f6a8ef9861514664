from __future__ import annotations

import io
import re

import pytest

from controlplane import progress

pytestmark = pytest.mark.unit


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0.0 s"), (0.44, "0.4 s"), (12.4, "12 s"), (59.6, "1 min 0 s"), (444, "7 min 24 s")],
)
def test_elapsed(seconds: float, text: str) -> None:
    assert progress.format_elapsed(seconds) == text


def test_a_log_gets_one_line_at_start_and_one_at_the_end() -> None:
    stream = io.StringIO()
    with progress.Progress(stream).step("building etcd"):
        assert stream.getvalue() == "building etcd ...\n"
    assert re.fullmatch(r"building etcd \.\.\.\nbuilding etcd: done \([\d.]+ s\)\n", stream.getvalue())


@pytest.mark.parametrize(("error", "outcome"), [(OSError, "failed"), (KeyboardInterrupt, "interrupted")])
def test_a_step_that_does_not_end_well(error: type[BaseException], outcome: str) -> None:
    stream = io.StringIO()
    with pytest.raises(error), progress.Progress(stream).step("building"):
        raise error
    assert f"building: {outcome} (" in stream.getvalue()


def test_a_terminal_gets_one_line_that_is_rewritten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "_REWRITE_EVERY_SECONDS", 0.001)
    stream = Terminal()
    with progress.Progress(stream).step("building"):
        while stream.getvalue().count("\r") < 3:
            pass
    written = stream.getvalue()
    assert written.count("\n") == 1
    assert re.search(r"\r\x1b\[2Kbuilding \.\.\. [\d.]+ s", written)
    assert re.search(r"\r\x1b\[2Kbuilding: done \([\d.]+ s\)\n$", written)


def test_silence() -> None:
    silent = progress.Silent(stream := io.StringIO())
    silent.note("text")
    with silent.step("step"):
        pass
    assert stream.getvalue() == ""
