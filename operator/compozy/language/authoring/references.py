"""Renaming a step where templates refer to it. What is not a template, such as a schema, is never read as one."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from compozy.language.authoring.grammar import CONTROL, Kind
from compozy.language.authoring.places import Known, known_mappings, spec_path
from compozy.language.authoring.source import Node
from compozy.language.errors import JsonPath, LanguageError
from compozy.language.steps.template_nodes import Node as TemplateNode
from compozy.language.steps.template_nodes import Section, Text
from compozy.language.steps.template_parser import TemplateParser

_TAG = re.compile(r"\{\{(.*?)\}\}", re.DOTALL)
_HEAD = re.compile(r"(\s*(?:[#^/]\s*)?)([^\s.]+)(\s*\Z|\..*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class TemplateText:
    """A string that is a template, with its place."""

    path: JsonPath
    node: Node


def templates_after(root: Node, steps: JsonPath, index: int) -> Iterator[TemplateText]:
    """The templates that can name the step at a position: in later steps of its list, and after a plan's steps."""
    at_top = steps == (*spec_path(root), "steps")
    for known in known_mappings(root):
        for field, path, _, value in known.fields():
            later = path[: len(steps)] == steps and len(path) > len(steps) and _position(path, steps) > index
            after = at_top and path[: len(steps)] != steps
            if (later or after) and _holds_templates(field.kind, known):
                yield from (TemplateText(place, node) for place, node in value.scalars(path))


def _position(path: JsonPath, steps: JsonPath) -> int:
    position = path[len(steps)]
    return position if isinstance(position, int) else -1


def _holds_templates(kind: Kind, known: Known) -> bool:
    if kind is Kind.INPUT:
        tool = known.node.get("tool_name", "toolName")
        return tool is not None and (tool.scalar or "") not in CONTROL
    return kind in (Kind.TEXT, Kind.VALUE)


def renamed(text: str, old: str, new: str) -> str:
    """A template, or its text as it stands in a file, with every reference to one root renamed."""
    return _TAG.sub(lambda tag: f"{{{{{_renamed_tag(tag.group(1), old, new)}}}}}", text)


def _renamed_tag(tag: str, old: str, new: str) -> str:
    found = _HEAD.fullmatch(tag)
    return f"{found.group(1)}{new}{found.group(3)}" if found and found.group(2) == old else tag


def names_head(text: str, name: str) -> bool:
    """Whether any path of a template begins with a name, be it a step or a key of a section's element."""
    try:
        return any(head == name for head in _heads(TemplateParser(text).nodes))
    except LanguageError:
        return False


def _heads(nodes: tuple[TemplateNode, ...]) -> Iterator[object]:
    for node in nodes:
        if isinstance(node, Text):
            continue
        if isinstance(node.reference, tuple):
            yield node.reference[0]
        if isinstance(node, Section):
            yield from _heads(node.body)
