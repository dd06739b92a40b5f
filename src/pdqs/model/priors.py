"""What is believed of bids before they come: a prior gives the virtual price that optimal and robust rules need.

phi(b) = b + F(b)/f(b) is the price of one more unit of load at bid b once the owners below, who must all be paid more
for it, are counted (section 4 of docs/theory). It must not fall with b: where a distribution makes it fall, it is
*ironed*, that is, replaced by the slope of the greatest convex minorant of u -> u F^-1(u).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from html import escape
from typing import Protocol, final, runtime_checkable

import numpy as np

from pdqs.model import columns
from pdqs.model.arrays import Column, Floats
from pdqs.model.checks import number
from pdqs.model.errors import InputError, TermsError


@runtime_checkable
class Prior(Protocol):
    """A distribution of bids on a range of its own, which need not be that of the terms."""

    def virtual_price(self, bids: Floats) -> Floats:
        """phi(b), non-decreasing and never below b, for any bid b >= 0, within the prior's range or beyond it.

        Below the range F = 0, so that phi(b) = b; above it F = 1 and f = 0 make phi infinite, and any rising
        continuation will do: nobody is expected there.
        """
        ...

    def quantile(self, shares: Floats) -> Floats:
        """The bid below which a share of owners lies."""
        ...


@runtime_checkable
class FromPastBids(Protocol):
    """A prior read off past bids: it speaks of the range they came from and of no other."""

    @property
    def bid_range(self) -> tuple[float, float]: ...


def _as_html(prior: Prior) -> str:
    """A prior for a notebook: what it is, and the bids it expects, quarter by quarter."""
    quarters = ", ".join(f"{bid:.3g}" for bid in prior.quantile(np.linspace(0.0, 1.0, 5)))
    return f"<div><strong>{escape(repr(prior))}</strong><p>quarters of the bids expected: {quarters}</p></div>"


@final
@dataclass(frozen=True, slots=True)
class Uniform:
    """Every bid in [low, high] equally likely: phi(b) = 2b - low from low on, and b below it.

    >>> Uniform(1.0, 3.0).virtual_price(np.array([0.25, 1.0, 2.0])).tolist()
    [0.25, 1.0, 3.0]
    """

    low: float = 0.0
    high: float = 1.0

    def __post_init__(self) -> None:
        _refuse_bad_range(self.low, self.high)

    def virtual_price(self, bids: Floats) -> Floats:
        price: Floats = bids + np.maximum(bids - self.low, 0.0)
        return price

    def quantile(self, shares: Floats) -> Floats:
        return self.low + (self.high - self.low) * shares

    def _repr_html_(self) -> str:
        return _as_html(self)


@final
@dataclass(frozen=True, slots=True)
class TruncatedNormal:
    """A normal with this mean and sd, kept to [low, high]. Its F/f rises throughout, so no ironing is needed.

    >>> TruncatedNormal(0.5, 0.25).virtual_price(np.array([0.0, 0.5])).round(4).tolist()
    [0.0, 0.7991]
    """

    mean: float
    sd: float
    low: float = 0.0
    high: float = 1.0

    def __post_init__(self) -> None:
        _refuse_bad_range(self.low, self.high)
        number(self.mean, "a normal prior's mean")
        if not number(self.sd, "a normal prior's sd") > 0:
            raise TermsError(f"a normal prior needs a finite mean and an sd above 0, got {self.mean} and {self.sd}")

    def virtual_price(self, bids: Floats) -> Floats:
        start = (self.low - self.mean) / self.sd
        above = np.maximum((bids - self.low) / self.sd, 0.0)
        near = above * (1.0 + abs(start)) < 1.0
        ratio = np.empty_like(above)
        ratio[near] = _mills_near(above[near], start)
        ratio[~near] = _mills_far(above[~near], start)
        price: Floats = bids + self.sd * ratio
        return price

    def _repr_html_(self) -> str:
        return _as_html(self)

    def quantile(self, shares: Floats) -> Floats:
        from scipy.special import ndtr, ndtri

        start, stop = ndtr((self.low - self.mean) / self.sd), ndtr((self.high - self.mean) / self.sd)
        bids = self.mean + self.sd * ndtri(start + (stop - start) * np.asarray(shares))
        clipped: Floats = np.clip(bids, self.low, self.high)
        return clipped


def _mills_near(above: Floats, start: float) -> Floats:
    """(Phi(z) - Phi(start)) / pdf(z) with z = start + above, as integral_0^above e^(z u - u^2/2) du, by Gauss.

    The difference of two tails would lose its digits next to the start. Exact while e^(z u) changes by little more than
    a factor e over the integral, that is, for above (1 + |start|) < 1.
    """
    nodes, weights = np.polynomial.legendre.leggauss(24)
    u = above[:, None] * (0.5 + 0.5 * nodes)
    near: Floats = 0.5 * above * (np.exp(u * (start + above[:, None] - 0.5 * u)) @ weights)
    return near


_FARTHEST = 34.0  # e^(34^2 / 2) is beyond any price that is ever paid: from there on the ratio stays as it is


def _mills_far(above: Floats, start: float) -> Floats:
    """The same from the tails M(z) = Phi(z) / pdf(z), which have all their digits wherever they do not overflow.

    (Phi(z) - Phi(start)) / pdf(z) = M(z) - M(start) e^((z^2 - start^2)/2), and by symmetry the same with upper tails
    where start > 0, so that small tails are subtracted, never large ones.
    """
    from scipy.special import erfcx  # a slow import, needed by this prior only

    def tail(z: Floats) -> Floats:
        found: Floats = math.sqrt(math.pi / 2.0) * erfcx(-z / math.sqrt(2.0))
        return found

    if start <= 0:
        above = np.minimum(above, _FARTHEST - start)
    z, begun = start + above, np.asarray(start)
    growth = np.exp(np.minimum(0.5 * above * (z + start), 0.5 * _FARTHEST**2))
    return tail(-begun) * growth - tail(-z) if start > 0 else tail(z) - tail(begun) * growth


@final
@dataclass(frozen=True, slots=True, repr=False)
class Fitted:
    """A prior read off past bids, ironed. Make one with :func:`fit`; the bids to be priced must not be among them.

    ``prices`` are virtual prices at ``knots``, non-decreasing, joined by straight lines.
    """

    knots: tuple[float, ...]
    prices: tuple[float, ...]
    quantiles: tuple[float, ...]

    def __post_init__(self) -> None:
        knots, prices = np.asarray(self.knots, dtype=float), np.asarray(self.prices, dtype=float)
        if knots.ndim != 1 or knots.shape != prices.shape or not knots.size:
            raise TermsError(f"a fitted prior needs as many prices as knots, got {prices.size} and {knots.size}")
        if not (np.isfinite([knots, prices]).all() and (np.diff(knots) >= 0).all() and (np.diff(prices) >= 0).all()):
            raise TermsError("a fitted prior's knots and prices must be finite and never fall")

    def __repr__(self) -> str:
        low, high = self.bid_range
        return f"Fitted to bids from {low:g} to {high:g}, {len(self.knots)} knots"

    @property
    def bid_range(self) -> tuple[float, float]:
        """The range of the past bids."""
        return float(self.knots[0]), float(self.knots[-1])

    def virtual_price(self, bids: Floats) -> Floats:
        price: Floats = np.maximum(np.interp(bids, self.knots, self.prices), bids)
        return price

    def quantile(self, shares: Floats) -> Floats:
        bids: Floats = np.interp(shares, np.linspace(0.0, 1.0, len(self.quantiles)), self.quantiles)
        return bids

    def _repr_html_(self) -> str:
        return _as_html(self)


def fit(past_bids: Column, bid_range: tuple[float, float] = (0.0, 1.0)) -> Fitted:
    """A prior from bids of earlier rounds.

    With u = F(b), buying from the cheapest share u costs C(u) = u F^-1(u) a head, and phi = dC/du. The empirical C is
    taken at about n^(1/3) quantiles (fewer would blur, more would follow the noise), made convex from below (ironing),
    and its slopes placed at the middle of each piece. Bids in few round prices are priced at those prices instead.

    >>> rng = np.random.default_rng(1)
    >>> prior = fit(rng.random(5000))
    >>> bool(abs(prior.virtual_price(np.array([0.4]))[0] - 0.8) < 0.1)
    True
    """
    low, high = bid_range
    _refuse_bad_range(low, high)
    bids = np.sort(columns.bids_in_range(past_bids, low, high, column="past bid"))
    if bids.size < 10:
        raise InputError(f"a prior needs at least 10 past bids, got {bids.size}")
    pieces = max(4, min(64, round(2 * bids.size ** (1 / 3))))
    if np.unique(bids).size <= 2 * pieces:
        return _fit_round(bids, low, high)
    shares = np.linspace(0.0, 1.0, pieces + 1)
    quantiles = np.quantile(bids, shares)
    costs = shares * quantiles
    corners = _convex_minorant(shares, costs)
    slopes = np.diff(costs[corners]) / np.diff(shares[corners])
    middles = 0.5 * (quantiles[corners][1:] + quantiles[corners][:-1])
    # A tie in past bids makes pieces of no width: their middles coincide, and the dearest price stands for them.
    knots, first = np.unique(middles, return_index=True)
    last = np.append(first[1:], middles.size) - 1
    prices = np.maximum(slopes[last], knots)
    knots, prices = np.append(knots, high), np.append(prices, max(prices[-1], _edge_price(knots, prices, high)))
    if knots[0] > low:
        knots, prices = np.insert(knots, 0, low), np.insert(prices, 0, min(low, prices[0]))
    return Fitted(tuple(map(float, knots)), tuple(map(float, prices)), tuple(map(float, quantiles)))


_RISE = 0.05  # of the gap between two round prices: over it the virtual price climbs from one to the next


def _fit_round(bids: Floats, low: float, high: float) -> Fitted:
    """A prior from round prices b_1 < b_2 < ..., each bid by many: nobody is expected between two of them.

    The next dearer price costs C(u_j) - C(u_(j-1)) for a share u_j - u_(j-1) more: that slope is phi at b_j, and
    phi is flat back to b_(j-1), since a rule that falls where nobody bids only pays those below it more.
    """
    distinct, count = np.unique(bids, return_counts=True)
    shares = np.append(0.0, np.cumsum(count) / bids.size)
    ends = np.append(low, distinct)
    costs = shares * ends
    corners = _convex_minorant(shares, costs)
    slopes = np.diff(costs[corners]) / np.diff(shares[corners])
    starts, stops = ends[corners][:-1], ends[corners][1:]
    alone = np.diff(corners) == 1
    # Where several prices were ironed into one, a rising line keeps them apart: a flat would buy all of them or none.
    first = np.where(alone, starts + _RISE * (stops - starts), 0.5 * (starts + stops))
    knots = np.column_stack([first, np.where(alone, stops, first)]).ravel()
    prices = np.maximum.accumulate(np.repeat(np.maximum(slopes, np.where(alone, stops, first)), 2))
    if knots[-1] < high:
        knots, prices = np.append(knots, high), np.append(prices, prices[-1] + 2.0 * (high - knots[-1]))
    if knots[0] > low:
        knots, prices = np.insert(knots, 0, low), np.insert(prices, 0, min(low, prices[0]))
    quantiles = np.quantile(bids, np.linspace(0.0, 1.0, 2 * distinct.size + 1))
    return Fitted(tuple(map(float, knots)), tuple(map(float, prices)), tuple(map(float, quantiles)))


def _edge_price(knots: Floats, prices: Floats, high: float) -> float:
    """The last straight line carried on to the top of the range."""
    if knots.size < 2:
        return 2.0 * high
    rate = (prices[-1] - prices[-2]) / (knots[-1] - knots[-2])
    return float(prices[-1] + rate * (high - knots[-1]))


def _convex_minorant(x: Floats, y: Floats) -> list[int]:
    """Corners of the greatest convex function below the points (x ascending)."""
    corners: list[int] = []
    for i in range(x.size):
        while len(corners) >= 2:
            a, b = corners[-2], corners[-1]
            if (y[b] - y[a]) * (x[i] - x[a]) < (y[i] - y[a]) * (x[b] - x[a]):
                break
            corners.pop()
        corners.append(i)
    return corners


def _refuse_bad_range(low: float, high: float) -> None:
    for end, name in ((low, "low"), (high, "high")):
        number(end, f"a prior's {name}")
    if not (math.isfinite(low) and math.isfinite(high) and 0 <= low < high):
        raise TermsError(f"a bid range needs 0 <= low < high, both finite, got {low} to {high}")
