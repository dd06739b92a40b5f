"""Columns of data from outside, parsed once at the edge: lists, NumPy, pandas, polars and arrow alike."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Set

import numpy as np

from pdqs.model.arrays import Column, Floats, cells
from pdqs.model.checks import shown
from pdqs.model.errors import InputError, RowError


def floats(values: Column, *, column: str) -> Floats:
    """A column as finite float64, or an :class:`InputError` that names the first bad row.

    >>> floats([0.5, 1], column="bid").tolist()
    [0.5, 1.0]
    >>> floats([0.5, float("nan")], column="bid")
    Traceback (most recent call last):
        ...
    pdqs.model.errors.RowError: row 2, column 'bid': nan is not a finite number
    """
    parsed = numbers(values, column=column)
    finite = np.isfinite(parsed)
    if not finite.all():
        row = int(np.argmin(finite))
        raise RowError(row + 1, column, f"{parsed[row]} is not a finite number")
    return parsed


def numbers(values: Column, *, column: str) -> Floats:
    """A column as float64, NaN and infinities let through; refuses what is no number, naming the row."""
    refuse_disorder(values, column=column)
    _refuse_other_kinds(values, column)
    try:
        parsed = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        parsed = _one_by_one(values, column)
    if parsed.ndim == 0:
        raise InputError(f"column {column!r}: expected one number per owner, got {shown(values)}")
    if parsed.ndim != 1:
        raise InputError(f"column {column!r}: expected one number per owner, got shape {parsed.shape}")
    return parsed


_NO_NUMBERS = {"M": "dates", "m": "spans of time", "c": "complex values"}


def _refuse_other_kinds(values: object, column: str) -> None:
    """Refuse what NumPy would turn into numbers without a word: letters, dates, complex values.

    >>> _refuse_other_kinds(np.array(["2024-01-31"], "datetime64[D]"), "bid")
    Traceback (most recent call last):
        ...
    pdqs.model.errors.InputError: column 'bid': dates are not numbers
    """
    if isinstance(values, str | bytes):
        raise InputError(f"column {column!r}: expected a column of numbers, got {shown(values)}")
    kind = getattr(getattr(values, "dtype", None), "kind", "")
    if kind in _NO_NUMBERS:
        raise InputError(f"column {column!r}: {_NO_NUMBERS[kind]} are not numbers")


def refuse_disorder(values: object, *, column: str) -> None:
    """Refuse what is no column: a set or mapping has no rows, and a masked cell no value.

    >>> refuse_disorder({0.5, 0.25}, column="bid")
    Traceback (most recent call last):
        ...
    pdqs.model.errors.InputError: column 'bid': a set has no order, so nobody knows whose each value is: pass a list
    """
    if isinstance(values, Set | Mapping):
        kind = type(values).__name__
        raise InputError(f"column {column!r}: a {kind} has no order, so nobody knows whose each value is: pass a list")
    if isinstance(values, np.ma.MaskedArray) and np.ma.getmaskarray(values).any():
        row = int(np.argmax(np.ma.getmaskarray(values).ravel()))
        raise RowError(row + 1, column, "the value is masked")


def listed(values: Column, *, column: str) -> list[object]:
    """A column as a list of whatever its cells hold.

    >>> listed(None, column="report")
    Traceback (most recent call last):
        ...
    pdqs.model.errors.InputError: column 'report': expected a column, got None
    """
    refuse_disorder(values, column=column)
    try:
        return cells(values)
    except TypeError:
        raise InputError(f"column {column!r}: expected a column, got {shown(values)}") from None


def bids_in_range(values: Column, low: float, high: float, *, column: str = "bid") -> Floats:
    """A column of bids, each within [low, high].

    >>> bids_in_range(np.array([True, False]), 0.0, 1.0)
    Traceback (most recent call last):
        ...
    pdqs.model.errors.InputError: column 'bid': bids are numbers, got truth values: were values and bids swapped?
    """
    if getattr(getattr(values, "dtype", None), "kind", "") == "b":
        raise InputError(f"column {column!r}: bids are numbers, got truth values: were values and bids swapped?")
    bids = floats(values, column=column)
    if bids.size and (bids.min() < low or bids.max() > high):
        outside = (bids < low) | (bids > high)
        row = int(np.argmax(outside))
        raise RowError(row + 1, column, f"{bids[row]:g} is outside the bid range {low:g} to {high:g}")
    return bids


def _one_by_one(values: Column, column: str) -> Floats:
    """The slow road, taken only to name the row that is not a number."""
    try:
        rows = list(values)
    except TypeError:
        raise InputError(f"column {column!r}: expected a column of numbers, got {type(values).__name__}") from None
    parsed = np.empty(len(rows), dtype=np.float64)
    for row, value in enumerate(rows):
        try:
            parsed[row] = float(value)
        except (TypeError, ValueError):
            held = str(value) if isinstance(value, str) else value  # NumPy's texts say what they are
            raise RowError(row + 1, column, f"{held!r} is not a number{_instead(value)}") from None
    return parsed


def _instead(cell: object) -> str:
    """How to write a number that people would read, and a program must not guess.

    >>> _instead("$0.67"), _instead("0,4"), _instead("cheap")
    (': write 0.67, without a sign of currency', ': write decimals after a point and nothing between thousands', '')
    """
    if not isinstance(cell, str):
        return ""
    bare = "".join(letter for letter in cell if unicodedata.category(letter) != "Sc").strip()
    if bare != cell.strip() and _is_number(bare):
        return f": write {bare}, without a sign of currency"
    if _is_number(bare.rstrip("% ")):
        return f": write {bare.rstrip('% ')}, without a sign"
    if any(sign.isdigit() for sign in bare) and not any(sign.isalpha() for sign in bare):
        return ": write decimals after a point and nothing between thousands"
    return ""


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
