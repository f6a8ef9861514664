"""Renaming a step as one change: its id, and every reference to it."""

from dataclasses import dataclass
from typing import Any

from compozy.language.authoring.emit import text_scalar
from compozy.language.authoring.places import spec_path
from compozy.language.authoring.references import TemplateText, names_head, renamed, templates_after
from compozy.language.authoring.source import Source, Splice, spliced
from compozy.language.errors import JsonPath, format_path
from compozy.language.problems import Problem


@dataclass(frozen=True, slots=True)
class Rename:
    """Another id for a step, in the text that it was made for."""

    step_id: TemplateText
    places: tuple[TemplateText, ...]
    """The templates that can name the step."""
    old: str
    new: str

    @classmethod
    def of(cls, source: Source, steps: JsonPath, index: int, old: str, new: str) -> "Rename":
        """The change of the step at a position of a list of steps."""
        path = (*steps, index, "id")
        step_id = source.at(path)
        if step_id is None:
            raise KeyError(path)
        places = tuple(templates_after(source.root, steps, index))
        return cls(TemplateText(path, step_id), places, old, new)

    def to_text(self, text: str) -> str:
        """The text after the change."""
        at = self.step_id.node
        splices = {at.start: Splice(at.start, at.end, text_scalar(self.new))}
        for place in self.places:
            start, end = place.node.start, place.node.end
            splices[start] = Splice(start, end, renamed(text[start:end], self.old, self.new))
        return spliced(text, list(splices.values()))

    def to_value(self, value: Any) -> None:
        """Makes the change to the value."""
        _parent(value, self.step_id.path)["id"] = self.new
        for place in self.places:
            parent, last = _parent(value, place.path), place.path[-1]
            if isinstance(parent[last], str):
                parent[last] = renamed(parent[last], self.old, self.new)

    def captures(self, source: Source) -> list[Problem]:
        """Templates that already use the new name: a key of a section's element would come to mean the step."""
        message = f"refers to `{self.new}` already, which would come to mean this step; choose another id"
        prefix = len(spec_path(source.root))
        found = [place for place in self.places if names_head(place.node.scalar or "", self.new)]
        return [Problem(format_path(place.path[prefix:]), "name_captured", message) for place in found]


def _parent(value: Any, path: JsonPath) -> Any:
    for segment in path[:-1]:
        value = value[segment]
    return value
