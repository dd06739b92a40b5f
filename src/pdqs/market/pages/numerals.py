"""Numbers on pages, all in one style: the market's mark before decimals, the other sign between thousands."""

from __future__ import annotations

import math
import re

from pdqs.model.spelling import Mark, styled
from pdqs.present.text import in_digits

_IN_ENGLISH = re.compile(r"(?<![\w.,])(?:[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]+)?|[0-9]+\.[0-9]+)(?![\w]|[.,][0-9])")


def in_style(sentence: str, mark: Mark = ".") -> str:
    """A sentence that was written elsewhere, with the numbers in it as this market writes them.

    >>> in_style("between 0 and 5,000 (information 3.5, at least 4 needed), 1,234.5 or more.", ",")
    'between 0 and 5.000 (information 3,5, at least 4 needed), 1.234,5 or more.'
    """
    return _IN_ENGLISH.sub(lambda found: styled(found[0], mark), sentence)


def whole(value: float, mark: Mark = ".") -> str:
    """A count: thousands parted, no decimals.

    >>> whole(12345), whole(12345.6, ",")
    ('12,345', '12.346')
    """
    return styled(f"{value:,.0f}", mark)


def short(value: float, digits: int = 3, mark: Mark = ".") -> str:
    """A share or the like in so many digits, and all of those before the decimals.

    >>> short(16.849), short(16.849, mark=","), short(95.0), short(12345.6)
    ('16.8', '16,8', '95', '12,346')
    """
    return styled(in_digits(value, digits), mark)


def fixed(value: float, places: int, mark: Mark = ".") -> str:
    """A figure that stands above others like it: so many decimals.

    >>> fixed(34.8, 2, ",")
    '34,80'
    """
    return styled(f"{value:,.{places}f}", mark)


def number(value: float, mark: Mark = ".") -> str:
    """A figure for people: thousands parted, four digits that count.

    >>> number(12345.678), number(0.123456), number(42.0), number(5000.0, ",")
    ('12,346', '0.1235', '42', '5.000')
    """
    return styled(f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}", mark)


def figure(value: float, low: float, high: float, mark: Mark = ".") -> str:
    """A figure with as many decimals as its interval has to say anything about.

    >>> figure(67.84, 67.84, 110.2), figure(0.6179, 0.6179, 1.382), figure(7, 6.5, 7.5), figure(0.62, 0.6, 1.4, ",")
    ('68', '0.62', '7.0', '0,62')
    """
    width = high - low
    if width <= 0:
        return number(value, mark)
    places = min(max(1 - math.floor(math.log10(width)), 0), 6)
    return fixed(value, places, mark)


def people(count: float, mark: Mark = ".") -> str:
    """So many people, more or less: there is no part of one.

    >>> people(6.435), people(1.2), people(0.3), people(12345.6)
    ('6 people', '1 person', 'less than 1 person', '12,346 people')
    """
    if count < 0.95:
        return "less than 1 person"
    return "1 person" if round(count) == 1 else f"{whole(count, mark)} people"
