"""Offers: what each owner is asked to do and what she is paid for it."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import final

import numpy as np

from pdqs.model.arrays import Booleans, Floats, Integers, Words, read_only
from pdqs.model.domain import Domain
from pdqs.model.errors import ensure
from pdqs.model.money import payment_micros, short_money, units
from pdqs.model.names import EstimatorName
from pdqs.model.question import Question
from pdqs.present.frames import Cells, Framed
from pdqs.present.text import Shown, table
from pdqs.privacy.loss import epsilon_upper, round_q_down

_EVERYONE: Floats = np.zeros(0)
_NO_DRAW: Words = np.zeros(0, dtype=np.uint32)
_ONE_STAGE: Integers = np.zeros(0, dtype=np.int64)
_WHOLE_VALUE = Question(domain=Domain.binary())


@final
@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Offers(Shown, Framed):
    """Arrays in bid order: the chance of truth q, the privacy loss it means, and the expected payment.

    q is a multiple of 2^-32, ``epsilon`` the exact loss at that q for what is asked, and ``payment_micros`` whole
    micro-units; all three are 0 for owners who are not asked. ``chance`` is rho, the chance of being asked, given
    everyone else's bid and draw: an exact multiple of 2^-32, and 1 for everyone under a rule without a lottery; 0 means
    that the budget could never pay her. ``draw`` holds the public words that decided who is asked, or who goes first of
    equal bids (zeros where none were needed). The arrays cannot be written to. ``promise`` is that of the terms they
    were cleared under (:attr:`pdqs.Terms.promise`), empty where it is not known, as in a file.

    ``question`` is what is asked (the value, unless told otherwise). Where it needs them, ``deal`` holds the public
    word of each owner that deals her part of it (the seed of her buckets, her place among the sides), ``stage`` her
    stage, counted from 1, and ``side`` the code that she is asked about: "is it at most this?", -1 before her stage.
    """

    bids: Floats
    q: Floats
    epsilon: Floats
    payment_micros: Integers
    domain: Domain
    budget_micros: int
    promise: str = ""
    chance: Floats = field(default_factory=lambda: _EVERYONE)
    draw: Words = field(default_factory=lambda: _NO_DRAW)
    question: Question = field(default_factory=lambda: _WHOLE_VALUE)
    deal: Words = field(default_factory=lambda: _NO_DRAW)
    stage: Integers = field(default_factory=lambda: _ONE_STAGE)
    side: Integers = field(default_factory=lambda: _ONE_STAGE)

    def __post_init__(self) -> None:
        if self.chance is _EVERYONE:
            object.__setattr__(self, "chance", np.broadcast_to(1.0, self.q.shape))
        if self.question is _WHOLE_VALUE:
            object.__setattr__(self, "question", Question(domain=self.domain))
        ensure(self.question.domain == self.domain, "offers that ask about another domain than their own")
        for name, none in (("draw", _NO_DRAW), ("deal", _NO_DRAW), ("stage", _ONE_STAGE), ("side", _ONE_STAGE)):
            if getattr(self, name) is none:
                usual = {"stage": 1, "side": -1}.get(name, 0)
                object.__setattr__(self, name, np.broadcast_to(none.dtype.type(usual), self.q.shape))
        for name in ("bids", "q", "epsilon", "payment_micros", "chance", "draw", "deal", "stage", "side"):
            ensure(getattr(self, name).shape == self.q.shape, f"{name} of another length than q")
            object.__setattr__(self, name, read_only(getattr(self, name)))

    def __len__(self) -> int:
        return int(self.q.size)

    @property
    def payment(self) -> Floats:
        """Expected payments in units of money."""
        return units(self.payment_micros)

    @cached_property
    def spent_micros(self) -> int:
        """The sum of payments, exactly."""
        return int(self.payment_micros.sum())

    @property
    def spent(self) -> float:
        """The sum of payments in units of money."""
        return float(units(np.int64(self.spent_micros)))  # type: ignore[arg-type]  # a scalar is a 0-d array here

    @cached_property
    def asked(self) -> Booleans:
        """Who is asked for anything at all: those with q > 0."""
        asked: Booleans = self.q > 0
        return asked

    def of_stage(self, stage: int) -> Booleans:
        """Who is asked in this stage, counted from 1."""
        here: Booleans = self.asked & (self.stage == stage)
        return here

    @cached_property
    def by_lottery(self) -> bool:
        """Whether some owners were left out by a draw, or could be."""
        return bool((self.chance < 1.0).any())

    @cached_property
    def unreachable(self) -> int:
        """How many owners have no chance of being asked: their price is beyond what the budget can pay."""
        return int(np.count_nonzero(self.chance == 0.0))

    @cached_property
    def information(self) -> float:
        """What the reports will tell: four times this is the worst-case Fisher information about a share.

        sum q^2 without a lottery; with one, over the asked and with w = 1/chance, (sum w)^2 / sum (w/q)^2: as much as
        that many equal weights would.
        """
        return self._weighed_evenly if self.by_lottery else float(np.dot(self.q, self.q))

    def information_for(self, estimator: str) -> float:
        """What an estimator makes of the reports: ``unbiased`` weighs owners evenly, as a lottery must.

        >>> q = np.array([0.2, 0.8])
        >>> no_money = np.zeros(2, dtype=np.int64)
        >>> some = Offers(bids=q, q=q, epsilon=q, payment_micros=no_money, domain=Domain.binary(), budget_micros=0)
        >>> round(some.information_for("weighted"), 3), round(some.information_for("unbiased"), 3)
        (0.68, 0.151)
        """
        return self._weighed_evenly if estimator == EstimatorName.UNBIASED else self.information

    @cached_property
    def _weighed_evenly(self) -> float:
        w = 1.0 / self.chance[self.asked]
        return float(w.sum() ** 2 / np.square(w / self.q[self.asked]).sum()) if w.size else 0.0

    @cached_property
    def bought(self) -> int:
        """How many owners are asked for anything at all."""
        return int(np.count_nonzero(self.q))

    def columns(self) -> dict[str, Cells]:
        """What each owner is asked and offered, for tables: see :class:`pdqs.present.frames.Framed`."""
        return {
            "bid": self.bids,
            "chance": self.chance,
            "asked": self.asked,
            "q": self.q,
            "epsilon": self.epsilon,
            "payment": self.payment,
        }

    def title(self) -> str:
        return f"Offers to {self.bought:,} of {len(self):,} owners"

    def rows(self) -> list[tuple[str, str]]:
        some = self.q > 0
        rows = [
            ("spent", f"{short_money(self.spent_micros)} of {short_money(self.budget_micros)}"),
            ("information", f"{self.information:,.1f} ({'n_eff q^2' if self.by_lottery else 'sum of q^2'})"),
        ]
        if self.by_lottery:
            rows += [("chance", _spread(self.chance))]
        if some.any():
            rows += [
                ("q", _spread(self.q[some])),
                ("epsilon", _spread(self.epsilon[some])),
                ("payment", _spread(self.payment[some])),
            ]
        return rows

    def notes(self) -> tuple[str, ...]:
        return offer_notes(self.bought, self.unreachable, len(self), self.budget_micros)

    def to_table(self, rows: int = 10) -> str:
        """The first offers as a plain table."""
        return table(
            ("bid", "chance", "q", "epsilon", "payment"),
            [
                (f"{b:.4f}", f"{c:.4f}", f"{q:.4f}", f"{e:.4f}", f"{p:.6f}")
                for b, c, q, e, p in zip(
                    *(column[:rows] for column in (self.bids, self.chance, self.q, self.epsilon, self.payment)),
                    strict=True,
                )
            ],
        )


def offer_notes(bought: int, unreachable: int, owners: int, budget_micros: int) -> tuple[str, ...]:
    """What is said of offers to nobody, and of owners with no chance of being asked."""
    notes: tuple[str, ...] = ()
    if not bought:
        # One payment is put aside in every market but a small lottery's, so that no bid moves its own owner's offer.
        notes += (f"nobody is asked: at these prices a budget of {short_money(budget_micros)} pays for no report",)
    if unreachable:
        notes += (f"{unreachable:,} of {owners:,} owners ask more than this budget can pay: no report of theirs",)
    return notes


def _spread(values: Floats) -> str:
    low, middle, high = np.quantile(values, [0.0, 0.5, 1.0])
    return f"{low:.4g} to {high:.4g}, median {middle:.4g}"


class Draft:
    """Offers in the making: columns that are filled part by part, then closed. What is not filled buys nothing."""

    def __init__(self, bids: Floats, question: Question, budget_micros: int, draw: Words = _NO_DRAW) -> None:
        self._bids, self._draw, self._question, self._budget_micros = bids, draw, question, budget_micros
        self._q, self._epsilon = np.zeros(bids.size), np.zeros(bids.size)
        self._payment_micros = np.zeros(bids.size, dtype=np.int64)

    def fill(self, part: slice | Integers, q: Floats, payments_micros: Integers) -> None:
        """Exact q and whole payments: q is rounded down, eps is that of the rounded q (section 5 of docs/theory)."""
        dyadic = round_q_down(q)
        self._q[part] = dyadic
        self._epsilon[part] = epsilon_upper(dyadic, self._question.kappa)
        self._payment_micros[part] = np.where(dyadic > 0, payments_micros, 0)

    def closed(self) -> Offers:
        """The offers."""
        return Offers(
            bids=self._bids,
            q=self._q,
            epsilon=self._epsilon,
            payment_micros=self._payment_micros,
            domain=self._question.domain,
            budget_micros=self._budget_micros,
            question=self._question,
            draw=self._draw,
        )


def make_offers(bids: Floats, q: Floats, payments: Floats, question: Question, budget_micros: int) -> Offers:
    """Offers from exact q and P, all at once; P is rounded up."""
    draft = Draft(bids, question, budget_micros)
    draft.fill(slice(None), q, payment_micros(payments))
    return draft.closed()
