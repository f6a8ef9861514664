"""What an edit starts from: the proposal, as far as what is shown of it is the proposal itself.

People see a preview: secrets are taken out of it, and a large one is left out as a whole. The digest of the exact
parameters stands beside it. Where the two agree, all that is shown is exact, whatever it looks like. Where they
do not, a value that holds a marker is not known here, and no edit may put the marker in its place.

A schema may describe less than what is proposed, or allow more than is known of it. Then the form is one field for
all of it: an edit changes what a person changes and loses nothing but what the schema forbids.
"""

from collections.abc import Iterable, Iterator, Mapping, Set
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from compozy.engine.proposals import digest_of
from compozy.language.shapes.bounds import Pointer
from compozy.requests.forms import JSON_TYPE, MISSING, FormField, fields, payload_of


@dataclass(frozen=True)
class Proposed:
    """What is shown of the parameters that a review is about."""

    preview: Any
    digest: str | None
    """Of the exact parameters; where there is none, nothing that is shown is known to be exact."""

    @classmethod
    def of(cls, spec: Mapping[str, Any]) -> "Proposed":
        """Return what the question of a review shows."""
        return cls(spec.get("proposedPreview"), spec.get("proposalDigest"))

    def start(self, schema: Mapping[str, Any]) -> list[FormField]:
        """Return the form of a replacement, each field with the value that is proposed as its default.

        A field whose value is not known in full has no default and must be given: left blank it would be lost.
        """
        form = fields(schema)
        if not self._is_described(schema, self.preview, (), {field.path for field in form}):
            form = [FormField((), JSON_TYPE, "", required=True, schema=schema)]
        return [self._started(field) for field in form]

    def overlay(self, schema: Mapping[str, Any], given: Iterable[tuple[str, ...]]) -> tuple[Any, list[FormField]]:
        """Return the proposal to change in place, and the fields whose value must be given and is not.

        Args:
            schema: what a replacement must conform to.
            given: paths that are given anew, each as a whole.
        """
        started, paths = self.start(schema), list(given)
        values = {field.path: deepcopy(field.default) for field in started if field.default is not MISSING}
        lacking = [
            field
            for field in started
            if field.hidden and not any(field.path[: len(path)] == path for path in paths)
        ]
        return payload_of(values), lacking

    def markers_in(self, payload: Any) -> list[Pointer]:
        """Return where a replacement repeats a marker of what is shown, which stands for what is hidden."""
        marked = list(_marked(payload, ()))
        return marked if marked and not self._is_exact and _holds_marker(self.preview) else []

    def _started(self, field: FormField) -> FormField:
        value = self.preview
        for name in field.path:
            if not isinstance(value, Mapping) or (name not in value and self._is_altered(list(value))):
                return _hidden(field)
            value = value.get(name, MISSING)
            if value is MISSING:
                return replace(field, default=MISSING)
        return _hidden(field) if self._is_altered(value) else replace(field, default=value)

    def _is_altered(self, value: Any) -> bool:
        """Whether a part of what is shown may be another one than what is proposed."""
        if self._is_exact:
            return False
        # What no marker explains was changed in another way: then nothing can be relied on.
        return not _holds_marker(self.preview) or _holds_marker(value)

    def _is_described(self, schema: Any, value: Any, path: tuple[str, ...], paths: Set[tuple[str, ...]]) -> bool:
        """Whether fields at these paths are all that there can be of a value, but for what the schema forbids."""
        if path in paths:
            return True
        if not isinstance(schema, Mapping) or "$ref" in schema:
            return False
        properties, required = schema.get("properties", {}), set(schema.get("required", ()))
        is_closed = schema.get("additionalProperties") is False
        named = {name for name, part in properties.items() if part is not False} | required
        if self._names_are_hidden(value):
            return is_closed and all(
                self._is_described(properties.get(name), value, (*path, name), paths) for name in named
            )
        # An empty object, or one that is not what it has to be, has no fields to make it up again.
        if not isinstance(value, Mapping) or (path and not (value and required <= set(value))):
            return False
        forbidden = {name for name in value if properties.get(name) is False or (is_closed and name not in named)}
        return set(value) <= named | forbidden and all(
            self._is_described(properties.get(name), part, (*path, name), paths)
            for name, part in value.items()
            if name not in forbidden
        )

    def _names_are_hidden(self, value: Any) -> bool:
        """Whether it is not known what is in a value: its names, or whether it has any."""
        if isinstance(value, Mapping) and _holds_marker(self.preview):
            return self._is_altered(list(value))
        return self._is_altered(value)

    @cached_property
    def _is_exact(self) -> bool:
        return self.digest is not None and digest_of(self.preview) == self.digest


def _hidden(field: FormField) -> FormField:
    return replace(field, default=MISSING, required=True, hidden=True)


def _holds_marker(value: Any) -> bool:
    return next(_marked(value, ()), None) is not None


def _marked(value: Any, at: Pointer) -> Iterator[Pointer]:
    """Where a marker stands, in texts and in names."""
    # Only here: the plugin would load what knows secrets by their looks at each start.
    from compozy.redaction.credentials import MARKER

    if isinstance(value, Mapping):
        for name, part in value.items():
            yield from [(*at, name)] if MARKER in name else _marked(part, (*at, name))
    elif isinstance(value, list):
        for index, part in enumerate(value):
            yield from _marked(part, (*at, index))
    elif isinstance(value, str) and MARKER in value:
        yield at
