"""Where the grammar's own mappings are in a document: everything else belongs to the author."""

from collections.abc import Iterator
from dataclasses import dataclass

from compozy.language.authoring.grammar import CALL, CONTROL, IDENTITY, SPEC, STEP, TABLES, Field, Kind, Table
from compozy.language.authoring.source import Node
from compozy.language.errors import JsonPath
from compozy.language.keys import camel


@dataclass(frozen=True, slots=True)
class Known:
    """A mapping whose keys the grammar knows."""

    path: JsonPath
    node: Node
    table: Table
    is_camel: bool = False
    """Whether its normal spelling is camelCase, as in the resource: only in the `spec` of a manifest."""

    def normal(self, key: str) -> str:
        """The normal spelling of a key; one that the grammar does not know stays as it is."""
        for name in self.table:
            if key in (name, camel(name)):
                return camel(name) if self.is_camel else name
        return key

    def fields(self) -> Iterator[tuple[Field, JsonPath, Node, Node]]:
        """Each key that the grammar knows: what it is, the path of its value, the key and the value."""
        names = {spelling: name for name in self.table for spelling in (name, camel(name))}
        for key, value in self.node.pairs or ():
            name = names.get(key.scalar or "")
            if name is not None:
                yield self.table[name], (*self.path, key.scalar or ""), key, value


def is_manifest(root: Node) -> bool:
    """Whether a document is a resource and no bare plan."""
    return root.get("kind") is not None and root.get("apiVersion") is not None


def spec_path(root: Node) -> JsonPath:
    """Where the plan itself is."""
    return ("spec",) if is_manifest(root) else ()


def known_mappings(root: Node) -> Iterator[Known]:
    """Every mapping of the grammar, from the outside in and in the order of the text."""
    if not is_manifest(root):
        yield from _mapping(Known((), root, {**IDENTITY, **SPEC}))
    elif (spec := root.get("spec")) is not None:
        yield from _mapping(Known(("spec",), spec, SPEC, is_camel=True))


def _mapping(known: Known) -> Iterator[Known]:
    if known.node.pairs is None:
        return
    yield known
    for field, path, _, value in known.fields():
        if field.kind is Kind.INPUT:
            tool = known.node.get("tool_name", "toolName")
            table = CONTROL.get((tool.scalar if tool is not None else None) or "")
            if table is not None:
                yield from _mapping(Known(path, value, table))
        elif field.kind in TABLES:
            resource = known.is_camel and field.kind is Kind.REQUESTS
            yield from _mapping(Known(path, value, TABLES[field.kind], is_camel=resource))
        elif field.kind in (Kind.STEPS, Kind.BODY):
            yield from _body(path, value)


def _body(path: JsonPath, body: Node) -> Iterator[Known]:
    if body.items is None:
        yield from _mapping(Known(path, body, CALL))
    for index, step in enumerate(body.items or ()):
        yield from _mapping(Known((*path, index), step, STEP))
