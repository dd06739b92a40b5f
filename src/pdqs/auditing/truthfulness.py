"""Truthful (IC): does any owner gain by misreporting her price, and how much?

For one owner and fixed bids of the others, u(x) = P(x) - theta l(q(x)) is what she has from bidding x; under a lottery
everyone's draw is fixed too, hers included, so that a gain is one for those very draws. The gain of
the best lie, max_x u(x) - u(theta), is searched for where u can break: at the others' bids, where the ladder's rungs
change, at the kinks of the rule, each plus and minus one unit in the last place, at the ends of the range, and on a
grid; the best of these is then refined by golden section. All on the integers that are really paid.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import final

import numpy as np

from pdqs.auditing.bends import kinks, posted_price
from pdqs.auditing.markets import Market
from pdqs.auditing.mechanism import Mechanism
from pdqs.auditing.temptation import Deal, Temptation, tempted
from pdqs.model.arrays import Floats, Integers
from pdqs.pricing.rules import Asks
from pdqs.rounds.terms import Terms

GRID = 17
"""Lies spread evenly over the bid range."""

MOST_OTHERS = 256
"""Others' bids that are tried: all of them in markets up to this size, the most telling ones in larger markets."""

MOST_OTHERS_BY_LOT = 24
"""The same under a lottery, where others' bids move nothing but the rung, and a deal costs more."""

MOST_TIES = 64
"""Exact ties are tried beside both their neighbours in markets up to this size: a tie goes one way or the other."""

REFINEMENTS = 12
"""Golden-section steps: the bracket shrinks three-hundredfold."""

EDGE_STEPS = 24
"""Halvings of the gap between a bid that is bought and one that is not."""

SMALL = 12
"""Owners of a market that is small enough to print."""

CROSS_CHECKED = 40
"""One in so many lies is also cleared in full and compared with the answer for that owner alone."""


@final
@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Misreport:
    """One owner's best lie: what she bids, what it brings, and all that is needed to see it again."""

    market: Market
    owner: int
    lie: float
    honest: Deal
    lying: Deal
    gain_micros: float
    gains: bool

    @property
    def price(self) -> float:
        """Her true price."""
        return float(self.market.bids[self.owner])

    def __str__(self) -> str:
        return (
            f"owner {self.owner + 1} of {len(self.market)}, true price {self.price:.4g}, bids {self.lie:.4g}:"
            f" gains {self.gain_micros / 1e6:.4g}"
        )


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class MarketFinding:
    """One market: its size, how many owners were examined, how many of them gain by a lie, and the most gained."""

    market: str
    size: int
    owners: int
    gainers: int
    most_micros: float


@final
@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Profile:
    """What one owner would have from every bid: her chance of truth, her payment, and what remains of it to her."""

    who: str
    price: float
    bids: Floats
    q: Floats
    payment_micros: Integers
    utility_micros: Floats


@final
@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Truthfulness:
    """What was found over every market tried.

    ``regret_share`` is the sum of the best gains over the sum of honest payments, owner by owner examined;
    ``worst_share`` the largest gain over the mean payment in its market (over the liar's own where nobody is bought).
    """

    by_market: tuple[MarketFinding, ...]
    owners: int
    misreports: int
    cross_checks: int
    gainers: int
    regret_share: float
    worst: Misreport
    worst_share: float
    example: Misreport
    profile: Profile

    @property
    def kept(self) -> bool:
        """Nobody gains more than rounding."""
        return self.gainers == 0


