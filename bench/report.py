"""The figures as a table for people, and everything as JSON."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from bench.figures import Figure
from bench.life import Lives
from bench.lists import FirstPages
from bench.plugin import Startup

_VERDICTS = {True: "pass", False: "MISSED", None: ""}


def table(figures: Iterable[Figure], ours: str, theirs: str) -> str:
    """A plain table; the columns of the other side are left out where it was not measured."""
    figures = list(figures)
    compared = any(figure.theirs is not None for figure in figures)
    headings = ["", "unit", ours, *((theirs, "ratio") if compared else ()), "target", ""]
    rows = [headings, *(_row(figure, compared) for figure in figures)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    numbers = range(2, 5 if compared else 3)
    lines = [
        "  ".join(
            text.rjust(width) if at in numbers else text.ljust(width)
            for at, (text, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
    return "\n".join([lines[0], "-" * max(map(len, lines)), *lines[1:]])


def _row(figure: Figure, compared: bool) -> list[str]:
    target = ""
    if figure.target is not None and (compared or not figure.on_ratio):
        of = "ratio " if figure.on_ratio else ""
        target = f"{of}{figure.target.relation} {figure.target.bound:g}"
    others = (_number(figure.theirs, figure.digits), _number(figure.ratio, 2)) if compared else ()
    own = _number(figure.ours, figure.digits)
    return [figure.title, figure.unit, own, *others, target, _VERDICTS[figure.is_met]]


def _number(value: float | None, digits: int) -> str:
    return "" if value is None else f"{value:.{digits}f}"


def verdict(figures: Iterable[Figure]) -> str:
    """One line: which targets were missed."""
    missed = [figure.title.strip() for figure in figures if figure.is_met is False]
    return f"Missed: {'; '.join(missed)}." if missed else "All targets are met."


def write(
    path: Path,
    settings: Mapping[str, Any],
    machine: Mapping[str, Any],
    figures: Iterable[Figure],
    lives: Mapping[str, Sequence[Lives]],
    startup: Startup,
    pages: FirstPages,
) -> None:
    """Write everything that was measured."""
    content = {
        "settings": dict(settings),
        "machine": dict(machine),
        "figures": {figure.key: _entry(figure) for figure in figures},
        "lives": {name: [asdict(one) for one in several] for name, several in lives.items()},
        "plugin": asdict(startup),
        "lists": asdict(pages),
    }
    path.write_text(json.dumps(content, indent=2) + "\n")


def _entry(figure: Figure) -> dict[str, Any]:
    target = None
    if figure.target is not None:
        of = "ratio" if figure.on_ratio else "value"
        target = {"of": of, "relation": figure.target.relation, "bound": figure.target.bound, "met": figure.is_met}
    return {
        "title": figure.title.strip(),
        "unit": figure.unit,
        "ours": figure.ours,
        "prototype": figure.theirs,
        "ratio": figure.ratio,
        "target": target,
    }
