"""How long it takes to take secrets out of text that was made to keep it busy: linear, whatever the text."""

import time

from bench.figures import Figure, Target
from compozy.redaction.redactor import redact_text

CHARACTERS = 1_000_000
_PIECES = (
    *("a", "a=", 'password="', "password='", 'password=\\"', "http://", "a://b@", "@a", "a.", "--a ", "--token "),
    *("token: |\n  x", "token:\n", " ", "-----BEGIN PRIVATE KEY-----", "-----BEGIN ", '"\\', "\\", "A1b", "A1/"),
    *(
        "eyJaaaaaaaa-",
        "eyJaaaaaaaa.",
        "SG.aaaaaaaaaa-",
        "bearer ",
        "authorization: ",
        "sk-a",
        "123456789",
        "env:A_",
    ),
    *(
        "12345678:AA",
        "vault:",
        "Aa1-",
        "AbC9/",
        "word Word ",
        "key: is ",
        "x=>",
        "a b:",
        "\n",
        "'",
        "é",
        '{"token":',
    ),
    *("://a1B", "token:|\n  eyJaaaaaaaa.", "\"a/token='", "hash: Aa1", "REDACTED", "[REDACTED]", "1//0", "%3D"),
)


def redaction_figures() -> list[Figure]:
    """Seconds for the worst of many texts of a million characters; linear where the growth is about 1."""
    whole = max(_seconds(piece, CHARACTERS) for piece in _PIECES)
    growth = max(_seconds(piece, CHARACTERS) / _seconds(piece, CHARACTERS // 4) / 4 for piece in _PIECES)
    label = f"redact 1 MB, worst of {len(_PIECES)} texts"
    return [
        Figure("redact_worst", label, "s", 2, whole, target=Target("<", 5.0)),
        Figure("redact_growth", "  time a character, whole to quarter, worst", "ratio", 2, growth),
    ]


def _seconds(piece: str, characters: int) -> float:
    text = piece * (characters // len(piece))
    begun = time.perf_counter()
    redact_text(text)
    return time.perf_counter() - begun
