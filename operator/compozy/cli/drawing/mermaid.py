"""A picture as Mermaid, which GitHub, GitLab and many editors draw.

Mermaid reads HTML, Markdown, directives and entities inside of quoted labels. So nothing that an author wrote
gets there as it is: all punctuation that could mean something is written as an entity, such as `#34;`.
"""

import re
from collections.abc import Iterator, Mapping

from compozy.cli.drawing.looks import (
    FRAME,
    Look,
    children_of,
    label_of,
    lines_of,
    look_of,
    look_of_link,
    title_of,
)
from compozy.cli.drawing.model import Drawing, Form, Link

_FRAMES: Mapping[Form, tuple[str, str]] = {
    "person": ("([", "])"),
    "choice": ("{", "}"),
    "gate": ("{{", "}}"),
    "spread": ("[/", "\\]"),
    "join": ("[\\", "/]"),
    "time": (">", "]"),
    "nested": ("[[", "]]"),
    "source": ("[/", "/]"),
    "action": ("[", "]"),
}
_NEITHER_LETTER_NOR_BLANK = re.compile(r"(?<=[A-Za-z0-9])[._-](?=[A-Za-z0-9])|[!-+.-/:-@\[-`{-~-]")
"""ASCII punctuation but the comma; within words `.`, `_` and `-` are matched to be left alone."""
_WORD_INNER = "._-"
_HARMLESS = "?'/"


def to_mermaid(drawing: Drawing) -> str:
    """The source of a flowchart."""
    return "\n".join(_lines(drawing)) + "\n"


def escaped(text: str) -> str:
    """Text as it can stand inside a quoted label."""

    def entity(found: re.Match[str]) -> str:
        character = found[0]
        inner = character in _WORD_INNER and _is_inner(text, found.start())
        return character if inner or character in _HARMLESS else f"#{ord(character)};"

    return _NEITHER_LETTER_NOR_BLANK.sub(entity, text)


def _is_inner(text: str, index: int) -> bool:
    around = text[index - 1 : index] + text[index + 1 : index + 2]
    return len(around) == 2 and around.isascii() and around.isalnum()


def _lines(drawing: Drawing) -> Iterator[str]:
    ids = {shape_id: f"n{number}" for number, shape_id in enumerate(drawing.shapes)}
    groups = {group_id: f"g{number}" for number, group_id in enumerate(drawing.groups)}
    yield "flowchart TD"
    yield from _inside(drawing, None, ids, groups, "  ")
    for link in drawing.links:
        yield f"  {ids[link.source]} {_arrow(link)} {ids[link.target]}"
    for number, link in enumerate(drawing.links):
        yield f"  linkStyle {number} {_line_style(look_of_link(link))}"
    for group in groups.values():
        yield f"  style {group} fill:transparent,stroke:{FRAME},stroke-dasharray:4 4"
    looks = dict(map(look_of, drawing.shapes.values()))
    for name, look in looks.items():
        yield f"  classDef {name} fill:{look.fill},color:{look.text},{_line_style(look)}"


def _inside(
    drawing: Drawing, parent: str | None, ids: Mapping[str, str], groups: Mapping[str, str], indent: str
) -> Iterator[str]:
    shapes, inner = children_of(drawing, parent)
    for shape in shapes:
        begin, end = _FRAMES[shape.form]
        label = "<br/>".join(escaped(line) for line in lines_of(shape))
        yield f'{indent}{ids[shape.id]}{begin}"{label}"{end}:::{look_of(shape)[0]}'
    for group in inner:
        yield f'{indent}subgraph {groups[group.id]}["{escaped(title_of(group))}"]'
        yield from _inside(drawing, group.id, ids, groups, indent + "  ")
        yield f"{indent}end"


def _arrow(link: Link) -> str:
    arrow = "==>" if link.taken else "-.->" if link.taken is False or link.kind == "exception" else "-->"
    label = label_of(link)
    return f'{arrow}|"{escaped(label)}"|' if label else arrow


def _line_style(look: Look) -> str:
    dashes = f",stroke-dasharray:{' '.join(map(str, look.dashes))}" if look.dashes else ""
    return f"stroke:{look.stroke},stroke-width:{look.width:g}px{dashes}"
