"""The array types that the signatures speak of, and arrays that nobody writes to."""

from __future__ import annotations

from typing import Any, Protocol, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Words = NDArray[np.uint32]
Booleans = NDArray[np.bool_]

Values = NDArray[Any]
"""Values as a domain holds them: numbers or labels."""

Column = Any
"""One column of data from outside: a list, a NumPy array, or a pandas, polars or arrow column."""

Figure = Any
"""A number, or for a histogram an array of them; None where there is no answer."""


@runtime_checkable
class Listable(Protocol):
    """A column that gives its cells as plain Python values: numpy, pandas, polars and arrow have this word for it."""

    def tolist(self) -> list[object]: ...


def cells(values: Column) -> list[object]:
    """The cells of a column, one by one.

    >>> cells(np.array([1, 2])), cells(("a", None))
    ([1, 2], ['a', None])
    """
    return values.tolist() if isinstance(values, Listable) else list(values)


_Array = TypeVar("_Array", bound=Values)


def read_only(array: _Array) -> _Array:
    """The same numbers, uncopied, behind a view that cannot be written to; whoever made the array keeps hers.

    >>> read_only(np.zeros(3)).flags.writeable
    False
    """
    view = array.view()
    view.flags.writeable = False
    return view
