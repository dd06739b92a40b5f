"""How results show themselves: as aligned text in a terminal and as a small table in a notebook."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from html import escape


class Shown:
    """Gives a value ``repr`` and ``_repr_html_`` from its ``title``, ``rows`` and ``notes``."""

    def title(self) -> str:
        """One line that says what this is."""
        raise AssertionError("a shown value says its title")

    def rows(self) -> list[tuple[str, str]]:
        """What it holds: a name and a value in words each."""
        raise AssertionError("a shown value says its rows")

    def notes(self) -> Sequence[str]:
        """What a reader should be warned of."""
        return ()

    def __repr__(self) -> str:
        rows = self.rows()
        width = max((len(name) for name, _ in rows), default=0)
        lines = [self.title(), *(f"  {name:<{width}}  {value}" for name, value in rows)]
        return "\n".join([*lines, *(f"  ! {note}" for note in self.notes())])

    def _repr_html_(self) -> str:
        cells = "".join(
            f"<tr><th style='text-align:left'>{escape(name)}</th><td style='text-align:left'>{escape(value)}</td></tr>"
            for name, value in self.rows()
        )
        notes = "".join(f"<p>&#9888; {escape(note)}</p>" for note in self.notes())
        return f"<div><strong>{escape(self.title())}</strong><table>{cells}</table>{notes}</div>"


def in_digits(amount: float, digits: int = 6) -> str:
    """A number in so many digits, all of those before the point, thousands apart, and never as a power of ten.

    >>> in_digits(1309444.4), in_digits(13094.4, 4), in_digits(23.456789), in_digits(0.00001234, 3), in_digits(120.0)
    ('1,309,444', '13,094', '23.4568', '0.0000123', '120')
    """
    if not math.isfinite(amount) or amount == 0:
        return f"{amount:g}"
    decimals = max(0, digits - 1 - math.floor(math.log10(abs(amount))))
    shown = f"{amount:,.{decimals}f}"
    return shown.rstrip("0").rstrip(".") if "." in shown else shown


_UNSHOWN = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
_UNSHOWN_IN_LINES = re.compile(f"(?!\n){_UNSHOWN.pattern}")
_SPACES = re.compile("[ \u00a0\u2000-\u200a\u202f\u205f\u3000]+")
_MARKS = re.compile('["\u00ab\u00bb\u201c-\u201f\u2033\u2036\u2039\u203a\u2e42\u300c-\u300f\u301d-\u301f\uff02]')


def printable(text: str, most: int = 400) -> str:
    """Words from outside as one line that is safe in a terminal: no control characters, not too long.

    >>> printable("no\\x1b[2Jsuch\\nround")
    'no?[2Jsuch?round'
    >>> printable("half a letter: \\ud800")  # which no terminal could be told
    'half a letter: ?'
    """
    shown = _UNSHOWN.sub("?", text)
    return shown if len(shown) <= most else shown[: most - 1] + "…"


def spelled_out(json_text: str) -> str:
    """The same JSON with what a terminal must not be told spelled by its number; its line breaks stand.

    >>> spelled_out('["a\\u009b2J\\u202e"]') == r'["a\\u009b2J\\u202e"]'
    True
    """
    return _UNSHOWN_IN_LINES.sub(lambda sign: f"\\u{ord(sign[0]):04x}", json_text)


def quoted(text: str, most: int = 400) -> str:
    """The same in quotation marks, where others' words stand beside one's own; none of theirs closes the quotation.

    Nor do wide spaces among them pass for columns.

    >>> quoted("Ann\u201d. All is well.    \u201cso")
    "\u201cAnn'. All is well. 'so\u201d"
    """
    within = _MARKS.sub("'", printable(_SPACES.sub(" ", text), most))
    return f"\u201c{within}\u201d"


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A plain aligned table; the first column to the left, the others to the right.

    >>> print(table(("who", "paid"), [("Ann", "1.50"), ("Bob", "12.00")]))
    who   paid
    Ann   1.50
    Bob  12.00
    """
    widths = [max(len(row[i]) for row in [head, *rows]) for i in range(len(head))]
    return "\n".join(
        "  ".join(
            f"{cell:<{w}}" if i == 0 else f"{cell:>{w}}" for i, (cell, w) in enumerate(zip(row, widths, strict=True))
        )
        for row in [head, *rows]
    )
