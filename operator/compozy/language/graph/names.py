"""Names that authors cannot give to what a fan-out binds, because they mean something already."""

from typing import Final

from compozy.language.graph.places import LANE_ROOTS, ROOTS

_CEL_WORDS: Final = frozenset(
    {
        *("as", "break", "const", "continue", "else", "false", "for", "function", "if", "import", "in", "let"),
        *("loop", "namespace", "null", "package", "return", "true", "type", "var", "void", "while"),
    }
)
"""Words that CEL keeps to itself."""

_CEL_TYPES: Final = frozenset(
    {
        *("bool", "bytes", "double", "duration", "dyn", "int", "list", "map", "null_type", "string"),
        *("timestamp", "uint", "size", "has", "all", "exists", "exists_one", "filter", "matches", "contains"),
        *("optional", "google", "cel"),
    }
)
"""Names of types, functions and macros of CEL."""


def is_free(name: str) -> bool:
    """Whether a name can be bound."""
    return name not in ROOTS and name not in LANE_ROOTS and name not in _CEL_WORDS and name not in _CEL_TYPES
