"""Values given to sensitive names in free text: `key=value`, `"key": "value"`, `--flag value`."""

import re

from compozy.redaction.credentials import MARKER
from compozy.redaction.keys import is_sensitive_key

Span = tuple[int, int]
"""Where a secret begins and ends in a text."""

_QUOTE = r"\\{0,15}[\"']?"
_WORD = r"[A-Za-z][\w.-]{0,127}"
_SIGN = r"[ \t]*(?P<{name}>=>|:=|[:=]=?)[ \t]*(?:\r?\n[ \t]*(?=\\{{0,15}}[\"']))?"
_ASSIGNMENT = re.compile(
    rf"(?<![\w.-])(?:--?(?P<flag>{_WORD})(?:{_SIGN.format(name='of_flag')}|[ \t]+(?!-))"
    rf"|{_QUOTE}(?P<key>{_WORD}(?: {_WORD})?){_QUOTE}{_SIGN.format(name='sign')})"
)
_VALUE = re.compile(
    r"""[|>][-+0-9]{0,2}[ \t]*\r?\n[ \t]+(?P<block>\S[^\n]*(?:\n[ \t]+[^\n]*)*)"""
    r"""|\\{1,15}["'](?P<escaped>[^"'\\]+)|"(?P<double>(?:[^"\\]|\\.)+)"|'(?P<single>[^']+)'"""
    r"""|[\\"']*(?P<bare>[^\s&"'`\\]+)"""
)
_FLAG = re.compile(r"--?([A-Za-z][\w-]{0,127})")
_PROSE = re.compile(
    r"(?:"
    r"(?:a|an|and|any|are|at|be|by|can|cannot|could|did|do|does|each|every|for|from|had|has|have|how|if|in|is|it"
    r"|its|may|might|must|needs|no|none|not|of|on|one|only|or|our|please|shall|should|takes|that|the|their|there"
    r"|these|this|those|to|use|was|were|what|when|where|which|who|why|will|with|would|you|your)"
    r"[ \t]+[A-Za-z'\"`\[]"
    r"|(?:absent|empty|expired|expected|found|invalid|missing|none|null|optional|required|unknown|unset)"
    r"(?![\w-])"
    r")"
)
"""How a sentence goes on after a colon. `password: must be longer` tells of a password and gives none."""


def assignments(text: str) -> list[Span]:
    """Return where values are given to sensitive names."""
    spans: list[Span] = []
    position = 0
    while match := _ASSIGNMENT.search(text, position):
        position = match.end()
        if not is_sensitive_key(match["flag"] or match["key"]) or _is_prose(match, text):
            continue
        start, end = _value_span(text, position)
        if end > start:
            spans.append((start, end))
            position = end
    return spans


def _is_prose(match: re.Match[str], text: str) -> bool:
    if match["flag"] and not match["of_flag"]:
        return False
    return (match["sign"] or match["of_flag"]) == ":" and _PROSE.match(text, match.end()) is not None


def _value_span(text: str, position: int) -> Span:
    """Return where the value that begins at `position` is; nothing where it is gone already."""
    value = _VALUE.match(text, position)
    if value is None or value.lastgroup is None:
        return position, position
    start, end = value.span(value.lastgroup)
    if value.lastgroup == "block":
        return (start, start) if value["block"] == MARKER else (start, end)
    if text.startswith(MARKER, start):
        return start, start
    if value.lastgroup == "bare":
        # Of an object or a list only the bracket: what is inside has names of its own.
        bare = text[start:end].strip("{}[](),;") and text[start:end].rstrip(",;.)]}>")
        end = start + len(bare)
    return start, end


def is_flag(argument: str) -> bool:
    """Return whether a command-line argument announces a secret as the next argument."""
    match = _FLAG.fullmatch(argument)
    return match is not None and is_sensitive_key(match[1])
