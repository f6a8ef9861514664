"""Long runs of characters that look drawn by lot, as keys are, and those that only look so at first.

Names, paths and digests stay readable: a run of words is no secret, and of what a digest was made nobody can
tell.
"""

import math
import re
from collections import Counter

Span = tuple[int, int]
"""Where a secret begins and ends in a text."""

MIN_LENGTH = 28
"""Shortest run that is looked at, in characters."""
MIN_ENTROPY = 3.6
"""Bits a character: words and numbers stay below, random text of 28 characters and more stays above."""

_RUN = re.compile(rf"[A-Za-z0-9_+/=-]{{{MIN_LENGTH},}}")
_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_HEX = re.compile(r"[0-9a-fA-F]+")
_DIGEST = re.compile(r"(?i)(?:sha-?[0-9]{1,3}|md5|blake[23][a-z]?)-")
_DIGEST_BEFORE = re.compile(
    r"(?i)(?:\b(?:sha-?[0-9]{1,3}|md5|blake[23][a-z]?)[\"'`]?[:=]|(?:hash|digest|fingerprint)[\"'`]?[ \t]*[:=])"
    r"[ \t\"'`]{0,4}\Z"
)
_BEFORE = 64
"""Characters in front of a run in which its name is looked for."""
_LONGEST_URL = 2048

_PIECE = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[0-9]+")
_VOWEL = re.compile(r"[aeiouyAEIOUY]")
_MIN_WORDS = 0.7
_MIN_PIECE = 3.0
_SLUG_PIECE = 12
_PATH_WORDS = 0.5


def random_runs(text: str) -> list[Span]:
    """Return the long runs of mixed case and digits that are no UUID, no hexadecimal number, path or name."""
    spans: list[Span] = []
    for match in _RUN.finditer(text):
        if _is_drawn(match[0]) and not (_is_digest(text, match) or _is_in_url(text, match.start())):
            spans += _secret_part(match)
    return spans


def _secret_part(match: re.Match[str]) -> list[Span]:
    """The whole run, or of a path those parts that are random by themselves."""
    if not _is_path(match[0]):
        return [match.span()]
    parts = re.finditer(rf"[^/]{{{MIN_LENGTH},}}", match[0])
    return [(match.start() + part.start(), match.start() + part.end()) for part in parts if _is_drawn(part[0])]


def _is_drawn(run: str) -> bool:
    mixed = any(map(str.islower, run)) and any(map(str.isupper, run)) and any(map(str.isdigit, run))
    if not mixed or _UUID.fullmatch(run) or _HEX.fullmatch(run) or _is_name(run):
        return False
    counts = Counter(run).values()
    return -sum(count / len(run) * math.log2(count / len(run)) for count in counts) >= MIN_ENTROPY


def _is_name(run: str) -> bool:
    """Whether it is made of words, as identifiers are, or of short pieces, as names of releases are."""
    pieces = _PIECE.findall(run)
    words = sum(len(piece) for piece in pieces if len(piece) > 2 and _VOWEL.search(piece))
    letters = sum(map(len, pieces))
    if words >= _MIN_WORDS * letters and letters >= _MIN_PIECE * len(pieces):
        return True
    parts = re.split(r"[-_]", run)
    return len(parts) > 2 and max(map(len, parts)) <= _SLUG_PIECE and not set("+/=") & set(run)


def _is_path(run: str) -> bool:
    """A path has slashes between words; base64 has them between anything."""
    segments = run.split("/")
    plain = [segment for segment in segments if _is_plain(segment)]
    return len(segments) > 1 and sum(map(len, plain)) >= _PATH_WORDS * (len(run) - len(segments) + 1)


def _is_plain(segment: str) -> bool:
    one_case = segment == segment.lower() or segment == segment.upper()
    return one_case or _is_name(segment)


def _is_digest(text: str, match: re.Match[str]) -> bool:
    """Whether the run says itself, or the text in front of it, that it is a digest."""
    before = text[max(0, match.start() - _BEFORE) : match.start()]
    return _DIGEST.match(match[0]) is not None or _DIGEST_BEFORE.search(before) is not None


def _is_in_url(text: str, start: int) -> bool:
    """Whether the run belongs to the path of a URL: what a query or a fragment holds is looked at."""
    scheme = text.rfind("://", max(0, start - _LONGEST_URL), start)
    return scheme >= 0 and not re.search(r"[\s?#\"'<>]", text[scheme:start])
