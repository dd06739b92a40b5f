"""Reports: what came back from owners, or in a simulation what their devices would send."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from pdqs.model import columns
from pdqs.model.arrays import Booleans, Column, Integers, Values, read_only
from pdqs.model.checks import made, shown
from pdqs.model.domain import Domain
from pdqs.model.errors import InputError
from pdqs.model.names import QuestionKind
from pdqs.model.questions import Level
from pdqs.present.frames import Cells, Framed
from pdqs.present.text import Shown
from pdqs.privacy.asking import ask, ask_buckets, ask_sides
from pdqs.privacy.entropy import Entropy, OwnEntropy, SeededEntropy, SomeOwners
from pdqs.privacy.randomiser import draw_reports, q_numerators
from pdqs.rounds.offers import Offers

_MOST_SHOWN = 12


@final
@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Reports(Shown, Framed):
    """What came back: a code per owner, and whether it arrived.

    ``selected`` says where the coin chose the truth. Only a simulation knows it; it is empty for reports received.
    The arrays cannot be written to.
    """

    codes: Integers
    arrived: Booleans
    selected: Booleans
    domain: Domain

    def __post_init__(self) -> None:
        for name in ("codes", "arrived", "selected"):
            object.__setattr__(self, name, read_only(getattr(self, name)))

    def __len__(self) -> int:
        return int(self.codes.size)

    @property
    def values(self) -> Values:
        """The reported values as the domain holds them; missing ones are NaN (None for categories)."""
        values = self.domain.decode(self.codes)
        if self.arrived.all():
            return values
        if self.domain.ordered:
            return np.where(self.arrived, values.astype(np.float64), np.nan)
        labels: Values = values.copy()
        labels[~self.arrived] = None
        return labels

    def columns(self) -> dict[str, Cells]:
        """Each report as the domain holds it, for tables; None for one that did not arrive."""
        values = self.domain.decode(self.codes)
        if self.arrived.all():
            return {"report": values}
        there = zip(values.tolist(), self.arrived.tolist(), strict=True)
        return {"report": [value if came else None for value, came in there]}

    def only(self, arrived: Booleans) -> Reports:
        """The same reports with only these arrived."""
        return Reports(codes=self.codes, arrived=self.arrived & arrived, selected=self.selected, domain=self.domain)

    def joined(self, other: Reports) -> Reports:
        """Both stages' reports together; nobody reports twice."""
        if self.domain != other.domain or len(self) != len(other):
            raise InputError("reports of different rounds cannot be put together")
        if (twice := self.arrived & other.arrived).any():
            raise InputError(f"row {int(np.argmax(twice)) + 1}: a second report from one owner")
        both = self.selected.size and other.selected.size
        return Reports(
            codes=np.where(other.arrived, other.codes, self.codes),
            arrived=self.arrived | other.arrived,
            selected=np.where(other.arrived, other.selected, self.selected) if both else np.zeros(0, dtype=bool),
            domain=self.domain,
        )

    def title(self) -> str:
        return f"Reports: {int(self.arrived.sum()):,} of {len(self):,} arrived ({self.domain})"

    def rows(self) -> list[tuple[str, str]]:
        """How often each value was reported, of a domain of few values; noise and all."""
        if self.domain.size > _MOST_SHOWN:
            return []
        counts = np.bincount(self.codes[self.arrived], minlength=self.domain.size)
        labels = self.domain.decode(np.arange(self.domain.size)).tolist()
        return [(str(label), f"{count:,} reports") for label, count in zip(labels, counts.tolist(), strict=True)]


def randomise(
    values: Column, offers: Offers, rng: np.random.Generator | Entropy, *, stage: int | None = None
) -> Reports:
    """The report of every owner who was asked, drawn at her own q.

    An owner whom a lottery left out draws nothing and sends nothing. Without a lottery an owner with q = 0 sends a
    random value, as the paper has it: it tells nothing, and only the naive estimator counts it.

    ``rng`` is a seeded NumPy generator for simulation, or :class:`SystemEntropy` for real values. ``stage`` says whose
    turn it is where sides are asked in stages; left out, everyone reports whose question is known.

    >>> import pdqs
    >>> offers = pdqs.clear([0.1, 0.2, 0.3], pdqs.Terms(query=pdqs.Count(), budget=1.0))
    >>> len(pdqs.randomise([1, 0, 1], offers, np.random.default_rng(0)))
    3
    """
    made(offers, Offers, "offers", InputError)
    entropy = entropy_of(rng)
    codes = offers.domain.encode(values)
    if codes.size != len(offers):
        raise InputError(f"column 'value': {codes.size:,} values for {len(offers):,} offers")
    return drawn_reports(codes, offers, entropy, stage=stage)


def entropy_of(rng: np.random.Generator | Entropy) -> Entropy:
    """The source of the owners' coins, or one sentence about what was given instead."""
    entropy = SeededEntropy(rng) if isinstance(rng, np.random.Generator) else rng
    if isinstance(entropy, type) or not isinstance(entropy, Entropy):
        raise InputError(f"rng must be np.random.default_rng(seed) or SystemEntropy(), got {shown(rng)}")
    return entropy


def drawn_reports(codes: Integers, offers: Offers, entropy: Entropy, *, stage: int | None = None) -> Reports:
    """The same, of values that are codes already."""
    arrived = _turn(offers, stage)
    reports, selected = np.zeros(codes.size, dtype=np.int64), np.zeros(codes.size, dtype=bool)
    who = slice(None) if arrived.all() else np.flatnonzero(arrived)
    # Where every owner has words of her own, those left out leave theirs unused.
    words = SomeOwners(entropy, who) if isinstance(entropy, OwnEntropy) and not isinstance(who, slice) else entropy
    reports[who], selected[who] = _asked(codes[who], offers, who, words)
    return Reports(codes=reports, arrived=arrived, selected=selected, domain=offers.question.answers)


def _turn(offers: Offers, stage: int | None) -> Booleans:
    """Who reports now."""
    asked: Booleans = offers.asked | (offers.chance == 1.0)
    if offers.question.kind == QuestionKind.SIDE:
        asked = offers.asked & (offers.side >= 0)
    return asked if stage is None else asked & (offers.stage == stage)


def _asked(codes: Integers, offers: Offers, who: slice | Integers, entropy: Entropy) -> tuple[Integers, Booleans]:
    """What the devices of these owners send, and their coins (:mod:`pdqs.privacy.asking`)."""
    question, numerators = offers.question, q_numerators(offers.q[who])
    size = question.domain.size
    match question.kind:
        case QuestionKind.LEVEL:
            return ask(Level(question.domain, question.codes), codes, numerators, entropy)
        case QuestionKind.SIDE:
            return ask_sides(offers.side[who], codes, numerators, size, entropy)
        case QuestionKind.BUCKET:
            return ask_buckets(offers.deal[who], question.codes, codes, numerators, size, entropy)
        case _:
            return draw_reports(codes, numerators, size, entropy)


def received(values: Column, domain: Domain, *, column: str = "value") -> Reports:
    """Reports that came from outside; None and NaN stand for those that did not arrive.

    >>> received([1, None, 0], Domain.binary()).arrived.tolist()
    [True, False, True]
    """
    made(domain, Domain, "domain", InputError)
    listed = columns.listed(values, column=column)
    arrived = np.array([value is not None and value == value for value in listed], dtype=bool)
    filler = domain.decode(np.array([0]))[0]
    codes = domain.encode(
        [value if there else filler for value, there in zip(listed, arrived, strict=True)], column=column
    )
    return Reports(codes=codes, arrived=arrived, selected=np.zeros(0, dtype=bool), domain=domain)
