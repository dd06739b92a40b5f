"""Numbers as people read them: twelve digits, all of them written out, and never as a power of ten.

The browser's twin is ``figure`` in ``owner/browser/questions.mjs``: a question's numbers are the same in both.
"""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Context, Decimal

from pdqs.model.spelling import Mark, styled

_TWELVE = Context(prec=12, rounding=ROUND_HALF_UP)


def in_full(x: float) -> str:
    """A number as it would be typed.

    >>> in_full(1999999.5), in_full(0.1 + 0.2), in_full(1e10), in_full(-2500.0)
    ('1999999.5', '0.3', '10000000000', '-2500')
    """
    return f"{_twelve_digits(x):f}"


def in_threes(x: float, mark: Mark = ".") -> str:
    """The same with its thousands apart, and with this mark before its decimals.

    >>> in_threes(2500.0), in_threes(12345678901.25), in_threes(1e-9), in_threes(2500.5, ",")
    ('2,500', '12,345,678,901.3', '0.000000001', '2.500,5')
    """
    return styled(f"{_twelve_digits(x):,f}", mark)


def _twelve_digits(x: float) -> Decimal:
    """Halves are rounded away from nought, as browsers do it."""
    return _TWELVE.create_decimal(Decimal(float(x) + 0.0)).normalize(_TWELVE)
