"""A lottery on whole numbers: draws are words, prices are micro-units, scales are rungs.

With 2^bits words, R(b; g) = floor(2^bits rho(b; s_g)) is the number of words at which an owner is asked at rung g: she
is asked iff her word k < R. The dearest price at which word k is asked, T(k; g) = max {b : R(b; g) > k}, is what an
owner with that word is offered. R never rises with the bid and never falls with the rung, exactly: it is made of
products, a quotient and a square root, each rounded to nearest, and such rounding keeps order.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import final

import numpy as np

from pdqs.model.arrays import Booleans, Floats, Integers, Words
from pdqs.model.errors import RuleError, TermsError
from pdqs.model.money import MICROS_PER_UNIT, payment_micros, whole_micros
from pdqs.pricing.rules.lottery import Asks, LotteryForm

BITS = 32
_OCTAVES_BELOW = 64  # at the lowest scale a bid of a millionth of the top has a chance of 2^-22
_OCTAVES_BELOW_FULL = 32

# Payments beyond q* come from a table right to 1e-12; charging this much more than is paid keeps the proof's
# inequalities true on the integers.
CHARGE = 1.0 + 1e-9

_NOTHING = 1e-300  # keeps 0/0 from a bid of 0 at a scale of 0


@final
@dataclass(frozen=True, slots=True)
class ScaleLadder:
    """The public scales s_g = base 2^(g / per_octave); at rungs below ``lowest`` nothing is bought."""

    base: float
    per_octave: int
    lowest: int
    highest: int

    def scale(self, rungs: Integers) -> Floats:
        """s_g, the same bits however many are asked for at once; 0 below the ladder."""
        return _scales(self)[rungs - (self.lowest - 1)]


@lru_cache(maxsize=8)
def _scales(ladder: ScaleLadder) -> Floats:
    """All scales of a ladder, 0 first."""
    octave = np.array([2.0 ** (step / ladder.per_octave) for step in range(ladder.per_octave)])
    octaves, steps = np.divmod(np.arange(ladder.lowest, ladder.highest + 1), ladder.per_octave)
    return np.append(0.0, np.ldexp(octave[steps] * ladder.base, octaves))


@final
@dataclass(frozen=True, kw_only=True)
class LotteryMarket:
    """The public facts of one lottery: rule, budget, and how many bits a draw has."""

    rule: Asks
    budget_micros: int
    bits: int = BITS

    def __post_init__(self) -> None:
        if not isinstance(self.rule, Asks):
            raise RuleError(f"a lottery needs a rule with a chance of being asked, got {self.rule!r}")
        if self.bits > 48 or self.bits < 1:
            raise TermsError(f"a draw needs 1 to 48 bits, got {self.bits}")

    @cached_property
    def form(self) -> LotteryForm:
        """What the rule is made of."""
        return self.rule.form()

    @property
    def words(self) -> int:
        """How many draws there are: 2^bits."""
        return 1 << self.bits

    @cached_property
    def ladder(self) -> ScaleLadder:
        """Steps of 1e-4, or 5e-3 where chances are counted rung by rung; up to where nothing more can be bought."""
        form = self.form
        per_octave = 6931 if form.full is None else 138
        enough = float(form.line.prices[-1]) / (form.best.m1 if form.full is None else form.full.full_at)
        base = form.setting.high
        above = max(1, math.ceil(math.log2(enough / base)) + 1)
        below = _OCTAVES_BELOW if form.full is None else _OCTAVES_BELOW_FULL
        return ScaleLadder(base, per_octave, -below * per_octave, above * per_octave)

    @cached_property
    def unit(self) -> float:
        """The bid whose price at q* is one micro-unit."""
        return 1.0 / (self.form.best.load * MICROS_PER_UNIT)

    def reserve(self, bids: Floats) -> Integers:
        """c(b) = b l* in whole micro-units, rounded up: the least that an owner who reports at q* takes."""
        return payment_micros(bids * self.form.best.load)

    @cached_property
    def dearest(self) -> int:
        """The highest price there is: that of the top bid, or the whole budget if that is less."""
        return min(int(self.reserve(np.array([self.form.setting.high]))[0]), self.budget_micros)

    @cached_property
    def pays_any_bid(self) -> bool:
        """Whether the budget could pay the top bid: then no owner is beyond it."""
        return int(self.reserve(np.array([self.form.setting.high]))[0]) <= self.budget_micros

    def phi_of_bids(self, bids: Floats) -> Floats:
        """phi of each bid at its whole price; infinite for those that the budget could never pay."""
        reserves = whole_micros(bids * self.form.best.load)
        beyond = None if self.pays_any_bid else reserves > self.budget_micros
        found = self.phi_of_reserves(reserves)
        if beyond is not None:
            found[beyond] = np.inf
        return found

    def phi_of_reserves(self, reserves: Integers | Floats) -> Floats:
        """phi at the bid that a whole price stands for."""
        bids = np.asarray(reserves * self.unit)
        np.clip(bids, self.form.setting.low, self.form.setting.high, out=bids)
        return self.form.line.at(bids)

    def count(self, phi: Floats, rungs: Integers | int) -> Integers:
        """R = floor(2^bits sqrt(min(1, m1 s / phi))): at how many words an owner is asked at this rung."""
        full = self._full(np.asarray(rungs))
        chances = np.asarray(np.maximum(np.maximum(full, _NOTHING), phi))
        np.divide(full, chances, out=chances)
        np.sqrt(chances, out=chances)
        chances *= float(self.words)
        return chances.astype(np.int64)

    def _full(self, rungs: Integers) -> Floats:
        """m1 s: up to this phi everyone is asked."""
        scales, first = self._scales
        return self.form.best.m1 * scales[rungs - first]

    @cached_property
    def _scales(self) -> tuple[Floats, int]:
        """Those of the ladder and the rung of the first of them, looked up once for a clearing."""
        return _scales(self.ladder), self.ladder.lowest - 1

    def threshold(self, draws: Words | Integers, rungs: Integers | int) -> Floats:
        """The largest bid that word k is offered at a rung, to a few ulps; minus infinity if no bid is asked."""
        share = (draws + 1.0) / self.words
        return self.form.threshold(share, self.ladder.scale(np.asarray(rungs)))

    def posted(self, draws: Words | Integers, rungs: Integers | int, of: Integers | None = None) -> Integers:
        """T(k; g) at q*: exactly the largest whole price c <= ``dearest`` with R(c; g) > k; 0 if there is none.

        There is a rung for all draws, one for each, a column of rungs for a table, or ``of`` says which of the rungs is
        a draw's. Made from the formula, and looked at again where its rounding could change the last digit.
        """
        rungs = np.asarray(rungs)
        shape = draws.shape if of is not None else np.broadcast_shapes(draws.shape, rungs.shape)
        if self.dearest < self.cheapest:
            return np.zeros(shape, dtype=np.int64)
        full = self._full(rungs) * float(self.words) ** 2
        least, most = (self.count(phi, rungs) for phi in self._phi_of_ends)
        if of is not None:
            full, least, most, rungs = full[of], least[of], most[of], rungs[of]
        guess = self._unrounded(draws, full)
        whole = np.floor(guess)
        guess -= whole
        guess -= 0.5
        doubtful = np.abs(guess, out=guess) >= 0.5 - self._slack
        np.maximum(whole, self.cheapest, out=whole)
        prices = np.minimum(whole, max(self.dearest - 1, self.cheapest), out=whole).astype(np.int64)
        at_top, nobody = draws < least, draws >= most
        np.putmask(prices, at_top, self.dearest)
        np.putmask(prices, nobody, 0)
        check = np.nonzero(doubtful & ~(at_top | nobody))
        if check[0].size:
            words, rungs = (np.broadcast_to(each, shape)[check].astype(np.int64) for each in (draws, rungs))
            prices[check] = self._corrected(prices[check], words, rungs)
        return prices

    def _unrounded(self, draws: Words | Integers, full: Floats) -> Floats:
        """The price, in micro-units, at which phi = m1 s / u^2 at u = (k + 1)/2^bits; ``full`` is m1 s 2^(2 bits)."""
        line = self.form.line
        wanted = np.asarray(draws + 1.0, dtype=np.float64)
        np.square(wanted, out=wanted)
        wanted = np.asarray(np.divide(full, wanted))
        piece = 0 if line.knots.size == 2 else np.searchsorted(line.prices[1:-1], wanted, side="right")
        gain, shift = self._turned
        wanted *= gain[piece]
        wanted += shift[piece]
        return wanted

    @cached_property
    def _phi_of_ends(self) -> tuple[Floats, Floats]:
        """phi at the dearest price and at the cheapest."""
        return self.phi_of_reserves(np.array([self.dearest])), self.phi_of_reserves(np.array([self.cheapest]))

    @cached_property
    def _turned(self) -> tuple[Floats, Floats]:
        """The price line turned over, piece by piece: b in micro-units = gain phi + shift."""
        line = self.form.line
        return 1.0 / (line.slopes * self.unit), (line.knots[:-1] - line.prices[:-1] / line.slopes) / self.unit

    @cached_property
    def _slack(self) -> float:
        """How far, in micro-units, the formula of :meth:`posted` and the count R can be apart: some ulps of phi and b.

        phi is made of b by a product and a sum, R of phi by a quotient, a product and a root, the formula by as many
        steps backwards: fewer than 64 ulps in all.
        """
        line = self.form.line
        ulps = 64.0 * np.finfo(np.float64).eps
        return float(ulps * ((line.prices[1:] / line.slopes).max() + line.knots[-1]) / self.unit)

    @cached_property
    def cheapest(self) -> int:
        """The lowest price there is: that of the lowest bid."""
        return int(self.reserve(np.array([self.form.setting.low]))[0])

    def _asks(self, prices: Integers, draws: Integers, rungs: Integers) -> Booleans:
        return self.count(self.phi_of_reserves(prices), rungs) > draws

    def _corrected(self, prices: Integers, draws: Integers, rungs: Integers) -> Integers:
        """Prices where the formula was right; those that it put one off are searched for. The cheapest is asked."""
        low = ~self._asks(prices, draws, rungs)
        high = (prices < self.dearest) & self._asks(np.minimum(prices + 1, self.dearest), draws, rungs)
        wrong = np.flatnonzero(low | high)
        if wrong.size:
            prices[wrong] = self._searched(draws[wrong], rungs[wrong])
        return prices

    def _searched(self, draws: Integers, rungs: Integers) -> Integers:
        """The largest asked price by bisection, where the cheapest is asked."""
        below = np.full(draws.shape, self.cheapest, dtype=np.int64)
        above = np.full(draws.shape, self.dearest + 1, dtype=np.int64)
        while (above - below > 1).any():
            middle = np.maximum((below + above) // 2, below)
            asked = self._asks(middle, draws, rungs)
            below, above = np.where(asked, middle, below), np.where(asked, above, middle)
        return below
