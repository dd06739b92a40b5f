"""Mechanisms side by side: the same owners and values, the same money, many rounds each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from pdqs.estimate.answers import Answer
from pdqs.estimate.level import z_of
from pdqs.model.arrays import Column, Floats, Integers
from pdqs.model.checks import made, shown, whole
from pdqs.model.errors import InputError, TermsError
from pdqs.model.query import Count, Histogram, Median, Quantile, Query
from pdqs.present.frames import Cells, Framed
from pdqs.present.text import Shown, in_digits, table
from pdqs.rounds.terms import Terms
from pdqs.trade import trade

NO_ANSWER = "-"


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What one mechanism did over all rounds.

    ``error`` is the mean of |answer - truth|, ``half_width`` the mean half-width of the interval and ``coverage`` the
    share of intervals that held the truth, over the rounds with an answer and, for a histogram, over its cells; NaN if
    no round had one. ``spent`` is what was paid on average, ``most_spent`` what was paid at most, in units of money.
    """

    mechanism: str
    error: float
    half_width: float
    coverage: float
    spent: float
    most_spent: float
    answered: float


@final
@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Comparison(Shown, Framed):
    """One :class:`Outcome` a mechanism, in the order asked; ``to_pandas`` and the like give a row for each."""

    outcomes: tuple[Outcome, ...]
    truth: float | Floats
    query: Query
    owners: int
    rounds: int
    level: float

    def __len__(self) -> int:
        return len(self.outcomes)

    def columns(self) -> dict[str, Cells]:
        """A row a mechanism, for tables."""
        return {
            "mechanism": [one.mechanism for one in self.outcomes],
            "error": np.array([one.error for one in self.outcomes]),
            "half_width": np.array([one.half_width for one in self.outcomes]),
            "coverage": np.array([one.coverage for one in self.outcomes]),
            "spent": np.array([one.spent for one in self.outcomes]),
            "most_spent": np.array([one.most_spent for one in self.outcomes]),
            "answered": np.array([one.answered for one in self.outcomes]),
        }

    def cells(self) -> list[tuple[str, ...]]:
        """The rows in words, below :attr:`HEAD`."""
        return [
            (
                one.mechanism,
                _figure(one.error),
                _figure(one.half_width),
                NO_ANSWER if np.isnan(one.coverage) else f"{one.coverage:.1%}",
                f"{one.spent:,.2f}",
                f"{one.most_spent:,.2f}",
                f"{one.answered:.0%}",
            )
            for one in self.outcomes
        ]

    HEAD = ("mechanism", "error", "half-width", "coverage", "spent", "most spent", "answered")

    def to_table(self) -> str:
        """A plain table, a row a mechanism."""
        return table(self.HEAD, self.cells())

    def title(self) -> str:
        truth = "" if isinstance(self.truth, np.ndarray) else f", the truth is {in_digits(self.truth)}"
        kind = self.query.kind.capitalize()
        return f"{kind} of {self.owners:,} owners, {self.rounds:,} rounds a mechanism{truth}"

    def rows(self) -> list[tuple[str, str]]:
        return [
            (name, ", ".join(f"{head} {cell}" for head, cell in zip(self.HEAD[1:], told, strict=True)))
            for name, *told in self.cells()
        ]

    def notes(self) -> tuple[str, ...]:
        chance = z_of(0.95) * np.sqrt(self.level * (1.0 - self.level) / self.rounds)
        return (f"a coverage of {self.level:.0%} is known to ±{chance:.1%} from {self.rounds:,} rounds",)

    def __repr__(self) -> str:
        return "\n".join([self.title(), self.to_table(), *(f"  ! {note}" for note in self.notes())])


_NEEDS = (
    "mechanisms are compared on owners whose values are known: pdqs.compare(terms, values, bids, rng), rng a"
    " np.random.default_rng(seed); what terms give before anyone has bid is told by pdqs.plan"
)