def examine(mechanism: Mechanism, terms: Terms, tried: Iterable[tuple[Market, Integers]]) -> Truthfulness:
    """The best misreport of each named owner of each market, and what they come to."""
    found: list[Misreport] = []
    by_market: list[MarketFinding] = []
    lies = checks = 0
    for market, owners in tried:
        cases = [Case(mechanism, market, int(owner), terms) for owner in owners]
        here = [case.best() for case in cases]
        by_market.append(
            MarketFinding(
                market=market.name,
                size=len(market),
                owners=len(here),
                gainers=sum(each.gains for each in here),
                most_micros=max(each.gain_micros for each in here),
            )
        )
        found += here
        lies += sum(len(case.tried) for case in cases)
        checks += sum(case.cross_checks for case in cases)
    worst = max(found, key=lambda each: each.gain_micros)
    # A picture of somebody who gains; where nobody does, of somebody who is bought.
    shown = worst if worst.gains else max(found, key=lambda each: each.honest.payment_micros)
    paid = sum(each.honest.payment_micros for each in found)
    return Truthfulness(
        by_market=tuple(by_market),
        owners=len(found),
        misreports=lies,
        cross_checks=checks,
        gainers=sum(each.gains for each in found),
        regret_share=sum(max(each.gain_micros, 0.0) for each in found if each.gains) / max(paid, 1),
        worst=worst,
        worst_share=max(worst.gain_micros, 0.0) / _mean_payment(mechanism, worst, terms),
        example=_smallest(mechanism, terms, found, worst),
        profile=Case(mechanism, shown.market, shown.owner, terms).profile(shown.lie),
    )


