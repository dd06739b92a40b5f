"""Numbers that an owner may answer, in words, and what she types read as one of the answers.

A number is read as prices are, in the spelling of :mod:`pdqs.model.spelling`. The browser's twin is
``owner/browser/answers.mjs``, with the same sentences; there labels are chosen from a list.
"""

from __future__ import annotations

import math
import re

from pdqs.model.domain import Domain
from pdqs.model.errors import InputError
from pdqs.model.figures import in_full, in_threes
from pdqs.model.looks import seen
from pdqs.model.money import PLAIN, Currency, without_name
from pdqs.model.spelling import NAMES, Mark, plain_decimal

_NEAR = 1e-6
"""Of a step: so near is a number to one of the answers, whatever became of its last digit. Of a fine grid of large
numbers what is shown may be farther off: who types an answer as it is shown gives it."""


def numbers_in_words(domain: Domain, mark: Mark = ".") -> str:
    """The numbers of a grid.

    >>> numbers_in_words(Domain.grid(0, 3000, 100), ","), numbers_in_words(Domain.grid(0, 1, 0.25), ",")
    ('a whole number from 0 to 3.000 in steps of 100', 'a number from 0 to 1 in steps of 0,25')
    """
    ends = f"from {in_threes(domain.start, mark)} to {in_threes(_last(domain), mark)}"
    steps = f" in steps of {in_threes(domain.step, mark)}" if domain.step != 1 else ""
    return f"a {'whole ' if _is_whole(domain) else ''}number {ends}{steps}"


def label_typed(text: str, domain: Domain) -> str:
    """The label that she typed, else the one that looks so: no two look the same, and not all signs are on keyboards.

    >>> label_typed("I don't know ", Domain.categories(["yes", "I don\u2019t know"])) == "I don\u2019t know"
    True
    """
    given, labels = text.strip(), [str(label) for label in domain.labels]
    alike = [given] if given in labels else [label for label in labels if seen(label) == seen(given)]
    return alike[0] if len(alike) == 1 else given


def number_typed(text: str, domain: Domain, currency: Currency = PLAIN) -> int:
    """The code of the number that she typed.

    >>> euro = Currency(mark=",")
    >>> number_typed("1.500", Domain.grid(0, 3000, 100), euro), number_typed(" -0,5 ", Domain.grid(-1, 1, 0.5), euro)
    (15, 1)
    >>> number_typed("950,5", Domain.grid(0, 3000, 1), euro)
    Traceback (most recent call last):
    ...
    pdqs.model.errors.InputError: "950,5" is not a whole number. Give a whole number from 0 to 3.000.
    """
    give, given = f"Give {numbers_in_words(domain, currency.mark)}.", text.strip()
    if not given:
        raise InputError(give)
    value = _read(given, domain, currency, give)
    place = (value - domain.start) / domain.step
    code = math.floor(min(max(place, 0.0), domain.size - 1.0) + 0.5)
    off = abs(place - code)
    if off <= _NEAR or (off < 1.0 and in_full(value) == in_full(domain.start + domain.step * code)):
        return code
    if not domain.start <= value <= _last(domain):
        raise InputError(give)
    raise InputError(f"{_between(given, value, domain, currency.mark)} {give}")


def _read(given: str, domain: Domain, currency: Currency, give: str) -> float:
    below = given[0] in "-\u2212"
    like = in_full(domain.start + domain.step * (domain.size // 2)).replace(".", currency.mark)
    bare = without_name(given[1:].strip() if below else given, currency)
    try:
        digits = plain_decimal(bare, "", currency.mark, whole=_is_whole(domain), like=like)
    except InputError as fault:
        sentence = str(fault).removeprefix(": ")
        raise InputError(f"{sentence[0].upper()}{sentence[1:]}. {give}") from None
    return -float(digits) if below else float(digits)


def _between(given: str, value: float, domain: Domain, mark: Mark) -> str:
    """Why a number within the ends is none of the answers."""
    said = f'"{given[:40]}"'
    if not _is_whole(domain) or value == round(value):
        return f"{said} is between two of the answers."
    if re.fullmatch(rf"[1-9][0-9]{{0,2}}{re.escape(mark)}[0-9]{{3}}", given):
        here = in_full(value).replace(".", mark)
        return f"{said} is {here} here: if you mean {given.replace(mark, '')}, write it without {NAMES[mark]}."
    return f"{said} is not a whole number."


def _last(domain: Domain) -> float:
    return domain.start + domain.step * (domain.size - 1)


def _is_whole(domain: Domain) -> bool:
    return domain.start == round(domain.start) and domain.step == round(domain.step)
