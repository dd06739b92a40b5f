"""What a caller passes, checked at the door: a plain number, a text, a value of the right kind, or one sentence."""

from __future__ import annotations

import math
from typing import TypeVar

import numpy as np

from pdqs.model.errors import PdqsError, TermsError

Kind = TypeVar("Kind")


def number(value: object, what: str, error: type[PdqsError] = TermsError) -> float:
    """A finite number as a plain float, whatever type of number it was; equal numbers come out as one.

    >>> number(np.float32(0.5), "budget"), number(-0.0, "budget")
    (0.5, 0.0)
    >>> number("5", "budget")
    Traceback (most recent call last):
        ...
    pdqs.model.errors.TermsError: budget must be a number, got '5'
    """
    if isinstance(value, bool | np.bool_) or not isinstance(value, int | float | np.floating | np.integer):
        raise error(f"{what} must be a number, got {shown(value)}")
    try:
        plain = float(value) + 0.0  # -0.0 becomes 0.0
    except OverflowError:
        plain = math.inf
    if not math.isfinite(plain):
        raise error(f"{what} must be a finite number, got {shown(value)}")
    return plain


def whole(value: object, what: str, error: type[PdqsError] = TermsError) -> int:
    """A whole number as a plain int.

    >>> whole(np.int64(5), "size"), whole(1e4, "owners")
    (5, 10000)
    """
    if isinstance(value, int | np.integer) and not isinstance(value, bool):
        return int(value)
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return int(value)
    raise error(f"{what} must be a whole number, got {shown(value)}")


def text(value: object, what: str, error: type[PdqsError] = TermsError) -> str:
    """A text as a plain str.

    >>> text(np.str_("ill?"), "text")
    'ill?'
    """
    if not isinstance(value, str):
        raise error(f"{what} must be a text, got {shown(value)}")
    return str.__str__(value)


def made(value: object, kind: type[Kind], what: str, error: type[PdqsError] = TermsError) -> Kind:
    """A value of this very kind.

    >>> made([1, 2], float, "terms")
    Traceback (most recent call last):
        ...
    pdqs.model.errors.TermsError: terms must be a float, got [1, 2]
    """
    if not isinstance(value, kind):
        raise error(f"{what} must be {_article(kind.__name__)}, got {shown(value)}")
    return value


def shown(value: object) -> str:
    """A value in a sentence: itself where it is short, else its type.

    >>> shown([0] * 1000), shown(0.5), shown(list)
    ('a list', '0.5', 'the class list')
    """
    if isinstance(value, type):
        return f"the class {value.__name__}"
    if isinstance(value, int | float | str | bytes | list | tuple | set | dict | np.generic | None):
        plain = value.item() if isinstance(value, np.generic) else value
        if len(said := repr(plain)) <= 60:
            return said
    return _article(type(value).__name__)


def _article(name: str) -> str:
    return f"{'an' if name[:1] in 'aeiouAEIO' else 'a'} {name}"
