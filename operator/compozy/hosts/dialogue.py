"""The exchange of lines with a person at a terminal: a question shown, a field asked for, a fault told."""

import json
import unicodedata
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from compozy.hosts.display import rows
from compozy.language.json_text import readable_json
from compozy.requests.coerce import CoercionError, coerce, typed
from compozy.requests.forms import JSON_TYPE, MISSING, FormField
from compozy.requests.outcome import Declined, Unavailable

MAX_PROMPTS = 4
"""Times a field is asked for: once, and up to three times more, as the ask-steps page says."""

_LONG = 20
"""Rows of a question above which a person is told that it began further up."""

_MARGIN = "  | "
"""Begins every row of a plan's text but the first: a field's line begins with two blanks and its name."""


class Writer(Protocol):
    """Where prompts go."""

    def write(self, text: str, /) -> object:
        """Write text as it is."""

    def flush(self) -> object:
        """Make sure that a person sees it."""


class Reader(Protocol):
    """Where answers come from."""

    def readline(self) -> str:
        """Return one line with its line break, or nothing at the end of input."""


@dataclass(frozen=True, slots=True)
class Streams:
    """The two ends of a terminal."""

    writer: Writer
    reader: Reader
    columns: int = 80
    """How wide the terminal is."""


class DialogueEndedError(Exception):
    """The question ends without an answer."""

    def __init__(self, outcome: Declined | Unavailable) -> None:
        super().__init__(str(outcome))
        self.outcome = outcome


class Dialogue:
    """The lines exchanged over one form, and how often each field was asked for."""

    def __init__(self, streams: Streams) -> None:
        self._streams = streams
        self._prompts: Counter[tuple[str, ...]] = Counter()
        self.untouched: set[tuple[str, ...]] = set()
        """Paths of fields whose default was taken with Enter."""

    def present(self, prompt: str, path: str, context: Any) -> None:
        """Show what is asked, for which step, with what there is to know about it."""
        first, *others = self._rows(f"{prompt.strip()} [{path}]")
        shown = [f"? {first}", *(_MARGIN + row for row in others)]
        if context:
            shown += [_MARGIN + row for row in self._rows(readable_json(context))]
        if len(shown) > _LONG:
            shown.append(f"  (that was {len(shown)} lines: scroll up to read them all)")
        self._write("".join(f"{line}\n" for line in ("", *shown, "  (blank cancels)")))

    def fill(self, field: FormField, check: Callable[[Any], str | None]) -> Any:
        """Ask for a field until there is a value that `check` finds no fault with.

        Returns `MISSING` for an optional field that was left blank. Raises `DialogueEndedError`.
        """
        while self._prompts[field.path] < MAX_PROMPTS:
            self._prompts[field.path] += 1
            line = self._read(field)
            if not line and field.default is MISSING:
                if field.required:
                    break
                return MISSING
            value, fault = self._judged(field, line, check)
            if fault is None:
                (self.untouched.discard if line else self.untouched.add)(field.path)
                return value
            again = "; try again" if self._prompts[field.path] < MAX_PROMPTS else ""
            self.say(f"{fault}{again}")
        raise DialogueEndedError(Declined())

    def say(self, text: str) -> None:
        """Write a remark on the answer so far."""
        first, *others = self._rows(text)
        self._write("".join(f"{line}\n" for line in (f"  {first}", *(_MARGIN + row for row in others))))

    def _judged(self, field: FormField, line: str, check: Callable[[Any], str | None]) -> tuple[Any, str | None]:
        if not line:
            return field.default, check(field.default)
        if any(unicodedata.category(character) == "Cc" and character != "\t" for character in line):
            return None, "must not hold control characters"
        try:
            value = coerce(field, line)
        except CoercionError as error:
            return None, str(error)
        return value, check(value)

    def _read(self, field: FormField) -> str:
        """Return what was typed, trimmed. Raises `DialogueEndedError` at the end of input."""
        description = f" — {field.description}" if field.description else ""
        default = f" (Enter = {typed(field, field.default)})" if field.default is not MISSING else ""
        default = " (not shown in full: give it anew)" if field.hidden else default
        first, *others = self._rows(f"{field.name}{description} [{field.hint}]{default}")
        if field.type == JSON_TYPE:
            wanted = json.dumps(dict(field.schema), ensure_ascii=False)
            others += self._rows(f"as one line of JSON, by this schema: {wanted}")
        self._write("\n".join((f"  {first}", *(_MARGIN + row for row in others))) + ": ")
        line = self._streams.reader.readline()
        if not line:
            self._write("\n")
            raise DialogueEndedError(Unavailable())
        return line.strip()

    def _rows(self, text: str) -> list[str]:
        return rows(text, self._streams.columns - len(_MARGIN))

    def _write(self, text: str) -> None:
        self._streams.writer.write(text)
        self._streams.writer.flush()
