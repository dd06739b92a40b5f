"""The array types that the signatures speak of, and arrays that nobody writes to."""

from __future__ import annotations

from typing import Any, TypeVar

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

_Array = TypeVar("_Array", bound=Values)


def read_only(array: _Array) -> _Array:
    """The same numbers, uncopied, behind a view that cannot be written to; whoever made the array keeps hers.

    >>> read_only(np.zeros(3)).flags.writeable
    False
    """
    view = array.view()
    view.flags.writeable = False
    return view
