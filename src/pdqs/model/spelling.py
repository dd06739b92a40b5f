"""Numbers as people write them: one reader for all of them, which asks back where a spelling has two meanings.

The decimals come after a point, or after a comma in a market that says so; this is the ``mark``. Thousands may be
parted by the other of the two, by spaces or by apostrophes. A lone "1,250" is refused: half of the world means 1.25
by it. The
browser's twin is ``owner/browser/spelling.mjs``, with the same sentences.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Literal

from pdqs.model.errors import InputError

Mark = Literal[".", ","]
OTHER: dict[Mark, Mark] = {".": ",", ",": "."}
NAMES = {".": "a point", ",": "a comma"}
_PARTING = {**dict.fromkeys(" \u00a0\u2007\u2009\u202f", " "), **dict.fromkeys("'\u2019", "'")}
_DIGITS = re.compile(r"[0-9]*")
_SWAPPED = str.maketrans({".": ",", ",": "."})
_LONE = re.compile(r"([0-9]*)[.,]([0-9]+)")


def plain_decimal(text: str, what: str, mark: Mark = ".", *, whole: bool = False, like: str = "") -> str:
    """The digits of a number that is not below zero, with a point before its decimals.

    ``whole`` is for what has no decimals, where a lone "1,250" can only be thousands; ``like`` is an example of what to
    write, where another is nearer at hand than 12.50.

    >>> plain_decimal("1,500.25", "amount"), plain_decimal("1 500,25", "amount", ","), plain_decimal("1'500", "amount")
    ('1500.25', '1500.25', '1500.0')
    >>> plain_decimal("12,50", "amount")
    Traceback (most recent call last):
    ...
    pdqs.model.errors.InputError: amount: "12,50" could mean 12.50 or 1250: write the one that you mean, ...
    """
    given = text.strip()
    found = _read(given, mark, whole=whole)
    if found is None:
        raise InputError(f"{what}: {_doubt(given, mark, like or example(mark))}")
    return found


def styled(text: str, mark: Mark) -> str:
    """A number in English digits as it is written with this mark before its decimals.

    >>> styled("1,234.5", "."), styled("1,234.5", ",")
    ('1,234.5', '1.234,5')
    """
    return text.translate(_SWAPPED) if mark == "," else text


def example(mark: Mark) -> str:
    """An amount as it is to be written."""
    return f"12{mark}50"


def _read(given: str, mark: Mark, *, whole: bool) -> str | None:
    front, point, decimals = given.partition(mark)
    digits = _ungrouped(front, mark)
    lone = not point and not whole and front.count(OTHER[mark]) == 1
    if lone or digits is None or not _DIGITS.fullmatch(decimals) or not digits + decimals:
        return None
    return f"{digits or '0'}.{decimals or '0'}"


def _ungrouped(front: str, mark: Mark) -> str | None:
    """The digits before the decimals, or None when they are parted otherwise than by threes and by one sign."""
    parting = {**_PARTING, OTHER[mark]: OTHER[mark]}
    same = "".join(parting.get(letter, letter) for letter in front)
    signs = set(same) & set(parting.values())
    if not signs:
        return same if _DIGITS.fullmatch(same) else None
    sign = re.escape(signs.pop())
    return re.sub(sign, "", same) if re.fullmatch(rf"[1-9][0-9]{{0,2}}({sign}[0-9]{{3}})+", same) else None


def _doubt(given: str, mark: Mark, like: str) -> str:
    """What to write instead, in a sentence."""
    said, such = f'"{given[:40]}"', f"write it like {like}"
    if not given:
        return f"nothing is written here: {such}"
    if any(unicodedata.category(letter) == "Nd" and not letter.isascii() for letter in given):
        return f"{said} is not in the digits 0 to 9: {such}"
    if given[0] in "-\u2212(":
        return f"{said} is below zero"
    if re.search(r"[0-9][eE][+-]?[0-9]", given):
        return f"{said} is short for a longer number: write all of its digits"
    lone = _LONE.fullmatch(given)
    if lone and OTHER[mark] in given:
        ways = [f"{lone[1] or 0}{mark}{lone[2]}", *([lone[1] + lone[2]] if lone[1].strip("0") else [])]
        here = f"{NAMES[mark]} before the decimals"
        if len(ways) == 2:
            return f"{said} could mean {' or '.join(ways)}: write the one that you mean, with {here}"
        return f"{said} is to be written {ways[0]}, with {here}"
    turned = _read(given, OTHER[mark], whole=False)
    if turned is not None:
        return f"{said} is to be written {turned.replace('.', mark)}, with {NAMES[mark]} before the decimals"
    return f"{said} is not a number: {such}"
