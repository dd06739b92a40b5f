"""Integer micro-units: the only place where floats become money, and where money becomes text and text money.

One unit of money is 1,000,000 micro-units. A budget is rounded *down* and a payment *up*, so that a promise made in
floats (she is paid at least her price; the budget is not passed) holds on the integers.
"""

from __future__ import annotations

import math
import re

import numpy as np

from pdqs.model.arrays import Floats, Integers
from pdqs.model.errors import InputError, TermsError

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
    return whole_micros(payments).astype(np.int64)


def whole_micros(payments: Floats) -> Floats:
    """The same as floats, which hold them exactly: for millions of payments that are reckoned with further.

    >>> whole_micros(np.array([0.0, 0.25, 1e-9])).tolist()
    [0.0, 250001.0, 1.0]
    """
    micros: Floats = payments * (MICROS_PER_UNIT * _ULPS)
    return np.ceil(micros, out=micros if micros.ndim else None)


def units(micros: Integers) -> Floats:
    """Micro-units as a float amount, for people.

    >>> units(np.array([1_500_000])).tolist()
    [1.5]
    """
    amounts: Floats = micros / MICROS_PER_UNIT
    return amounts


def money_text(micros: int, decimals: int, separator: str = ",") -> str:
    """Micro-units as text with so many decimals (0 to 6), rounded to nearest, halves away from zero.

    Whole numbers all the way: a float would lose digits beyond 2^53. The browser's twin is ``owner/browser/money.mjs``.

    >>> money_text(1_234_565_000, 2), money_text(-7, 6), money_text(1_234_500_000, 6, separator="")
    ('1,234.57', '-0.000007', '1234.500000')
    """
    step: int = 10 ** (6 - decimals)
    whole, part = divmod((abs(micros) + step // 2) // step, 10**decimals)
    sign = "-" if micros < 0 and (whole or part) else ""
    grouped = f"{whole:,}".replace(",", separator)
    return f"{sign}{grouped}.{part:0{decimals}d}" if decimals else f"{sign}{grouped}"


def exact_money(micros: int) -> str:
    """Micro-units for people, to the last one: at least two decimals, no idle zeros after them.

    >>> exact_money(1_500_000), exact_money(-1_234_000_001)
    ('1.50', '-1,234.000001')
    """
    return money_text(micros, decimals_of(micros))


def decimals_of(micros: int) -> int:
    """How many decimals say an amount exactly; at least two.

    >>> decimals_of(1_500_000), decimals_of(1_234_000)
    (2, 3)
    """
    return max(2, len(f"{abs(micros) % MICROS_PER_UNIT:06d}".rstrip("0")))


def short_money(micros: int) -> str:
    """Micro-units for people, to the hundredth; exactly, when smaller than that.

    >>> short_money(1_234_567_890), short_money(1_234), short_money(0)
    ('1,234.57', '0.001234', '0.00')
    """
    return exact_money(micros) if abs(micros) < MICROS_PER_UNIT // 100 else money_text(micros, 2)


_AMOUNT = re.compile(r"([0-9]{0,9})(?:\.([0-9]*))?")


def parse_money(text: str, what: str = "amount") -> int:
    """Whole micro-units of a decimal amount as people write it, commas between thousands allowed.

    >>> parse_money("1,500.25"), parse_money(" .5 ")
    (1500250000, 500000)
    >>> parse_money("0.0000001", "price")
    Traceback (most recent call last):
    ...
    pdqs.model.errors.InputError: price: '0.0000001' has more than six decimals
    """
    plain = text.strip().replace(",", "")
    found = _AMOUNT.fullmatch(plain)
    if found is None or not any(map(str.isdigit, plain)):
        raise InputError(f"{what}: {text!r} is not an amount of money, such as 12.50")
    decimals = (found[2] or "").rstrip("0")
    if len(decimals) > 6:
        raise InputError(f"{what}: {text!r} has more than six decimals")
    return int(found[1] or 0) * MICROS_PER_UNIT + int(decimals.ljust(6, "0"))
