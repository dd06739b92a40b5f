"""Integer micro-units: the only place where floats become money, and where money becomes text and text money.

One unit of money is 1,000,000 micro-units. A budget is rounded *down* and a payment *up*, so that a promise made in
floats (she is paid at least her price; the budget is not passed) holds on the integers.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import final

import numpy as np

from pdqs.model.arrays import Floats, Integers
from pdqs.model.errors import InputError, TermsError
from pdqs.model.spelling import OTHER, Mark, plain_decimal, styled

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


def money_text(micros: int, decimals: int, separator: str = ",", mark: str = ".") -> str:
    """Micro-units as text with so many decimals (0 to 6), rounded to nearest, halves away from zero.

    Whole numbers all the way: a float would lose digits beyond 2^53. The browser's twin is ``owner/browser/money.mjs``.

    >>> money_text(1_234_565_000, 2), money_text(-7, 6), money_text(1_234_500_000, 6, separator="")
    ('1,234.57', '-0.000007', '1234.500000')
    """
    step: int = 10 ** (6 - decimals)
    whole, part = divmod((abs(micros) + step // 2) // step, 10**decimals)
    sign = "-" if micros < 0 and (whole or part) else ""
    grouped = f"{whole:,}".replace(",", separator)
    return f"{sign}{grouped}{mark}{part:0{decimals}d}" if decimals else f"{sign}{grouped}"


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
    return max(2, _needed(micros))


def short_money(micros: int) -> str:
    """Micro-units for people, to the hundredth; exactly, when smaller than that.

    >>> short_money(1_234_567_890), short_money(1_234), short_money(0)
    ('1,234.57', '0.001234', '0.00')
    """
    return exact_money(micros) if abs(micros) < MICROS_PER_UNIT // 100 else money_text(micros, 2)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Currency:
    """The money of a market: its code and symbol (either may be empty), its decimals, and the sign before them.

    >>> euro = Currency(code="EUR", symbol="\u20ac", mark=",")
    >>> euro.shown(1_234_567_890), euro.exact(4_000_001), euro.read("1 234,50 EUR")
    ('1.234,57 EUR', '4,000001 EUR', 1234500000)
    """

    code: str = ""
    symbol: str = ""
    decimals: int = 2
    mark: Mark = "."

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[A-Za-z]{0,8}", self.code):
            raise TermsError(f"currency: {self.code!r} is not a code such as EUR")
        if len(self.symbol) > 4 or any(letter in ".,-<>&\"'" or letter.isdigit() for letter in self.symbol):
            raise TermsError(f"currency symbol: {self.symbol!r} is not a sign such as $")
        if not 0 <= self.decimals <= 6 or self.mark not in OTHER:
            raise TermsError("currency: decimals go from 0 to 6, and come after '.' or ','")

    @property
    def step(self) -> int:
        """The least amount that can be paid by hand, in micro-units."""
        return int(10 ** (6 - self.decimals))

    def bare(self, micros: int, decimals: int) -> str:
        """An amount alone, as this market writes numbers."""
        return money_text(micros, decimals, OTHER[self.mark], self.mark)

    def exact(self, micros: int) -> str:
        """An amount to the last micro-unit, with the currency."""
        return self._named(self.bare(micros, max(self.decimals, _needed(micros))))

    def shown(self, micros: int) -> str:
        """An amount as people write it, to the nearest; exactly, when it is smaller than can be paid."""
        small = 0 < abs(micros) < self.step
        return self.exact(micros) if small else self._named(self.bare(micros, self.decimals))

    def owed(self, micros: int) -> str:
        """The same for what somebody is to have: never more than is there."""
        return self.shown(micros if abs(micros) < self.step else self.payable(micros))

    def payable(self, micros: int) -> int:
        """What of an amount can be paid by hand; the rest stays owed.

        >>> Currency().payable(4_009_999)
        4000000
        """
        whole = abs(micros) // self.step * self.step
        return whole if micros >= 0 else -whole

    def read(self, text: str, what: str = "amount") -> int:
        """Whole micro-units of an amount as people write it."""
        return parse_money(text, what, self)

    def _named(self, amount: str) -> str:
        return f"{amount} {self.code}" if self.code else amount + (f" {self.symbol}" if self.symbol else "")


PLAIN = Currency()
"""Money without a name: what there is unless a market says otherwise."""

_MOST_DIGITS = 9


def parse_money(text: str, what: str = "amount", currency: Currency = PLAIN) -> int:
    """Whole micro-units of a decimal amount as people write it, in the spelling of :mod:`pdqs.model.spelling`.

    The currency's own code or symbol may stand before or after it.

    >>> parse_money("1,500.25"), parse_money(" .5 ")
    (1500250000, 500000)
    >>> parse_money("0.0000001", "price")
    Traceback (most recent call last):
    ...
    pdqs.model.errors.InputError: price: "0.0000001" has more than six decimals
    """
    given = text.strip()
    whole, decimals = plain_decimal(
        without_name(given, currency), what, currency.mark, whole=not currency.decimals
    ).split(".")
    if len(decimals.rstrip("0")) > 6:
        raise InputError(f'{what}: "{given[:40]}" has more than six decimals')
    if len(whole.lstrip("0")) > _MOST_DIGITS:
        raise InputError(
            f'{what}: "{given[:40]}" is too large: amounts stay below {styled("1,000,000,000", currency.mark)}'
        )
    return int(whole) * MICROS_PER_UNIT + int(decimals.rstrip("0").ljust(6, "0"))


def without_name(given: str, currency: Currency) -> str:
    """The amount without the currency's own name."""
    for name in filter(None, (currency.code, currency.symbol)):
        if given.upper().startswith(name.upper()):
            return given[len(name) :].strip()
        if given.upper().endswith(name.upper()):
            return given[: -len(name)].strip()
    return given


def _needed(micros: int) -> int:
    return len(f"{abs(micros) % MICROS_PER_UNIT:06d}".rstrip("0"))
