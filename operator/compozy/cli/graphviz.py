"""Graphviz's own program, for pictures as SVG."""

import shutil
import subprocess

from compozy.cli.errors import CliError

_PROGRAM = "dot"


def to_svg(source: str) -> str:
    """The picture of a graph. Raises CliError where the program is not there, or cannot draw it."""
    program = shutil.which(_PROGRAM)
    if program is None:
        message = "-o svg needs Graphviz: install graphviz, so that `dot` is on PATH, or leave out -o for Mermaid"
        raise CliError("graphviz_missing", message)
    done = subprocess.run(  # noqa: S603 - the program of that name on PATH; what it draws goes through stdin
        [program, "-Tsvg"], input=source.encode("utf-8", "replace"), capture_output=True, check=False
    )
    if done.returncode != 0:
        told = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise CliError("graphviz_failed", f"dot could not draw it: {told[0] if told else done.returncode}")
    return done.stdout.decode("utf-8")
