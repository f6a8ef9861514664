"""Places in a plan as people write them, found in a document."""

from dataclasses import dataclass

from compozy.language.authoring.changes import AuthoringError
from compozy.language.authoring.places import is_manifest, known_mappings, spec_path
from compozy.language.authoring.source import Node, Source
from compozy.language.errors import JsonPath, format_path, name_keys


@dataclass(frozen=True, slots=True)
class Place:
    """How far a path leads, and what of it is not there yet."""

    path: JsonPath
    missing: tuple[str, ...] = ()
    order: tuple[str, ...] = ()
    """The usual order of the keys beside the first missing one."""


@dataclass(frozen=True, slots=True)
class StepPlace:
    """A step in a list of steps."""

    steps: JsonPath
    index: int

    @property
    def path(self) -> JsonPath:
        """The step's own path."""
        return (*self.steps, self.index)


def find(source: Source, written: str, start: JsonPath | None = None) -> Place:
    """The place of a dotted path, from the plan itself or from `start`. Raises AuthoringError."""
    segments = written.split(".")
    if not all(segments):
        raise AuthoringError(f"{written!r} is no path; write keys with dots between them: steps.E0.input.prompt")
    if start is None:
        start, segments = _from_top(source.root, segments)
    known = {mapping.path: mapping for mapping in known_mappings(source.root)}
    path, node = start, source.at(start)
    for position, segment in enumerate(segments):
        mapping = known.get(path)
        key: str | int = mapping.normal(segment) if mapping is not None else segment
        if node is not None and node.items is not None:
            key = _index(node, segment, path)
        elif node is None or node.pairs is None or node.child(key) is None:
            _require_room(node, path)
            order = tuple(map(mapping.normal, mapping.table)) if mapping is not None else ()
            return Place(path, (str(key), *segments[position + 1 :]), order)
        path, node = (*path, key), node.child(key)
    return Place(path)


def find_step(source: Source, written: str) -> StepPlace:
    """The step of an id, or of a path such as `E1/do/B0`. Raises AuthoringError."""
    path: JsonPath = (*spec_path(source.root), "steps")
    outer, *inner = written.split("/")
    place = _step(source, path, outer)
    for body, name in zip(inner[::2], inner[1::2], strict=False):
        place = _step(source, (*place.path, "input", body), name)
    if len(inner) % 2:
        raise AuthoringError(f"{written!r} names a body; add the id of a step in it")
    return place


def ids_of(node: Node) -> list[str]:
    """The ids of the elements of a list that have one."""
    found = [item.get("id") for item in node.items or ()]
    return [step_id.scalar for step_id in found if step_id is not None and step_id.scalar is not None]


def _from_top(root: Node, segments: list[str]) -> tuple[JsonPath, list[str]]:
    """Where to begin, and the rest: a manifest has its name in `metadata` and the plan in `spec`."""
    if not is_manifest(root) or segments[0] in ("apiVersion", "kind", "metadata", "spec"):
        return (), segments
    return (("metadata",) if segments[0] == "name" else ("spec",)), segments


def _index(node: Node, segment: str, path: JsonPath) -> int:
    items = node.items or []
    for index, item in enumerate(items):
        step_id = item.get("id")
        if step_id is not None and step_id.scalar == segment:
            return index
    if segment.isdecimal() and int(segment) < len(items):
        return int(segment)
    known = name_keys(ids_of(node)) if ids_of(node) else f"{len(items)} elements"
    raise AuthoringError(f"there is no {segment} in {format_path(path)}; there are: {known}")


def _require_room(node: Node | None, path: JsonPath) -> None:
    """Keys can be added to a mapping, and to what is null or not there."""
    if node is not None and node.pairs is None and not node.is_null:
        raise AuthoringError(f"{format_path(path) or 'the document'} is no object: it has no keys")


def _step(source: Source, path: JsonPath, name: str) -> StepPlace:
    steps = source.at(path)
    if steps is None or steps.items is None:
        raise AuthoringError(f"there is no list of steps at {format_path(path)}")
    if name not in ids_of(steps):
        raise AuthoringError(f"there is no step {name!r}; there are: {name_keys(ids_of(steps))}")
    return StepPlace(path, _index(steps, name, path))
