"""The array types that the signatures speak of."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Words = NDArray[np.uint32]
Booleans = NDArray[np.bool_]

Column = Any
"""One column of data from outside: a list, a NumPy array, or a pandas, polars or arrow column."""