def compare(
    terms: Terms | Sequence[Terms] | Mapping[str, Terms],
    values: Column = None,
    bids: Column = None,
    rng: np.random.Generator | None = None,
    *,
    rounds: int = 100,
    level: float = 0.95,
) -> Comparison:
    """Run every mechanism ``rounds`` times on the same owners; draws and coins are fresh each round.

    ``terms`` is one mechanism or several, which must all ask the same query; a mapping names them, else each is named
    by its rule and by what sets it apart. Round r has the same seed for all, so that a mechanism's row does not hang on
    which others are listed.

    >>> import pdqs
    >>> rng = np.random.default_rng(3)
    >>> values, bids = rng.random(500) < 0.2, rng.random(500)
    >>> asked = [preset(query=pdqs.Count(), budget=50.0) for preset in (pdqs.presets.honest, pdqs.presets.sound)]
    >>> found = compare(asked, values, bids, rng, rounds=5)
    >>> [one.mechanism for one in found.outcomes], bool(found.outcomes[0].most_spent <= 50)
    (['lottery, unbiased', 'optimal, weighted'], True)
    """
    if values is None or bids is None or rng is None:
        raise InputError(_NEEDS)
    terms = [terms] if isinstance(terms, Terms) else terms
    named = dict(terms) if isinstance(terms, Mapping) else names_apart(terms)
    query = _same_query(list(named.values()))
    if not isinstance(rng, np.random.Generator):
        raise InputError(f"rng must be np.random.default_rng(seed), got {shown(rng)}")
    if whole(rounds, "rounds", InputError) < 1:
        raise InputError(f"rounds must be at least 1, got {rounds}")
    codes = query.question.domain.encode(values)
    truth = true_answer(query, codes)
    seeds = rng.integers(2**63, size=rounds)
    outcomes = tuple(_outcome(name, one, values, bids, truth, seeds, level) for name, one in named.items())
    return Comparison(outcomes=outcomes, truth=truth, query=query, owners=codes.size, rounds=rounds, level=level)


def true_answer(query: Query, codes: Integers) -> float | Floats:
    """The answer that a census would give, from the owners' codes; a histogram's is an array.

    >>> from pdqs.model.domain import Domain
    >>> true_answer(Median(Domain.grid(10, 14, 1)), np.array([0, 3, 3, 4]))
    13.0
    """
    domain = query.question.domain
    counts = np.bincount(codes, minlength=domain.size).astype(np.float64)
    if isinstance(query, Count):
        return float(counts[1])
    if isinstance(query, Histogram):
        return counts
    if isinstance(query, Median | Quantile):
        enough = query.p * codes.size - 1e-9  # 0.07 of 100 is a little more than 7 in floating point
        return float(domain.numbers[np.searchsorted(np.cumsum(counts), enough)])
    return float(domain.numbers[codes].mean())


def names_apart(terms: Sequence[Terms]) -> dict[str, Terms]:
    """The terms by rule, and by those of their other words in which they differ; what is left alike is numbered."""
    for one in terms:
        made(one, Terms, "each of terms", TermsError)
    words = ("estimator", "clearing", "contract")
    said = [(one.rule_name, one.estimator, one.clearing, one.contract) for one in terms]
    apart = [i for i in range(1, len(words) + 1) if len({row[i] for row in said}) > 1]
    named: dict[str, Terms] = {}
    for one, row in zip(terms, said, strict=True):
        name = ", ".join([row[0], *(row[i] for i in apart)])
        alike = sum(other == name or other.startswith(f"{name} #") for other in named)
        named[f"{name} #{alike + 1}" if alike else name] = one
    return named


def _same_query(terms: Sequence[Terms]) -> Query:
    if not terms:
        raise TermsError("there is nothing to compare: give at least one terms")
    for one in terms:
        made(one, Terms, "each of terms", TermsError)
        if one.query != terms[0].query:
            raise TermsError(f"all terms must ask the same query, got {terms[0].query.kind} and {one.query.kind}")
    return terms[0].query


def _outcome(
    name: str, terms: Terms, values: Column, bids: Column, truth: float | Floats, seeds: Integers, level: float
) -> Outcome:
    done = [trade(values, bids, terms, np.random.default_rng(seed), level=level) for seed in seeds]
    heard = [one.answer for one in done if one.answer.value is not None]
    ends = np.array([_ends(one) for one in heard])  # rounds x cells x 2, or empty
    paid = np.array([one.payments.total for one in done])
    none = float("nan")
    found = np.array([one.value for one in heard])
    return Outcome(
        mechanism=name,
        error=float(np.abs(found - truth).mean()) if heard else none,
        half_width=float((ends[..., 1] - ends[..., 0]).mean() / 2.0) if heard else none,
        coverage=float(((ends[..., 0] <= truth) & (truth <= ends[..., 1])).mean()) if heard else none,
        spent=float(paid.mean()),
        most_spent=float(paid.max()),
        answered=len(heard) / len(done),
    )


def _ends(found: Answer) -> Floats:
    ends: Floats = np.asarray(found.interval, dtype=np.float64)
    return ends


def _figure(amount: float) -> str:
    return NO_ANSWER if np.isnan(amount) else in_digits(amount, 4)
