"""Replacing secrets by a marker, in text and in JSON. Redacting twice changes nothing.

The rules rather take too much than too little. What they cannot know by its looks, the operator's own
credentials for one, is given to a `Redactor` by value.
"""

import base64
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any
from urllib.parse import quote

from compozy.redaction.assignments import assignments, is_flag
from compozy.redaction.credentials import CREDENTIALS, MARKER
from compozy.redaction.keys import is_digest_key, is_sensitive_key
from compozy.redaction.randomness import random_runs

MAX_DEPTH = 100
"""Levels of nesting of a JSON value; whatever lies deeper is replaced as a whole."""

MIN_KNOWN = 6
"""Shortest value that is replaced for being registered, in characters: shorter ones are in every text."""

_NAME_KEYS = ("name", "key")
"""Kubernetes and others write a variable as `{name: DB_PASSWORD, value: …}`."""


@dataclass(frozen=True)
class Redactor:
    """Takes secrets out. Two with the same registered values are equal."""

    known: frozenset[str] = field(default=frozenset(), repr=False)
    """Values that are secrets wherever they occur."""

    def with_known(self, values: Iterable[str]) -> "Redactor":
        """Return a redactor that replaces these values too. Those under `MIN_KNOWN` characters are passed over."""
        more = frozenset(value for value in map(str.strip, values) if len(value) >= MIN_KNOWN)
        return self if more <= self.known else Redactor(self.known | more)

    @cached_property
    def _known_pattern(self) -> re.Pattern[str] | None:
        """The registered values in every spelling, the longest first; a marker is left as it is."""
        spellings = {spelling for value in self.known for spelling in _spellings(value)}
        if not spellings:
            return None
        longest_first = sorted(spellings, key=lambda spelling: (-len(spelling), spelling))
        return re.compile("|".join(map(re.escape, (MARKER, *longest_first))))

    def text(self, text: str) -> str:
        """Return `text` with every secret replaced by `[REDACTED]`."""
        return self._text(text, keep_random=False)

    def _text(self, text: str, *, keep_random: bool) -> str:
        if self._known_pattern is not None:
            text = self._known_pattern.sub(MARKER, text)
        for credential in CREDENTIALS:
            text = credential.pattern.sub(credential.replacement, text)
        text = _replaced(text, assignments(text))
        return text if keep_random else _replaced(text, random_runs(text))

    def json(self, value: Any) -> Any:
        """Return a JSON value with secrets replaced, by the key they stand under or by their looks."""
        return self._json(value, 0, is_digest=False)

    def _json(self, value: Any, depth: int, *, is_digest: bool) -> Any:
        if depth > MAX_DEPTH:
            return MARKER
        if isinstance(value, str):
            return self._text(value, keep_random=is_digest)
        if isinstance(value, Mapping):
            return self._object(value, depth)
        if isinstance(value, list | tuple):
            return self._items(value, depth, is_digest=is_digest)
        return value

    def _object(self, value: Mapping[Any, Any], depth: int) -> dict[Any, Any]:
        named = any(isinstance(value.get(key), str) and is_sensitive_key(value[key]) for key in _NAME_KEYS)
        shown = {}
        for key, child in value.items():
            name = self.text(key) if isinstance(key, str) else key
            hidden = any(is_sensitive_key(str(spelled)) for spelled in (key, name)) or (named and key == "value")
            if hidden and child is not None:
                shown[name] = MARKER
            else:
                shown[name] = self._json(child, depth + 1, is_digest=is_digest_key(str(name)))
        return shown

    def _items(self, items: Iterable[Any], depth: int, *, is_digest: bool) -> list[Any]:
        """An argument list keeps a flag and its value apart: `["--password", "hunter2"]`."""
        shown, after_flag = [], False
        for item in items:
            hidden = after_flag and isinstance(item, str)
            shown.append(MARKER if hidden else self._json(item, depth + 1, is_digest=is_digest))
            after_flag = isinstance(item, str) and is_flag(item)
        return shown


def _spellings(value: str) -> set[str]:
    """The value as it may stand in text: itself, inside JSON, inside a URL, in base64."""
    raw = value.encode(errors="surrogatepass")
    encoded = base64.b64encode(raw).decode()
    safe = base64.urlsafe_b64encode(raw).decode()
    escaped = json.dumps(value)[1:-1]
    return {value, escaped, quote(raw, safe=""), *(text.rstrip("=") for text in (encoded, safe))}


def _replaced(text: str, spans: list[tuple[int, int]]) -> str:
    pieces, end = [], 0
    for start, stop in spans:
        pieces += [text[end:start], MARKER]
        end = stop
    return "".join((*pieces, text[end:]))


PLAIN = Redactor()
"""Knows no values: only the rules."""


def redact_text(text: str) -> str:
    """Return `text` with everything that looks like a secret replaced."""
    return PLAIN.text(text)