def chosen_owners(market: Market, count: int, rng: np.random.Generator) -> Integers:
    """Everyone in a small market; else the cheapest and the dearest, and the rest drawn at random."""
    n = len(market)
    if n <= count:
        return np.arange(n)
    ends = [int(market.bids.argmin()), int(market.bids.argmax())]
    return np.unique(np.r_[ends[: count // 2], rng.choice(n, count - len(ends[: count // 2]), replace=False)])


class Case:
    """One owner of one market, and every lie she was asked to try."""

    def __init__(self, mechanism: Mechanism, market: Market, owner: int, terms: Terms) -> None:
        self.market, self.owner = market, owner
        self.terms = market.terms(terms)
        self.price = float(market.bids[owner])
        self.tried: dict[float, Deal] = {}
        self.cross_checks = 0
        self._mechanism = mechanism
        self._temptations: dict[float, Temptation] = {}
        self.honest = self.deal(self.price)

    def deal(self, lie: float) -> Deal:
        """What she is offered when she bids ``lie`` and nobody else changes a thing."""
        if lie not in self.tried:
            bids = self.market.bids.copy()
            bids[self.owner] = lie
            deal = self._mechanism.deal(bids, self.owner, self.terms, self.market.draws)
            if len(self.tried) % CROSS_CHECKED == 0 and self._mechanism.asks_after_one(bids, self.terms):
                self.cross_checks += 1
                full = self._mechanism.deal_in_full(bids, self.owner, self.terms, self.market.draws)
                assert full == deal, f"asked after one owner the ladder says {deal}, cleared in full {full}"
            self.tried[lie] = deal
        return self.tried[lie]

    def gain(self, lie: float) -> float:
        """What the lie brings over the truth, in micro-units."""
        return self.temptation(lie).gain_micros

    def temptation(self, lie: float) -> Temptation:
        """The lie held against the truth."""
        if lie not in self._temptations:
            self._temptations[lie] = tempted(self.honest, self.deal(lie), self.price, self.terms.setting)
        return self._temptations[lie]

    def best(self) -> Misreport:
        """The best lie: every breakpoint, the edges between bought and not, then golden section around the two best."""
        lies = self.breakpoints().tolist()
        for left, right in pairwise(lies):
            if self.deal(left).q > 0 and self.deal(right).q == 0:
                self._last_bought(left, right)
        lies = sorted(self.tried)
        for i in sorted(range(len(lies)), key=lambda i: self.gain(lies[i]))[-2:]:
            self._refine(lies[max(i - 1, 0)], lies[min(i + 1, len(lies) - 1)])
        return self.misreport(max((lie for lie in self.tried if lie != self.price), key=self.gain))

    def misreport(self, lie: float) -> Misreport:
        """The lie as a finding."""
        found = self.temptation(lie)
        return Misreport(
            market=self.market,
            owner=self.owner,
            lie=lie,
            honest=self.honest,
            lying=self.deal(lie),
            gain_micros=found.gain_micros,
            gains=found.gains,
        )

    def profile(self, lie: float) -> Profile:
        """Her deals over the whole bid range, for a picture."""
        low, high = self.terms.bid_range
        around = np.concatenate([self._kinks(), [lie, self.price]])
        bids = np.concatenate(
            [np.linspace(low, high, 96), around, np.nextafter(around, low), np.nextafter(around, high)]
        )
        bids = np.unique(np.clip(bids, low, high))
        deals = [self.deal(float(bid)) for bid in bids]
        return Profile(
            who=f"owner {self.owner + 1} of {self.market.name}, true price {self.price:.4g}",
            price=self.price,
            bids=bids,
            q=np.array([deal.q for deal in deals]),
            payment_micros=np.array([deal.payment_micros for deal in deals]),
            utility_micros=np.array([deal.utility_micros(self.price, self.terms.setting) for deal in deals]),
        )

    def breakpoints(self) -> Floats:
        """Where her utility can break, one unit to either side, and a grid; ascending, within the range."""
        low, high = self.terms.bid_range
        others = self._others()
        sharp = np.concatenate([others, self._kinks(), [self.price]])
        steps = self.price + (high - low) * np.array([-1e-3, -1e-6, 1e-6, 1e-3])
        lies = np.concatenate(
            [np.nextafter(sharp, low), np.nextafter(sharp, high), steps, np.linspace(low, high, GRID)]
        )
        if others.size <= MOST_TIES:
            lies = np.concatenate([sharp, lies])
        return np.unique(lies[(lies >= low) & (lies <= high)])

    def _kinks(self) -> Floats:
        if not isinstance(self.terms.bound_rule, Asks):
            return kinks(self.market.bids, self.owner, self.terms, self.market.draws)
        return posted_price(self.deal(self.terms.bid_range[0]), self.terms)

    def _others(self) -> Floats:
        """The others' bids; of very many, those nearest to her own, to where buying stops, and a spread of the rest."""
        others = np.unique(np.delete(self.market.bids, self.owner))
        most = MOST_OTHERS_BY_LOT if isinstance(self.terms.bound_rule, Asks) else MOST_OTHERS
        if others.size <= most:
            return others
        offers = self._mechanism.clear(self.market.bids, self.terms, self.market.draws)
        bought = offers.bids[offers.q > 0]
        stop = float(bought.max()) if bought.size else self.terms.bid_range[0]
        near = [others[np.argsort(np.abs(others - place))[:8]] for place in (self.price, stop)]
        return np.unique(np.concatenate([*near, others[:: max(1, others.size // 16)]]))

    def _last_bought(self, bought: float, refused: float) -> None:
        """Close in on the highest bid that is still bought: where a stop gives money away, it gives most there."""
        for _ in range(EDGE_STEPS):
            middle = 0.5 * (bought + refused)
            if self.deal(middle).q > 0:
                bought = middle
            else:
                refused = middle

    def _refine(self, left: float, right: float) -> None:
        """Golden section: every point it visits is one more lie tried."""
        ratio = (math.sqrt(5.0) - 1.0) / 2.0
        for _ in range(REFINEMENTS):
            a, b = right - ratio * (right - left), left + ratio * (right - left)
            if self.gain(a) >= self.gain(b):
                right = b
            else:
                left = a


def _mean_payment(mechanism: Mechanism, worst: Misreport, terms: Terms) -> float:
    """Mean payment of those bought, in micro-units; the liar's own where honesty leaves nobody bought."""
    offers = mechanism.clear(worst.market.bids, worst.market.terms(terms), worst.market.draws)
    if offers.bought:
        return offers.spent_micros / offers.bought
    return float(max(worst.lying.payment_micros, 1))


def _smallest(mechanism: Mechanism, terms: Terms, found: list[Misreport], worst: Misreport) -> Misreport:
    """The finding to show: the largest gain in the first small market that has one, with a bid that is easy to type."""
    gaining = [each for each in found if each.gains]
    if not gaining:
        return worst
    shown = min(gaining, key=lambda each: max(len(each.market), SMALL)).market
    chosen = max((each for each in gaining if each.market is shown), key=lambda each: each.gain_micros)
    case = Case(mechanism, chosen.market, chosen.owner, terms)
    for digits in (2, 3, 4):
        step = (terms.bid_range[1] - terms.bid_range[0]) * 10.0**-digits
        for lie in (math.floor(chosen.lie / step) * step, math.ceil(chosen.lie / step) * step):
            simple = case.misreport(min(max(round(lie, 12), terms.bid_range[0]), terms.bid_range[1]))
            if simple.gains and simple.gain_micros >= 0.8 * chosen.gain_micros and simple.lie != case.price:
                return simple
    return chosen
