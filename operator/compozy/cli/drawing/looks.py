"""How states look, in whatever draws them: by colour, and by lines and marks for those who see none.

Shapes bring their own background and text colour, and lines are of a middle tone, so that a picture can be read
on a light page and on a dark one.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from compozy.cli.drawing.model import Drawing, Group, Link, Shape
from compozy.cli.output.text import clean, cut

TITLE = 40
NOTE = 56
LABEL = 40
"""Longest title, line below it, and label of a link, in columns."""

PERSON = "☺"
"""What a shape in which people decide begins with. Every font for text has it."""

_COUNTED = 36
"""Longest title of a frame that also tells of its lanes."""


@dataclass(frozen=True, slots=True)
class Look:
    """Colours as `#rrggbb`, widths in pixels, dashes as lengths of a stroke and a gap; empty for a solid line."""

    fill: str
    stroke: str
    text: str
    width: float = 1.5
    dashes: tuple[int, ...] = ()
    mark: str = ""


STATES: Mapping[str, Look] = {
    "Pending": Look("#f8fafc", "#64748b", "#334155", 1, (), "·"),
    "Waiting": Look("#fef3c7", "#b45309", "#451a03", 3, (8, 3), "?"),
    "Running": Look("#dbeafe", "#1d4ed8", "#172554", 3, (), "…"),
    "Succeeded": Look("#dcfce7", "#15803d", "#052e16", 1.5, (), "✓"),
    "Failed": Look("#fee2e2", "#b91c1c", "#450a0a", 4, (), "✗"),
    "Skipped": Look("#f1f5f9", "#94a3b8", "#64748b", 1.5, (1, 4), "-"),
    "Canceled": Look("#e2e8f0", "#475569", "#1e293b", 2, (4, 4), "✗"),
}
STATES = {**STATES, "Ready": STATES["Pending"]}
HANDLED = Look("#ffedd5", "#c2410c", "#431407", 2, (), "!")
"""Where a failure was foreseen by the plan."""
PLAIN = Look("#eef2ff", "#475569", "#0f172a")
"""Without a run."""
PEOPLE = Look("#fdf4ff", "#a21caf", "#4a044e", 2)
"""Without a run, where people are asked."""

TAKEN = Look("", "#15803d", "", 3)
TAKEN_EXCEPTION = Look("", "#15803d", "", 3, (8, 4))
OPEN = Look("", "#7b8794", "", 1.5)
OPEN_EXCEPTION = Look("", "#7b8794", "", 1.5, (8, 4))
NOT_TAKEN = Look("", "#8b95a3", "", 1.5, (1, 4))
FRAME = "#7b8794"


def look_of(shape: Shape) -> tuple[str, Look]:
    """The name of a look and the look."""
    if shape.is_handled:
        return "handled", HANDLED
    if shape.status is not None:
        return shape.status.lower(), STATES[shape.status]
    return ("people", PEOPLE) if shape.form == "person" else ("plain", PLAIN)


def look_of_link(link: Link) -> Look:
    """How a link is drawn: what was taken is thick, what only happens in exceptions dashed, the rest dotted."""
    if link.taken is False:
        return NOT_TAKEN
    exception = link.kind == "exception"
    if link.taken:
        return TAKEN_EXCEPTION if exception else TAKEN
    return OPEN_EXCEPTION if exception else OPEN


def lines_of(shape: Shape) -> Iterator[str]:
    """The lines inside a shape. They hold what authors wrote: whoever draws escapes them."""
    mark = f"{look_of(shape)[1].mark} " if shape.status is not None else ""
    person = f"{PERSON} " if shape.form == "person" else ""
    title, kind = clean(shape.title), clean(shape.kind) + (", reviewed" if shape.is_reviewed else "")
    yield cut(mark + person + title, TITLE)
    if kind != title:
        yield cut(kind, TITLE)
    yield from (cut(clean(note), NOTE) for note in (*shape.notes, *shape.told) if note)


def title_of(group: Group) -> str:
    """The title of a frame."""
    if not group.told:
        return cut(clean(group.title), NOTE)
    return f"{cut(clean(group.title), _COUNTED)}: {group.told}"


def label_of(link: Link) -> str:
    """The label of a link, cut."""
    return cut(clean(link.label), LABEL)


def children_of(drawing: Drawing, parent: str | None) -> tuple[list[Shape], list[Group]]:
    """What stands directly in a frame, or in none."""
    shapes = [shape for shape in drawing.shapes.values() if shape.group == parent]
    return shapes, [group for group in drawing.groups.values() if group.parent == parent]
