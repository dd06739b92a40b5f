"""JSON from outside, read strictly: every field there, none beside them, each of its own type, or one sentence."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NoReturn

from pdqs.model.checks import shown
from pdqs.model.errors import InputError

MOST_MICROS = 2**53
"""No amount of money is larger: floats hold whole numbers exactly up to here."""

Held = Any
"""What a field means, of whatever type its reader makes it."""

Reader = Callable[[object, str], Held]
"""From a plain JSON value and where it stands to what it means, or an :class:`pdqs.model.errors.InputError`."""


def parsed(text: str, what: str) -> object:
    """The plain values of a JSON text. A name that comes twice in an object, NaN and infinities are refused.

    >>> parsed('{"a": 1, "a": 2}', "the record")
    Traceback (most recent call last):
        ...
    pdqs.model.errors.InputError: the record says 'a' twice in one place
    """

    def once(pairs: list[tuple[str, object]]) -> dict[str, object]:
        found = dict(pairs)
        if len(found) < len(pairs):
            raise InputError(f"{what} says {shown(_first_again(name for name, _ in pairs))} twice in one place")
        return found

    def no_number(constant: str) -> NoReturn:
        raise InputError(f"{what} holds {constant}, which is not a number")

    try:
        return json.loads(text, object_pairs_hook=once, parse_constant=no_number)
    except json.JSONDecodeError as fault:
        raise InputError(f"{what} is not JSON, or was cut short: {fault}") from None
    except (ValueError, RecursionError):
        raise InputError(f"{what} is not JSON that can be read: a number or its nesting is endless") from None


def _first_again(names: Iterable[str]) -> str:
    """The first name that was there before. Each is looked at once: whoever writes a record chooses how many."""
    before: set[str] = set()
    for name in names:
        if name in before:
            return name
        before.add(name)
    raise AssertionError("one of the names is there twice")


def fields_of(plain: object, readers: Mapping[str, Reader], where: str) -> dict[str, Held]:
    """Exactly these fields of an object, each read.

    >>> fields_of({"bid": 3, "b": 4}, {"bid": micros}, "owner 1")
    Traceback (most recent call last):
        ...
    pdqs.model.errors.InputError: owner 1 has a 'b', which does not belong there
    """
    if not isinstance(plain, dict):
        raise InputError(f"{where} must be an object, got {shown(plain)}")
    for name in readers:
        if name not in plain:
            raise InputError(f"{where} has no {name!r}")
    for name in plain:
        if name not in readers:
            raise InputError(f"{where} has a {shown(name)}, which does not belong there")
    return {name: read(plain[name], f"{where}, {name!r}") for name, read in readers.items()}


def refuse_other_kind(plain: object, kind: str, told: str) -> None:
    """Refuse an object whose format names no version of this kind of file: it is another file, not a wrong one.

    >>> refuse_other_kind({"value": 16.0}, "pdqs record ", "the record does not say that it is one")
    Traceback (most recent call last):
        ...
    pdqs.model.errors.InputError: the record does not say that it is one
    """
    if isinstance(plain, dict) and not str(plain.get("format", "")).startswith(kind):
        raise InputError(told)


def whole_below(end: int) -> Reader:
    """A reader of whole numbers from 0 to below ``end``."""

    def read(value: object, where: str) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < end:
            raise InputError(f"{where} must be a whole number from 0 to {end - 1}, got {_brief(value)}")
        return value

    return read


micros = whole_below(MOST_MICROS + 1)
word = whole_below(2**32)
chance = whole_below(2**32 + 1)


def or_none(read: Reader) -> Reader:
    """A reader that takes null too."""
    return lambda value, where: None if value is None else read(value, where)


def truth(value: object, where: str) -> bool:
    """True or false."""
    if not isinstance(value, bool):
        raise InputError(f"{where} must be true or false, got {_brief(value)}")
    return value


def figure(value: object, where: str) -> float:
    """A finite number that is written as one that need not be whole."""
    if not isinstance(value, float) or not math.isfinite(value):
        raise InputError(f"{where} must be a finite number with a decimal point, got {_brief(value)}")
    return value


def words(value: object, where: str) -> str:
    """A text that can be written."""
    if isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError:
            raise InputError(f"{where} holds half a character") from None
        return value
    raise InputError(f"{where} must be a text, got {_brief(value)}")


def hexadecimal(value: object, where: str) -> str:
    """32 bytes in small hexadecimal digits."""
    if isinstance(value, str) and len(value) == 64 and set(value) <= set("0123456789abcdef"):
        return value
    raise InputError(f"{where} must be 64 digits from 0-9 and a-f, got {_brief(value)}")


def signature(value: object, where: str) -> str:
    """64 bytes in small hexadecimal digits."""
    if isinstance(value, str) and len(value) == 128 and set(value) <= set("0123456789abcdef"):
        return value
    raise InputError(f"{where} must be 128 digits from 0-9 and a-f, got {_brief(value)}")


def tuple_of(read: Reader, length: int | None = None) -> Reader:
    """A reader of lists (of one length, if given), each item read."""

    def items(value: object, where: str) -> tuple[Held, ...]:
        if not isinstance(value, list):
            raise InputError(f"{where} must be a list, got {_brief(value)}")
        if length not in (None, len(value)):
            raise InputError(f"{where} must have {length} items, got {len(value)}")
        return tuple(read(item, f"{where}, item {place}") for place, item in enumerate(value, start=1))

    return items


def constant(text: str) -> Reader:
    """A reader of one text and no other, such as the version of a format."""

    def read(value: object, where: str) -> str:
        if value != text:
            raise InputError(f"{where} must be {text!r}, got {_brief(value)}")
        return text

    return read


def _brief(value: object) -> str:
    """A value in a sentence, be it ever so long."""
    if isinstance(value, int) and abs(value) > 10**30:
        return "a number of too many digits"
    return shown(value)
