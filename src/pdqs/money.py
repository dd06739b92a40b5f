"""Integer micro-units: the only place where floats become money.

One unit of money is 1,000,000 micro-units. A budget is rounded *down* and a payment *up*, so that a promise made in
floats (she is paid at least her price; the budget is not passed) holds on the integers.
"""

from __future__ import annotations

import math

import numpy as np

from pdqs.errors import TermsError
from pdqs.types import Floats, Integers

MICROS_PER_UNIT = 1_000_000

# A payment is a product and a sum of floats, each rounded to nearest: four ulps cover them, so that rounding up starts
# from a figure that is not below the true one. Zero stays zero.
_ULPS = 1.0 + 2.0**-50

# Floats hold integers exactly up to here, so no single payment may exceed it.
LARGEST_PAYMENT_MICROS = 2**53


def budget_micros(budget: float) -> int:
    """The budget in micro-units, rounded down.

    >>> budget_micros(2.3), budget_micros(0.0000019)
    (2300000, 1)
    """
    # Rounding to the nearest decimal first keeps 2.3 from becoming 2299999: floats cannot hold 2.3.
    micros = round(budget * MICROS_PER_UNIT, 3)
    if not math.isfinite(micros) or micros >= 2**62:
        raise TermsError(f"budget {budget!r} is too large: at most {2**62 // MICROS_PER_UNIT:,} units of money")
    return math.floor(micros)


def payment_micros(payments: Floats) -> Integers:
    """Payments in micro-units, rounded up.

    >>> payment_micros(np.array([0.0, 0.25, 1e-9])).tolist()
    [0, 250001, 1]

    The second shows the direction: 0.25 itself is exact, but a computed 0.25 might be an ulp short of the truth.
    """
    return np.ceil(payments * (MICROS_PER_UNIT * _ULPS)).astype(np.int64)


def units(micros: Integers) -> Floats:
    """Micro-units as a float amount, for people.

    >>> units(np.array([1_500_000])).tolist()
    [1.5]
    """
    amounts: Floats = micros / MICROS_PER_UNIT
    return amounts
