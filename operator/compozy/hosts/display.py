"""Text of strangers on a person's terminal: everything that could pass for something else is made visible.

Prompts, labels and contexts come from plans, models and inputs. A control character could move the cursor, a
direction override could turn a sentence round, a line break or a long run of blanks could put a false field
on the screen.
"""

import re
import unicodedata
from collections.abc import Iterator

_INVISIBLE = frozenset(("Cc", "Cf", "Cs", "Zl", "Zp"))
_BLANK_FILLERS = frozenset("\u115f\u1160\u2800\u3164\uffa0")
_MAX_MARKS = 3
_ONLY_BLANK = re.compile(r"\n(?:[^\S\n]*\n){2,}")


def visible(text: str) -> str:
    """Return `text` on one line, with characters that cannot be seen written as escapes such as `\\x1b`."""
    return "".join(_visible(character) for character in _with_few_marks(text))


def _visible(character: str) -> str:
    if unicodedata.category(character) in _INVISIBLE or character in _BLANK_FILLERS:
        return character.encode("unicode_escape").decode()
    return character


def _with_few_marks(text: str) -> str:
    """Drop all but the first few marks on a letter: piled up they cover the lines above and below."""
    if text.isascii():
        return text
    kept, marks = [], 0
    for character in text:
        marks = marks + 1 if unicodedata.combining(character) else 0
        if marks <= _MAX_MARKS:
            kept.append(character)
    return "".join(kept)


def rows(text: str, columns: int) -> list[str]:
    """Return `text` as rows of at most `columns`, each safe to print; a long run of empty lines becomes a
    note.

    Nothing is left out: what is at the end of a long text is on the last row.
    """
    lines = _ONLY_BLANK.sub(_note, text.replace("\r\n", "\n")).split("\n")
    return [row for line in lines for row in _wrapped(visible(line).rstrip(), max(columns, 20))]


def _note(run: re.Match[str]) -> str:
    return f"\n({run[0].count(chr(10)) - 1} empty lines)\n"


def _wrapped(line: str, columns: int) -> Iterator[str]:
    """Break before the columns run out, at a blank if there is one, so that the terminal never has to."""
    while width(line) > columns:
        end = _fitting(line, columns)
        blank = line.rfind(" ", 1, end + 1)
        cut = blank if blank > 0 and line[:blank].strip() else end
        yield line[:cut].rstrip()
        line = line[cut:].lstrip(" ")
    yield line


def _fitting(line: str, columns: int) -> int:
    used = 0
    for index, character in enumerate(line):
        used += width(character)
        if used > columns:
            return max(index, 1)
    return len(line)


def width(text: str) -> int:
    """Return the columns that `text` takes on a terminal."""
    if text.isascii():
        return len(text)
    return sum(_columns(character) for character in text)


def _columns(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WFA" else 1
