"""One form filled in at a terminal: field by field, then again what the answer as a whole finds at fault."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from compozy.hosts.dialogue import Dialogue, DialogueEndedError
from compozy.language.schema import field_errors
from compozy.requests.choices import Names
from compozy.requests.entities import unknown_name
from compozy.requests.forms import MISSING, FormField, payload_of, with_names
from compozy.requests.outcome import Declined

Path = tuple[str, ...]


@dataclass
class Filling:
    """The values of a form while a person fills it in."""

    schema: Mapping[str, Any]
    form: Sequence[FormField]
    dialogue: Dialogue
    names: Names
    _values: dict[Path, Any] = field(default_factory=dict)
    _objects: set[Path] = field(default_factory=set)
    """Objects that must be there although all their fields were left blank."""

    def payload(self) -> Any:
        """Return an answer that conforms. Raises `DialogueEndedError`."""
        for entry in self.form:
            self._fill(entry)
        while errors := field_errors(self.schema, self._made()):
            if self._left_out(errors) or self._added(errors):
                continue
            entry = self._at_fault(errors)
            self.dialogue.say(f"{entry.name} {_fault(entry, errors)}")
            # What is missing now is required by what was filled in: leaving it blank again declines.
            self._fill(replace(entry, required=True))
        return self._made()

    def _made(self) -> Any:
        return payload_of(self._values, self._objects)

    def _fill(self, entry: FormField) -> None:
        value = self.dialogue.fill(with_names(entry, self.names), self._checker(entry))
        if value is not MISSING:
            self._values[entry.path] = value

    def _left_out(self, errors: Mapping[str, str]) -> bool:
        """Leave out an optional object that lacks something, where a person typed nothing into it."""
        for entry in self.form:
            if not entry.group or entry.name not in errors or entry.path in self._values:
                continue
            inside = {path for path in (*self._values, *self._objects) if _is_below(path, entry.group)}
            if inside and inside <= self.dialogue.untouched | self._objects:
                self._values = {path: value for path, value in self._values.items() if path not in inside}
                self._objects -= inside
                return True
        return False

    def _added(self, errors: Mapping[str, str]) -> bool:
        """Add a required object of which all fields were left blank, as all of them may be."""
        for entry in self.form:
            for end in range(1, len(entry.path)):
                path = entry.path[:end]
                there = any(_is_below(other, path) for other in (*self._values, *self._objects))
                if ".".join(path) in errors and not there:
                    self._objects.add(path)
                    return True
        return False

    def _at_fault(self, errors: Mapping[str, str]) -> FormField:
        """Return the first field that is at fault. A fault that no field can mend declines: nobody can answer."""
        for entry in self.form:
            if _fault(entry, errors):
                return entry
        raise DialogueEndedError(Declined())

    def _checker(self, entry: FormField) -> Callable[[Any], str | None]:
        """Hold one field to the schema at once, and to the names that there are, whatever else is missing."""

        def fault_of(value: Any) -> str | None:
            alone = payload_of({entry.path: value})
            fault = _fault(entry, field_errors(self.schema, alone))
            unknown = None if fault else unknown_name(self.schema, alone, self.names)
            return _fault(entry, dict([unknown])) if unknown else fault

        return fault_of


def _is_below(path: Path, whole: Path) -> bool:
    return path[: len(whole)] == whole


def _fault(entry: FormField, errors: Mapping[str, str]) -> str | None:
    """Return what is wrong at the field or below it, or anywhere if the field is the whole answer."""
    for path, message in errors.items():
        if path == entry.name:
            return message
        if not entry.path or path.startswith(f"{entry.name}."):
            return f"{path} {message}"
    return None
