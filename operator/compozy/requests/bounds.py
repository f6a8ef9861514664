"""How much of a prompt or a context is stored, and how much of it a list shows. Bytes are those of UTF-8.

Redact first, cut then: half a secret no longer looks like one.
"""

import json
from typing import Any

MAX_BYTES = 16 * 1024
"""Longest prompt, and largest preview of a context or a proposal as JSON."""

MAX_STORED_BYTES = 256 * 1024
"""Largest context that is stored, as JSON: a question has to fit its store."""


def bounded_prompt(prompt: str) -> str:
    """Return a redacted prompt as it is stored: trimmed, at most 16 KiB, saying how much was cut off."""
    encoded = prompt.strip().encode(errors="replace")
    if len(encoded) <= MAX_BYTES:
        return encoded.decode()
    room = MAX_BYTES - len(_suffix(len(encoded)).encode())
    kept = encoded[:room].decode(errors="ignore")
    return kept + _suffix(len(encoded) - len(kept.encode()))


def _suffix(cut: int) -> str:
    return f"… [truncated: {cut} more bytes]"


def storable(value: Any) -> Any:
    """Return a redacted JSON value with text that UTF-8 cannot hold made whole: halves of surrogate pairs."""
    if isinstance(value, str):
        return value.encode(errors="replace").decode()
    if isinstance(value, list):
        return [storable(item) for item in value]
    if isinstance(value, dict):
        return {storable(key): storable(child) for key, child in value.items()}
    return value


def preview(value: Any, limit: int = MAX_BYTES) -> Any:
    """Return a redacted JSON value, or how large it is in its place: `{truncated: true, byte_size: N}`."""
    size = len(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode(errors="replace"))
    return {"truncated": True, "byte_size": size} if size > limit else value
