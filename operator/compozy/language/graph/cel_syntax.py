"""Reading the syntax tree of a checked CEL expression.

The CEL library hands its tree out only in serialised form: the protobuf message `cel.expr.CheckedExpr`
inside a `google.protobuf.Any`. The message is a published format, and the few fields we need are read here
directly.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, TypeAlias

Message: TypeAlias = dict[int, list[int | bytes]]
"""A decoded message: field numbers with their values in order."""

_ANY_VALUE: Final = 2
_CHECKED_REFERENCES, _CHECKED_EXPRESSION, _CHECKED_SOURCE = 2, 4, 5
_SOURCE_POSITIONS: Final = 4
_ENTRY_KEY, _ENTRY_VALUE = 1, 2
_REFERENCE_OVERLOADS: Final = 3
_ID: Final = 2
_CONSTANT, _IDENTIFIER, _SELECT, _CALL, _LIST, _STRUCT, _COMPREHENSION = 3, 4, 5, 6, 7, 8, 9
_CONSTANT_STRING: Final = 6


@dataclass(frozen=True, slots=True)
class Identifier:
    """A name."""

    id: int
    name: str


@dataclass(frozen=True, slots=True)
class Select:
    """`operand.field`, or with `tests` the question `has(operand.field)`."""

    id: int
    operand: Expression
    field: str
    tests: bool


@dataclass(frozen=True, slots=True)
class Call:
    """A function or operator; the receiver of a method comes first."""

    id: int
    function: str
    arguments: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Group:
    """A list, map or message literal."""

    id: int
    parts: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Constant:
    """A literal; `text` is set for a string."""

    id: int
    text: str | None


@dataclass(frozen=True, slots=True)
class Loop:
    """What a macro such as `exists` or `map` expands to."""

    id: int
    source: Expression
    variables: frozenset[str]
    """The names bound in `repeated`: the elements and the result so far."""
    repeated: tuple[Expression, ...]
    """What is evaluated for each element."""
    once: tuple[Expression, ...]
    """What is evaluated once."""


Expression: TypeAlias = Identifier | Select | Call | Group | Constant | Loop


@dataclass(frozen=True, slots=True)
class CheckedExpression:
    """An expression with what the type checker found out."""

    root: Expression
    overloads: dict[int, frozenset[str]]
    """For the id of a call, the overloads that it may resolve to."""
    positions: dict[int, int]
    """For the id of an expression, where it stands in the text, in characters from 0."""


def read_checked(serialized: bytes) -> CheckedExpression:
    """Decode what `Expression.serialize()` returns."""
    checked = _decode(_bytes(_decode(serialized), _ANY_VALUE))
    overloads = {
        _int(entry, _ENTRY_KEY): frozenset(_texts(_decode(_bytes(entry, _ENTRY_VALUE)), _REFERENCE_OVERLOADS))
        for entry in _messages(checked, _CHECKED_REFERENCES)
    }
    source = _decode(_bytes(checked, _CHECKED_SOURCE))
    positions = {
        _int(entry, _ENTRY_KEY): _int(entry, _ENTRY_VALUE) for entry in _messages(source, _SOURCE_POSITIONS)
    }
    return CheckedExpression(_expression(_bytes(checked, _CHECKED_EXPRESSION)), overloads, positions)


def _expression(data: bytes) -> Expression:
    message = _decode(data)
    id_ = _int(message, _ID)
    if _IDENTIFIER in message:
        return Identifier(id_, _text(_decode(_bytes(message, _IDENTIFIER)), 1))
    if _SELECT in message:
        select = _decode(_bytes(message, _SELECT))
        return Select(id_, _expression(_bytes(select, 1)), _text(select, 2), tests=bool(_int(select, 3)))
    if _CALL in message:
        call = _decode(_bytes(message, _CALL))
        return Call(id_, _text(call, 2), (*_expressions(call, 1), *_expressions(call, 3)))
    if _LIST in message:
        return Group(id_, _expressions(_decode(_bytes(message, _LIST)), 1))
    if _STRUCT in message:
        entries = _messages(_decode(_bytes(message, _STRUCT)), 2)
        return Group(
            id_,
            tuple(part for entry in entries for part in (*_expressions(entry, 3), *_expressions(entry, 4))),
        )
    if _COMPREHENSION in message:
        return _loop(id_, _decode(_bytes(message, _COMPREHENSION)))
    constant = _decode(_bytes(message, _CONSTANT))
    return Constant(id_, _text(constant, _CONSTANT_STRING) if _CONSTANT_STRING in constant else None)


def _loop(id_: int, message: Message) -> Loop:
    return Loop(
        id_,
        source=_expression(_bytes(message, 2)),
        variables=frozenset(filter(None, (_text(message, 1), _text(message, 3), _text(message, 8)))),
        repeated=(*_expressions(message, 5), *_expressions(message, 6)),
        once=(*_expressions(message, 4), *_expressions(message, 7)),
    )


def _expressions(message: Message, field: int) -> tuple[Expression, ...]:
    return tuple(_expression(data) for data in message.get(field, []) if isinstance(data, bytes))


def _messages(message: Message, field: int) -> list[Message]:
    return [_decode(data) for data in message.get(field, []) if isinstance(data, bytes)]


def _texts(message: Message, field: int) -> list[str]:
    return [data.decode() for data in message.get(field, []) if isinstance(data, bytes)]


def _text(message: Message, field: int) -> str:
    return _bytes(message, field).decode()


def _bytes(message: Message, field: int) -> bytes:
    value = message.get(field, [b""])[-1]
    return value if isinstance(value, bytes) else b""


def _int(message: Message, field: int) -> int:
    value = message.get(field, [0])[-1]
    return value if isinstance(value, int) else 0


def _decode(data: bytes) -> Message:
    """Split a message into field numbers and raw values; values of fixed width come as bytes."""
    message: Message = {}
    position, end = 0, len(data)
    while position < end:
        tag, position = _varint(data, position)
        wire_type = tag & 7
        value: int | bytes
        if wire_type == 0:
            value, position = _varint(data, position)
        else:
            length = 8 if wire_type == 1 else 4
            if wire_type == 2:
                length, position = _varint(data, position)
            value = data[position : position + length]
            position += length
        message.setdefault(tag >> 3, []).append(value)
    return message


def _varint(data: bytes, position: int) -> tuple[int, int]:
    value = data[position]
    position += 1
    if value < 0x80:
        return value, position
    value &= 0x7F
    shift = 7
    while True:
        byte = data[position]
        position += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, position
        shift += 7
