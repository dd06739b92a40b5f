"""Private (LDP): the exact eps of a report, a bound from real draws, and the eps of all that the broker sees.

**Exactly.** The mechanism's own randomiser is fed chosen words. Its coin tells the truth for the words below some T,
found by halving; its die gives each of the k values to as many words as any other. So
P(report = r | value = v) = (T [r = v] + (2^32 - T) / k) / 2^32 is known as a fraction, and with the payment that the
mechanism's own settlement makes of each outcome, so is the law of (report, payment). eps is the largest log-ratio
between two values, infinite where one value can give what another cannot.

**From draws.** Reports are drawn with the operating system's entropy, many for each of two values, and the ratio of
their chances is bounded from below by Clopper-Pearson, jointly over all settings (Bonferroni).
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import final

import numpy as np

from pdqs.auditing.bounds import lower_bound, upper_bound
from pdqs.auditing.mechanism import Mechanism, only
from pdqs.auditing.scripted_draws import LAST_WORD, others, scripted, truths, unbounded, with_questions
from pdqs.model.arrays import Integers
from pdqs.model.names import QuestionKind
from pdqs.privacy.entropy import SystemEntropy
from pdqs.privacy.loss import Q_UNITS
from pdqs.rounds.offers import Offers
from pdqs.rounds.terms import Terms

FALSE_ALARM = 1e-6
"""The chance that a sound randomiser is called broken by its draws, over all settings of one audit together."""

MOST_VALUES = 6
"""Values whose laws are compared: all of a small domain, else the first few and the last."""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Exposure:
    """One offer: the eps it states, the exact eps of its report and of report and payment, and the bound from draws."""

    q: float
    stated: float
    report: float
    joint: float
    report_at_most_stated: bool
    joint_at_most_stated: bool
    drawn: float
    uniform_die: bool


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Privacy:
    """Every setting looked at. ``false_alarm`` is the chance that sound draws alone would have raised an alarm."""

    exposures: tuple[Exposure, ...]
    domain_size: int
    epsilon_max: float
    draws: int
    false_alarm: float

    @property
    def report_kept(self) -> bool:
        """A report alone loses no more than stated."""
        return all(
            each.report_at_most_stated and each.uniform_die and each.drawn <= each.stated for each in self.exposures
        )

    @property
    def kept(self) -> bool:
        """All that the broker sees of an owner loses no more than stated, and what is stated is within the cap."""
        return self.report_kept and all(
            each.joint_at_most_stated and each.stated <= self.epsilon_max * (1 + 1e-9) for each in self.exposures
        )

    @property
    def worst(self) -> Exposure | None:
        """The largest leak over what was stated."""
        return max(self.exposures, key=lambda each: each.joint - each.stated, default=None)


def examine(mechanism: Mechanism, terms: Terms, offers: Offers, settings: int, draws: int) -> Privacy:
    """A few owners of a cleared market, from the least bought to the most."""
    offers = with_questions(offers)
    rows = distinct_rows(offers, settings)
    alarm = FALSE_ALARM / max(2 * rows.size, 1)
    thresholds = coin_thresholds(mechanism, only(offers, rows))
    die = uniform_die(mechanism, only(offers, rows[:1])) if rows.size else True
    exposures = []
    for row, threshold in zip(rows, thresholds, strict=True):
        offer = only(offers, np.array([row]))
        law = joint_law(mechanism, offer, threshold, terms)
        report, joint = largest_ratio([_marginal(each) for each in law]), largest_ratio(law)
        stated = float(offer.epsilon[0])
        exposures.append(
            Exposure(
                q=float(offer.q[0]),
                stated=stated,
                report=_log(report),
                joint=_log(joint),
                report_at_most_stated=_at_most(report, stated),
                joint_at_most_stated=_at_most(joint, stated),
                drawn=drawn_bound(mechanism, offer, draws, alarm),
                uniform_die=die,
            )
        )
    return Privacy(
        exposures=tuple(exposures),
        domain_size=offers.question.kappa,
        epsilon_max=terms.epsilon_max,
        draws=draws,
        false_alarm=FALSE_ALARM,
    )


def distinct_rows(offers: Offers, count: int) -> Integers:
    """Owners with different q above 0, spread from the lowest to the highest."""
    distinct, rows = np.unique(offers.q, return_index=True)
    rows = rows[distinct > 0]
    return rows[np.unique(np.linspace(0, rows.size - 1, min(count, rows.size)).astype(np.int64))] if rows.size else rows


def coin_thresholds(mechanism: Mechanism, offers: Offers) -> list[int]:
    """T of each offer: the truth is told for coin words below T. Found by halving, on the code that ships.

    The die is told to give another report than the value's own, so that the report tells the coin.
    """
    n = len(offers)
    zeros = np.zeros(n, dtype=np.int64)
    told_truly, dice = truths(offers, zeros), others(offers, zeros)
    told, refused = np.full(n, -1, dtype=np.int64), np.full(n, 2**32, dtype=np.int64)
    while n and bool((refused - told > 1).any()):
        middle = np.clip((told + refused) // 2, 0, LAST_WORD)
        truth = scripted(mechanism, zeros, offers, middle, dice).codes == told_truly
        told, refused = np.where(truth, middle, told), np.where(truth, refused, middle)
    return [int(t) + 1 for t in told]


def uniform_die(mechanism: Mechanism, offer: Offers) -> bool:
    """Whether each value is given to equally many die words.

    The first k words must give k different values, word d the same as word d mod k, and the last words, which are too
    few to give every value once more, must be refused and drawn again.
    """
    k = offer.question.kappa
    limit = 2**32 - 2**32 % k
    first = np.arange(min(k, 4096))
    spread = np.linspace(0, limit - 1, 997).astype(np.int64)
    distinct = np.unique(_dice(mechanism, offer, first)).size == first.size
    repeats = bool((_dice(mechanism, offer, spread) == _dice(mechanism, offer, spread % k)).all())
    last = np.arange(limit, 2**32)[:64]
    # Drawn again, they are what the next word says, whichever it is.
    refused = all(
        bool((_dice(mechanism, offer, last, after) == _dice(mechanism, offer, np.array([after]))).all())
        for after in (0, 1)
    )
    return distinct and repeats and refused


def _dice(mechanism: Mechanism, offer: Offers, words: Integers, after: int = 0) -> Integers:
    """The reports when the coin refuses the truth and the die words are these, and ``after`` is drawn on a refusal."""
    rows = only(offer, np.zeros(words.size, dtype=np.int64))
    zeros = np.zeros(words.size, dtype=np.int64)
    return scripted(mechanism, zeros, rows, np.full(words.size, LAST_WORD), words, after).codes


Law = dict[tuple[int, int], Fraction]
"""The chance of each (report, payment in micro-units)."""


def joint_law(mechanism: Mechanism, offer: Offers, threshold: int, terms: Terms) -> list[Law]:
    """For each value, the exact law of what the broker sees: both coins, every face of the die.

    On a large domain only some values are compared, and only reports of those: any other report is as likely for each.
    """
    k, values = offer.question.kappa, _compared(offer)
    faces = values if offer.question.whole else np.arange(k)
    code, coin, die = (grid.ravel() for grid in np.meshgrid(values, [0, LAST_WORD], faces, indexing="ij"))
    rows = only(offer, np.zeros(code.size, dtype=np.int64))
    reports = scripted(mechanism, code, rows, coin, die)
    paid = mechanism.settle(rows, reports, unbounded(terms)).micros
    laws: dict[int, Law] = {int(v): defaultdict(Fraction) for v in values}
    truth = Fraction(threshold, Q_UNITS)
    for v, c, report, micros in zip(code, coin, reports.codes, paid, strict=True):
        laws[int(v)][int(report), int(micros)] += truth / faces.size if c == 0 else (1 - truth) / k
    return [{seen: chance for seen, chance in law.items() if chance} for law in laws.values()]


def _compared(offer: Offers) -> Integers:
    """Values to compare: all of a small domain, the first and the last of a large one; of levels the two ends, which
    are no matter of rounding and the farthest apart."""
    size = offer.domain.size
    if offer.question.kind == QuestionKind.LEVEL:
        return np.array([0, size - 1])
    return np.arange(size) if size <= MOST_VALUES else np.r_[np.arange(MOST_VALUES - 1), size - 1]


def _marginal(law: Law) -> Law:
    """The law of the report alone."""
    alone: Law = defaultdict(Fraction)
    for (report, _), chance in law.items():
        alone[report, 0] += chance
    return alone


def largest_ratio(laws: list[Law]) -> Fraction | None:
    """max over outcomes and pairs of values of P(outcome | v) / P(outcome | v'); None when it is infinite."""
    outcomes = set().union(*laws)
    if any(outcome not in law for law in laws for outcome in outcomes):
        return None
    return max(max(law[outcome] for law in laws) / min(law[outcome] for law in laws) for outcome in outcomes)


def _log(ratio: Fraction | None) -> float:
    return float("inf") if ratio is None else float(_exact_log(ratio))


def _at_most(ratio: Fraction | None, stated: float) -> bool:
    """ln(ratio) <= stated, decided with 50 digits: the last bit of a float must not decide it."""
    return ratio is not None and _exact_log(ratio) <= Decimal(stated)


def _exact_log(ratio: Fraction) -> Decimal:
    with localcontext() as context:
        context.prec = 50
        return (Decimal(ratio.numerator) / Decimal(ratio.denominator)).ln()


def drawn_bound(mechanism: Mechanism, offer: Offers, draws: int, alarm: float) -> float:
    """A lower bound on eps from real draws: ln of the least likely ratio of the chances of the first value's report,
    from the first value and from one whose report is another.

    Each of the two chances is bounded at ``alarm``, so the whole is wrong with a chance of at most twice that.
    """
    rows = only(offer, np.zeros(draws, dtype=np.int64))
    codes = _compared(offer)
    told = truths(only(offer, np.zeros(codes.size, dtype=np.int64)), codes)
    other = int(codes[np.argmax(told != told[0])])
    hits = []
    for code in (0, other):
        values = offer.domain.decode(np.full(draws, code, dtype=np.int64))
        hits.append(int((mechanism.randomise(values, rows, SystemEntropy()).codes == told[0]).sum()))
    least, most = lower_bound(hits[0], draws, alarm), upper_bound(hits[1], draws, alarm)
    return max(0.0, float(np.log(least / most))) if least > 0 else 0.0
