"""Taking secrets out of what people are shown, and keeping it within bounds.

Prompts, contexts and previews are redacted before they are stored: the raw text never reaches the API server.
The rules (`compozy.requests.secret_patterns`) rather take too much than too little. Redacting twice changes
nothing.
"""

from typing import Any

from compozy.language.shapes.canonical import canonical_json
from compozy.requests.secret_patterns import (
    CREDENTIALS,
    MARKER,
    assignments,
    is_flag,
    is_sensitive_key,
    looks_random,
)

MAX_BYTES = 16 * 1024
"""Longest prompt, and largest preview of a context as JSON, in bytes of UTF-8."""

MAX_DEPTH = 100
"""Levels of nesting of a context; whatever lies deeper is replaced as a whole."""

_NAME_KEYS = ("name", "key")
"""Kubernetes and others write a variable as `{name: DB_PASSWORD, value: …}`."""


def redact_text(text: str) -> str:
    """Return `text` with everything that looks like a credential replaced by `[REDACTED]`."""
    for credential in CREDENTIALS:
        text = credential.pattern.sub(credential.replacement, text)
    text = _replaced(text, assignments(text))
    return _replaced(text, looks_random(text))


def _replaced(text: str, spans: list[tuple[int, int]]) -> str:
    pieces, end = [], 0
    for start, stop in spans:
        pieces += [text[end:start], MARKER]
        end = stop
    return "".join((*pieces, text[end:]))


def redact_json(value: Any, depth: int = 0) -> Any:
    """Return a JSON value with secrets replaced, by the key they stand under or by their looks."""
    if depth > MAX_DEPTH:
        return MARKER
    if isinstance(value, str):
        return redact_text(value)
    if isinstance(value, list):
        return _redact_items(value, depth)
    if isinstance(value, dict):
        named = any(isinstance(value.get(key), str) and is_sensitive_key(value[key]) for key in _NAME_KEYS)
        return {redact_text(key): _redact_member(key, child, named, depth) for key, child in value.items()}
    return value


def _redact_member(key: str, child: Any, named: bool, depth: int) -> Any:
    if child is not None and (is_sensitive_key(key) or (named and key == "value")):
        return MARKER
    return redact_json(child, depth + 1)


def _redact_items(items: list[Any], depth: int) -> list[Any]:
    """An argument list keeps a flag and its value apart: `["--password", "hunter2"]`."""
    after_flag = [False, *(isinstance(item, str) and is_flag(item) for item in items)]
    return [
        MARKER if hidden and isinstance(item, str) else redact_json(item, depth + 1)
        for item, hidden in zip(items, after_flag, strict=False)
    ]


def bounded_prompt(prompt: str) -> str:
    """Return the prompt as it is stored: redacted, trimmed, at most 16 KiB, saying how much was cut off."""
    encoded = redact_text(prompt).strip().encode(errors="replace")
    if len(encoded) <= MAX_BYTES:
        return encoded.decode()
    room = MAX_BYTES - len(_suffix(len(encoded)).encode())
    kept = encoded[:room].decode(errors="ignore")
    return kept + _suffix(len(encoded) - len(kept.encode()))


def _suffix(cut: int) -> str:
    return f"… [truncated: {cut} more bytes]"


def preview(context: Any) -> Any:
    """Return a redacted context as lists show it: itself, or how large it is when it is over 16 KiB."""
    size = len(canonical_json(context).encode(errors="replace"))
    return {"truncated": True, "byte_size": size} if size > MAX_BYTES else context
