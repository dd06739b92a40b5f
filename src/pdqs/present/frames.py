"""How results leave: as plain values that JSON takes, and as tables of pandas, Polars and Arrow, a row an owner.

None of the three libraries is needed by pdqs itself: each is imported when it is asked for.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from pdqs.model.errors import MissingExtraError

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

Cells = npt.NDArray[np.generic] | Sequence[object]
"""A column: an array, or a list in which None is a cell without a value."""


class Framed:
    """Gives a value ``to_dict``, ``to_pandas``, ``to_polars`` and ``to_arrow`` from its ``columns``."""

    def columns(self) -> Mapping[str, Cells]:
        """The columns by name, all of one length; money in units, None where there is no value."""
        raise AssertionError("a framed value says its columns")

    def to_dict(self) -> dict[str, object]:
        """Every column as a list of plain values: what ``json.dumps`` takes as it is."""
        return {name: plain(cells) for name, cells in self.columns().items()}

    def to_pandas(self) -> pd.DataFrame:
        """A pandas table; whole numbers stay whole where some are missing (``Int64``)."""
        pandas = _library("pandas")
        held = {name: _own(cells) for name, cells in self.columns().items()}
        return pandas.DataFrame(
            {name: pandas.array(cells, dtype="Int64") if _gaps(cells) else cells for name, cells in held.items()}
        )

    def to_polars(self) -> pl.DataFrame:
        """A Polars table; null where there is no value."""
        made: pl.DataFrame = _library("polars").DataFrame(
            {name: _of_one_kind(cells) for name, cells in self.columns().items()}, strict=False
        )
        return made

    def to_arrow(self) -> pa.Table:
        """An Arrow table; null where there is no value."""
        return _library("pyarrow").table({name: _of_one_kind(cells) for name, cells in self.columns().items()})


def plain(value: object) -> object:
    """A value as JSON has it: lists for arrays, text for what is no number, null for what is not finite.

    >>> plain({"half_width": float("inf"), "q": np.array([0.5])})
    {'half_width': None, 'q': [0.5]}
    """
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if isinstance(value, bool | int | float | str) or value is None else str(value)


def _own(cells: Cells) -> Cells:
    """A copy, so that what is done to the table is not done to the result."""
    return np.array(cells) if isinstance(cells, np.ndarray) else list(cells)


def _gaps(cells: Cells) -> bool:
    """Whether these are whole numbers some of which are missing, which pandas would make floats of."""
    return isinstance(cells, list) and {type(cell) for cell in cells} == {int, type(None)}


def _of_one_kind(cells: Cells) -> Cells:
    """Cells that fit in one typed column: labels that are texts and numbers by turns are all written as texts."""
    if isinstance(cells, np.ndarray) and cells.dtype != object:
        return np.array(cells)
    listed = list(cells)
    if any(isinstance(cell, str) for cell in listed):
        return [None if cell is None else str(cell) for cell in listed]
    return listed


def _library(name: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError:
        raise MissingExtraError(f"this table needs {name}, which is not installed: pip install {name}") from None
