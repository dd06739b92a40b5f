"""The markets that a mechanism is audited on: sampled, and made to hurt."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import final

import numpy as np

from pdqs.model.arrays import Floats
from pdqs.pricing.rules import ReadsBids
from pdqs.rounds.terms import Terms


@final
@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Market:
    """True prices, which honest owners bid, a budget, and the seed of the public draws where a rule asks by lot."""

    name: str
    bids: Floats
    budget: float
    draws: int = 0

    def __len__(self) -> int:
        return int(self.bids.size)

    def terms(self, terms: Terms) -> Terms:
        """The terms under audit, at this market's budget."""
        return dataclasses.replace(terms, budget=self.budget)


def drawn_again(markets: list[Market], draws: Iterable[int]) -> list[Market]:
    """The same markets under other draws: a promise under a lottery must hold for each."""
    return [
        dataclasses.replace(market, name=f"{market.name}, draws {seed}", draws=seed)
        for seed in draws
        for market in markets
    ]


Shape = Callable[[int, np.random.Generator], Floats]
"""How many owners, and where in the bid range (0 to 1) each of them stands."""


def _uniform(n: int, rng: np.random.Generator) -> Floats:
    return rng.random(n)


def _clustered(n: int, rng: np.random.Generator) -> Floats:
    """A few crowds, each a thousandth wide."""
    return np.clip(rng.choice(rng.random(3), n) + 1e-3 * rng.standard_normal(n), 0.0, 1.0)


def _tied(n: int, rng: np.random.Generator) -> Floats:
    """Everyone on one of five prices."""
    return rng.choice([0.1, 0.25, 0.4, 0.6, 0.9], n)


def _two_point(n: int, rng: np.random.Generator) -> Floats:
    """The cheapest and the dearest that the range allows."""
    return rng.choice([0.0, 1.0], n)


def _heavy_tailed(n: int, rng: np.random.Generator) -> Floats:
    """Nearly everyone cheap, a few at the very top."""
    return np.minimum(0.02 * (1.0 + rng.pareto(0.8, n)), 1.0)


SHAPES: dict[str, Shape] = {
    "uniform": _uniform,
    "clustered": _clustered,
    "tied": _tied,
    "two-point": _two_point,
    "heavy-tailed": _heavy_tailed,
}

PURSES = {"starving": 0.002, "poor": 0.02, "tight": 0.1, "fair": 0.3, "rich": 0.9}
"""Budgets for each owner, in units of the dearest bid; ``slack`` buys everyone everything."""


def sampled(terms: Terms, sizes: tuple[int, ...], count: int, rng: np.random.Generator) -> list[Market]:
    """``count`` markets that go round the shapes, the budgets and the sizes so that each meets each in time."""
    shapes, purses = list(SHAPES), [*PURSES, "slack"]
    return [
        sample(terms, shapes[i % 5], sizes[(i + i // len(sizes)) % len(sizes)], purses[(i + i // 5) % 6], rng)
        for i in range(count)
    ]


def sample(terms: Terms, shape: str, n: int, purse: str, rng: np.random.Generator) -> Market:
    """One market of a shape, a size and a budget by name."""
    each = 1.3 * float(terms.setting.load(np.asarray(terms.q_max))) if purse == "slack" else PURSES[purse]
    return Market(
        name=f"{shape}, {n:,} owners, {purse} budget",
        bids=in_range(SHAPES[shape](n, rng), terms),
        budget=_budget(each * n * terms.bid_range[1]),
    )


def adversarial(terms: Terms, rng: np.random.Generator) -> list[Market]:
    """Small markets where a flaw shows itself: the paper's own stop, ties to the last bit, crowds at a threshold."""
    top = terms.bid_range[1]
    ulps = np.full(6, 0.3)
    ulps[1:4] = np.nextafter(0.3, [0.0, 1.0, 0.0])
    return [
        five_owners(terms),
        Market(name="two owners, far apart", bids=in_range(np.array([0.0, 1.0]), terms), budget=_budget(0.5 * top)),
        Market(name="ties to the last bit", bids=in_range(ulps, terms), budget=_budget(1.2 * top)),
        Market(name="a crowd at the top", bids=in_range(np.r_[0.05, np.ones(5)], terms), budget=_budget(2.0 * top)),
        *([] if isinstance(terms.bound_rule, ReadsBids) else [at_the_margin(terms, 12, rng)]),
    ]


def five_owners(terms: Terms) -> Market:
    """The example of section 5 of docs/theory: bids .1 to .5 and a budget of 2.3, where the paper's stop is seen."""
    return Market(
        name="five owners",
        bids=in_range(np.array([0.1, 0.2, 0.3, 0.4, 0.5]), terms),
        budget=_budget(2.3 * terms.bid_range[1]),
    )


def evenly_spread(terms: Terms, n: int, budget: float) -> Market:
    """Owners at (i + 1/2)/n of the range: with n = 200 and a budget of 20, the other example of section 5."""
    return Market(
        name=f"{n:,} owners evenly spread", bids=in_range((np.arange(n) + 0.5) / n, terms), budget=_budget(budget)
    )


def at_the_margin(terms: Terms, n: int, rng: np.random.Generator) -> Market:
    """Half the owners crowd around the price where a like market stops buying: there a bid decides most."""
    from pdqs.clearing import clear

    market = sample(terms, "uniform", n, "fair", rng)
    offers = clear(market.bids, market.terms(terms))
    bought = offers.bids[offers.q > 0]
    stop = float(bought.max()) if bought.size else float(market.bids.min())
    crowd = stop + 1e-4 * (terms.bid_range[1] - terms.bid_range[0]) * np.linspace(-1.0, 1.0, n // 2)
    bids = np.clip(np.r_[market.bids[: n - n // 2], crowd, stop], *terms.bid_range)
    return Market(name="a crowd where buying stops", bids=bids, budget=market.budget)


def in_range(places: Floats, terms: Terms) -> Floats:
    """Places in 0..1 as bids; the ends of the range are hit exactly."""
    low, high = terms.bid_range
    return np.clip(low + (high - low) * places, low, high)


def _budget(amount: float) -> float:
    """A budget in whole micro-units, so that it can be printed and typed again."""
    return round(amount, 6)
