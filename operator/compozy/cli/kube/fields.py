"""Which fields a kubeconfig has, and of what type each must be.

A text where a truth value is wanted is the worst of what can be wrong: `"false"` would turn off that the server's
certificate is looked at.
"""

from collections.abc import Callable, Iterator
from typing import Any

from compozy.cli.kube.access import ConfigError
from compozy.language.shapes.bounds import is_unicode

ENTRY_LISTS = {"clusters": "cluster", "contexts": "context", "users": "user"}
"""The lists of a kubeconfig, and what one entry of each is called."""

_TEXT = "text"
_BOOLEAN = "true or false"
_TEXTS = "a list of texts"
_TEXTS_BY_NAME = "a mapping of lists of texts"
_MAPPING = "a mapping"
_MAPPINGS = "a list of mappings"
_EXTENSIONS = [{"name": _TEXT}]

_FILE_FIELDS: dict[str, Any] = {
    "apiVersion": _TEXT,
    "kind": _TEXT,
    "current-context": _TEXT,
    **{plural: [{"name": _TEXT, singular: {}}] for plural, singular in ENTRY_LISTS.items()},
}
_ENTRY_FIELDS: dict[str, Any] = {
    "clusters": {
        "server": _TEXT,
        "tls-server-name": _TEXT,
        "insecure-skip-tls-verify": _BOOLEAN,
        "certificate-authority": _TEXT,
        "certificate-authority-data": _TEXT,
        "proxy-url": _TEXT,
        "disable-compression": _BOOLEAN,
        "extensions": _EXTENSIONS,
    },
    "contexts": {"cluster": _TEXT, "user": _TEXT, "namespace": _TEXT, "extensions": _EXTENSIONS},
    "users": {
        "client-certificate": _TEXT,
        "client-certificate-data": _TEXT,
        "client-key": _TEXT,
        "client-key-data": _TEXT,
        "token": _TEXT,
        "tokenFile": _TEXT,
        "as": _TEXT,
        "as-uid": _TEXT,
        "as-groups": _TEXTS,
        "as-user-extra": _TEXTS_BY_NAME,
        "username": _TEXT,
        "password": _TEXT,
        "exec": {
            "apiVersion": _TEXT,
            "command": _TEXT,
            "args": _TEXTS,
            "env": [{"name": _TEXT, "value": _TEXT}],
            "installHint": _TEXT,
            "interactiveMode": _TEXT,
            "provideClusterInfo": _BOOLEAN,
        },
        "extensions": _EXTENSIONS,
    },
}
"""The type of each field: a word for what it must be, the fields of a mapping, or those of each mapping in a
list. A field that is not here is not read, and may be anything.
"""


def check_file(document: dict[str, Any], file: str) -> None:
    """Raises ConfigError, which names `file`, unless a kubeconfig's lists and the like are of their types."""
    _hold(document, _FILE_FIELDS, "", f"{file}: ")


def check_entry(entry: dict[str, Any], plural: str, name: str, file: str) -> None:
    """Raises ConfigError, which names the field and the entry, unless the fields of an entry are of their types.

    `plural` is the list that the entry is in, one of `ENTRY_LISTS`.
    """
    _hold(entry, _ENTRY_FIELDS[plural], "", f"{file}: ", f" of {ENTRY_LISTS[plural]} {name!r}")


def _hold(value: Any, kind: Any, field: str, before: str, after: str = "") -> None:
    """Raises ConfigError unless a value is of the type that `_ENTRY_FIELDS` gives it.

    A null counts as left out, as for kubectl. `before` and `after` stand around the field in the message.
    """
    if value is None:
        return
    word = kind if isinstance(kind, str) else _MAPPINGS if isinstance(kind, list) else _MAPPING
    if not _IS[word](value):
        raise ConfigError(f"{before}`{field}`{after} must be {word}")
    if isinstance(kind, list):
        for index, item in enumerate(value):
            _hold(item, kind[0], f"{field}[{index}]", before, after)
    elif isinstance(kind, dict):
        for name, inner in kind.items():
            _hold(value.get(name), inner, f"{field}.{name}" if field else name, before, after)
    elif not all("\0" not in text and is_unicode(text) for text in _texts_in(value)):
        # No path, no argument of a program and no header can have these.
        raise ConfigError(f"{before}`{field}`{after} must be {word}, without NUL and halves of characters")


def _texts_in(value: Any) -> Iterator[str]:
    """All the text in a value that has been found to be of its type."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        yield from value
    elif isinstance(value, dict):
        for name, texts in value.items():
            yield from (name, *(texts or ()))


def _is_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


_IS: dict[str, Callable[[Any], bool]] = {
    _TEXT: lambda value: isinstance(value, str),
    _BOOLEAN: lambda value: isinstance(value, bool),
    _TEXTS: _is_texts,
    _TEXTS_BY_NAME: lambda value: (
        isinstance(value, dict)
        and all(isinstance(name, str) and (texts is None or _is_texts(texts)) for name, texts in value.items())
    ),
    _MAPPING: lambda value: isinstance(value, dict),
    _MAPPINGS: lambda value: isinstance(value, list) and all(isinstance(item, dict) for item in value),
}
