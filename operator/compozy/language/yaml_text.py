"""YAML text to plain JSON values, with the position of every path.

Plans come from people and from the network: a document is refused when it nests too deep, when its aliases
expand to too much, or when a key is written twice (PyYAML would silently keep the last one).
"""

import re
from dataclasses import dataclass, field
from typing import Any

import yaml

from compozy.language.problems import PlanInvalid, Problem
from compozy.language.shapes.bounds import json_faults

MAX_BYTES = 2 * 1024 * 1024
"""Longest document, in characters: above what the API server stores anyway."""
MAX_DEPTH = 100
"""Deepest nesting."""
MAX_VALUES = 400_000
"""Most values after aliases are expanded."""

MAX_NUMBER = 400
"""Longest number, in characters: no number of 64 bits needs more."""

_Base: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _Loader(_Base):  # type: ignore[misc]
    """PyYAML's safe loader, without dates: JSON has none, so `2026-01-01` stays text, as Kubernetes reads it."""


_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:timestamp"]
    for first, resolvers in _Base.yaml_implicit_resolvers.items()
}

# PyYAML wants a dot in every number with an exponent; JSON and the YAML that Kubernetes reads do not. And it
# takes `12:30:45` for a number to the base of 60, which they do not either.
_EXPONENT = re.compile(r"[-+]?[0-9]+(\.[0-9]*)?[eE][-+]?[0-9]+\Z", re.ASCII)
_BASE_60 = re.compile(r"[-+]?[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)?\Z", re.ASCII)
for _first in "-+0123456789":
    _resolvers = _Loader.yaml_implicit_resolvers.setdefault(_first, [])
    _resolvers[:0] = [("tag:yaml.org,2002:float", _EXPONENT), ("tag:yaml.org,2002:str", _BASE_60)]

_NUMBERS = ("tag:yaml.org,2002:int", "tag:yaml.org,2002:float")
_TAGS = {f"tag:yaml.org,2002:{name}" for name in ("str", "int", "float", "bool", "null", "map", "seq")}


@dataclass(slots=True)
class YamlText:
    """A parsed document: its value and where each path stands, line and column counted from 1."""

    value: Any
    positions: dict[str, tuple[int, int]] = field(default_factory=dict)


def load(text: str) -> YamlText:
    """Parse one YAML (or JSON) document.

    Raises:
        PlanInvalid: with code `yaml_syntax`, `yaml_duplicate_key`, `yaml_too_large` or `yaml_unsupported`.
    """
    if len(text) > MAX_BYTES:
        raise _invalid("yaml_too_large", f"the document has {len(text)} characters; at most {MAX_BYTES} fit")
    loader = _Loader(text)
    try:
        node = loader.get_single_node()
        if node is None:
            raise _invalid("yaml_syntax", "the document is empty")
        return _Walk(loader).document(node)
    except RecursionError:
        raise _invalid("yaml_too_large", f"the document nests deeper than {MAX_DEPTH} levels") from None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        text_of_problem = error.problem or error.context or "not YAML"
        raise _invalid("yaml_syntax", text_of_problem, mark) from None
    except (yaml.YAMLError, ValueError) as error:
        if isinstance(error, PlanInvalid):
            raise
        raise _invalid("yaml_syntax", str(error)) from None
    finally:
        loader.dispose()


def _invalid(code: str, message: str, mark: Any = None, path: str = "") -> PlanInvalid:
    line, column = (mark.line + 1, mark.column + 1) if mark is not None else (1, 1)
    return PlanInvalid([Problem(path, code, message, line, column)])


class _Walk:
    """Builds values from YAML nodes, counting them so that aliases cannot multiply without end."""

    def __init__(self, loader: Any) -> None:
        self.loader = loader
        self.positions: dict[str, tuple[int, int]] = {}
        self.count = 0

    def document(self, node: yaml.Node) -> YamlText:
        value = self.value(node, "", 0)
        return YamlText(value, self.positions)

    def value(self, node: yaml.Node, path: str, depth: int) -> Any:
        self.count += 1
        if depth > MAX_DEPTH:
            raise _invalid("yaml_too_large", f"nests deeper than {MAX_DEPTH} levels", node.start_mark, path)
        if self.count > MAX_VALUES:
            raise _invalid("yaml_too_large", f"has more than {MAX_VALUES} values", node.start_mark, path)
        self.positions[path] = (node.start_mark.line + 1, node.start_mark.column + 1)
        if node.tag not in _TAGS:
            raise _invalid("yaml_unsupported", f"the tag {node.tag} has no JSON value", node.start_mark, path)
        if isinstance(node, yaml.MappingNode):
            return self.mapping(node, path, depth)
        if isinstance(node, yaml.SequenceNode):
            return [self.value(item, f"{path}[{i}]", depth + 1) for i, item in enumerate(node.value)]
        return self.scalar(node, path)

    def scalar(self, node: yaml.Node, path: str) -> Any:
        if node.tag in _NUMBERS and len(node.value) > MAX_NUMBER:
            message = f"a number has at most {MAX_NUMBER} characters; put longer ones in quotes"
            raise _invalid("yaml_unsupported", message, node.start_mark, path)
        try:
            value = self.loader.construct_object(node)
        except (ValueError, LookupError):
            message = f"`{node.value[:40]}` is no {node.tag.rpartition(':')[2]}"
            raise _invalid("yaml_syntax", message, node.start_mark, path) from None
        if fault := json_faults(value).get(()):
            raise _invalid("yaml_unsupported", fault, node.start_mark, path)
        return value

    def mapping(self, node: yaml.MappingNode, path: str, depth: int) -> dict[str, Any]:
        result: dict[str, Any] = {}
        for key_node, value_node in node.value:
            if key_node.tag == "tag:yaml.org,2002:merge":
                message = "merge keys (`<<`) are not supported; write the fields out"
                raise _invalid("yaml_unsupported", message, key_node.start_mark, path)
            if not isinstance(key_node, yaml.ScalarNode):
                raise _invalid("yaml_unsupported", "a key must be text", key_node.start_mark, path)
            key = str(key_node.value)
            inner = f"{path}.{key}" if path else key
            if key in result:
                message = f"the key `{key}` is written twice; remove one"
                raise _invalid("yaml_duplicate_key", message, key_node.start_mark, inner)
            result[key] = self.value(value_node, inner, depth + 1)
            self.positions[inner] = (key_node.start_mark.line + 1, key_node.start_mark.column + 1)
        return result
