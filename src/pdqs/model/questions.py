"""The four questions a device can be asked: its value, a level, a side, a bucket (section 10 of docs/theory).

A report is best about what is asked, not about the whole value. Each question maps a value to one of few report codes,
and one randomiser over those codes keeps it private:

========== ============================================================================== ======= ==================
question   what the device reports, but for the coin                                      kappa   for
========== ============================================================================== ======= ==================
value      the value                                                                      k       few values
level(g)   the value rounded *at random* to one of g even levels, its mean kept            g       means
side(m)    whether it is at most the value of code m                                       2       quantiles, counts
bucket(g)  which of g near-equal parts of the domain holds it, cut by a public seed        g       histograms
========== ============================================================================== ======= ==================

eps = ln(1 + kappa q / (1 - q)) with the kappa of *this* question is what an owner is priced and charged for. These are
descriptions alone: :mod:`pdqs.privacy.asking` is what a device does with them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar, Protocol, final

import numpy as np

from pdqs.model.arrays import Floats
from pdqs.model.checks import shown, whole
from pdqs.model.domain import Domain
from pdqs.model.errors import TermsError
from pdqs.model.figures import in_threes
from pdqs.model.names import QuestionKind
from pdqs.model.spelling import Mark

LARGEST_BUCKETED = 2**20
"""Bucket maps multiply two codes, and a browser's numbers hold such products exactly; nobody reads more cells."""


class Asking(Protocol):
    """What a device is asked: the domain of its value, and how many codes its report is one of."""

    kind: ClassVar[str]

    @property
    def domain(self) -> Domain: ...

    @property
    def kappa(self) -> int:
        """The number of report codes, 0..kappa-1: what eps is reckoned with."""
        ...

    def said(self, subject: str) -> str:
        """The question in plain words, of a subject such as "monthly income"."""
        ...


@final
@dataclass(frozen=True, slots=True)
class Value:
    """Report the value itself, or a random one of the domain.

    >>> Value(Domain.grid(14, 61, 1)).kappa
    48
    """

    domain: Domain
    kind: ClassVar[str] = QuestionKind.VALUE.value

    def __post_init__(self) -> None:
        _keep_domain(self.domain, self.kind)

    @property
    def kappa(self) -> int:
        return self.domain.size

    def said(self, subject: str) -> str:
        return f"What is your {subject}?"


@final
@dataclass(frozen=True, slots=True)
class Level:
    """Round at random to one of ``levels`` evenly spaced numbers, from one end of the domain to the other.

    >>> Level(Domain.grid(0, 100, 1), 3).numbers.tolist()
    [0.0, 50.0, 100.0]
    """

    domain: Domain
    levels: int
    kind: ClassVar[str] = QuestionKind.LEVEL.value

    def __post_init__(self) -> None:
        _keep_ordered(self.domain, self.kind)
        object.__setattr__(self, "levels", _within(self.levels, 2, self.domain.size, "the number of levels"))

    @property
    def kappa(self) -> int:
        return self.levels

    @property
    def gap(self) -> float:
        """D, how far one level is from the next, in the numbers of the domain."""
        return self.domain.step * (self.domain.size - 1) / (self.levels - 1)

    @property
    def numbers(self) -> Floats:
        """The levels as numbers, rising."""
        return self.domain.start + self.gap * np.arange(self.levels, dtype=np.float64)

    def said(self, subject: str, mark: Mark = ".") -> str:
        *numbers, last = [in_threes(x, mark) for x in self.numbers]
        shown_levels = f"{', '.join(numbers)} or {last}"
        return f"Which is nearer to your {subject}: {shown_levels}? (Rounded up or down at random, right on average.)"


@final
@dataclass(frozen=True, slots=True)
class Side:
    """Is the value at most that of code ``code``? Report 1 for yes, 0 for no.

    >>> Side(Domain.grid(0, 10_000, 500), 5).said("monthly income")
    'Is your monthly income at most 2,500?'
    """

    domain: Domain
    code: int
    kind: ClassVar[str] = QuestionKind.SIDE.value

    def __post_init__(self) -> None:
        _keep_ordered(self.domain, self.kind)
        object.__setattr__(self, "code", _within(self.code, 0, self.domain.size - 2, "the code of a side"))

    @property
    def kappa(self) -> int:
        return 2

    @property
    def number(self) -> float:
        """The value that is compared with."""
        return self.domain.start + self.domain.step * self.code

    def said(self, subject: str, mark: Mark = ".") -> str:
        return f"Is your {subject} at most {in_threes(self.number, mark)}?"

    def said_of(self, text: str, mark: Mark = ".") -> str:
        """The question in plain words, where the round as a whole asks ``text``.

        With a comma for a mark, as in "0 to 5.000", it must not say "4,900", which is 4.9 there.

        >>> Side(Domain.grid(0, 10_000, 500), 5).said_of("What is your monthly income?")
        'Is your monthly income at most 2,500?'
        >>> Side(Domain.grid(0, 99, 1), 40).said_of("How old are you?")
        'How old are you? Is it at most 40?'
        """
        subject = _ASKED_FOR.fullmatch(text)
        return (
            self.said(subject[1], mark) if subject else f"{text} Is it at most {in_threes(self.number, mark)}?".strip()
        )


@final
@dataclass(frozen=True, slots=True)
class Bucket:
    """Which of ``buckets`` parts of the domain holds the value? The parts are cut by the public word ``seed``.

    >>> Bucket(Domain.grid(0, 100, 1), 4, seed=7).kappa
    4
    """

    domain: Domain
    buckets: int
    seed: int
    kind: ClassVar[str] = QuestionKind.BUCKET.value

    def __post_init__(self) -> None:
        _keep_domain(self.domain, self.kind)
        refuse_too_many_cells(self.domain)
        object.__setattr__(self, "buckets", _within(self.buckets, 2, self.domain.size, "the number of buckets"))
        object.__setattr__(self, "seed", _within(self.seed, 0, 2**32 - 1, "the seed of a bucket question"))

    @property
    def kappa(self) -> int:
        return self.buckets

    def said(self, subject: str) -> str:
        return f"Which of these {self.buckets} groups, mixed for you alone, holds your {subject}?"


_ASKED_FOR = re.compile(r"what(?: is|'s|\u2019s) your ([^ ?][^?]*?) *\?", re.IGNORECASE | re.ASCII)

KINDS = (Value, Level, Side, Bucket)
"""Every question there is, by its ``kind``."""


def refuse_too_many_cells(domain: Domain) -> None:
    """A histogram has a cell for each value: beyond 2^20 nobody could read it, nor would it fit in memory."""
    if domain.size > LARGEST_BUCKETED:
        raise TermsError(
            f"a histogram of {domain.size:,} values is too large: at most {LARGEST_BUCKETED:,};"
            " ask for a mean or a quantile, or take a coarser grid"
        )


def _keep_domain(domain: Domain, kind: str) -> None:
    if not isinstance(domain, Domain):
        raise TermsError(f"a {kind} question needs a domain, such as Domain.grid(0, 9, 1), got {shown(domain)}")


def _keep_ordered(domain: Domain, kind: str) -> None:
    _keep_domain(domain, kind)
    if not domain.ordered:
        raise TermsError(f"a {kind} question needs an ordered domain of numbers; categories have no order")


def _within(value: int, least: int, most: int, what: str) -> int:
    plain = whole(value, what)
    if not least <= plain <= most:
        raise TermsError(f"{what} must be from {least:,} to {most:,} here, got {shown(value)}")
    return plain
