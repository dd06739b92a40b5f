"""The audit: what a mechanism really keeps of what its terms promise, and proof that the measurement can fail.

One file per promise: :mod:`~pdqs.auditing.truthfulness`, :mod:`~pdqs.auditing.rationality`,
:mod:`~pdqs.auditing.budget`, :mod:`~pdqs.auditing.privacy`, :mod:`~pdqs.auditing.coverage`; two for what nobody
promises and everybody should know: :mod:`~pdqs.auditing.false_names` and :mod:`~pdqs.auditing.poisoning`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass
from typing import final

import numpy as np

from pdqs.auditing import budget, coverage, false_names, poisoning, privacy, rationality, truthfulness
from pdqs.auditing.markets import Market, adversarial, drawn_again, evenly_spread, sampled
from pdqs.auditing.mechanism import SHIPPED, Mechanism
from pdqs.auditing.report import AuditReport, comparison
from pdqs.auditing.truthfulness import chosen_owners
from pdqs.auditing.verdicts import Claims, Promise, claims
from pdqs.model.arrays import Integers
from pdqs.model.checks import made, whole
from pdqs.model.errors import InputError, TermsError
from pdqs.pricing.rules import Asks, ReadsBids
from pdqs.rounds.offers import Offers
from pdqs.rounds.terms import Terms


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Effort:
    """How hard to look. A deal of the ladder, or of a rule that reads bids, costs as much as fifty others.

    ``coverage`` is how many rounds are played under each pattern of prices, ``lotteries`` how many more draws of the
    small markets are tried where a rule asks by lot.
    """

    name: str
    sizes: tuple[int, ...]
    markets: int
    owners_each: int
    owners_each_slow: int
    rounds: int
    coverage: int
    lotteries: int
    settings: int
    draws: int


QUICK = Effort(
    name="quick",
    sizes=(2, 5, 20),
    markets=4,
    owners_each=3,
    owners_each_slow=1,
    rounds=100,
    coverage=40,
    lotteries=0,
    settings=2,
    draws=200_000,
)
USUAL = Effort(
    name="usual",
    sizes=(2, 3, 5, 10, 30, 100, 300, 1000, 10_000),
    markets=18,
    owners_each=6,
    owners_each_slow=2,
    rounds=1000,
    coverage=200,
    lotteries=3,
    settings=4,
    draws=1_000_000,
)
THOROUGH = Effort(
    name="thorough",
    sizes=(2, 3, 5, 10, 20, 30, 50, 100, 200, 300, 1000, 10_000),
    markets=180,
    owners_each=12,
    owners_each_slow=3,
    rounds=10_000,
    coverage=2000,
    lotteries=12,
    settings=8,
    draws=4_000_000,
)
EFFORTS = {effort.name: effort for effort in (QUICK, USUAL, THOROUGH)}
"""How hard to look, by name."""


def audit(
    terms: Terms,
    *,
    owners: int = 200,
    seed: int = 0,
    effort: str = "usual",
    mechanism: Mechanism = SHIPPED,
    name: str | None = None,
    command: str | None = None,
) -> AuditReport:
    """Measure what ``terms`` keep of what they promise.

    Their own budget is tried on ``owners`` owners spread evenly over the bid range; other markets bring budgets of
    their own. ``effort`` is ``quick``, ``usual`` or ``thorough``. ``mechanism`` replaces pdqs itself, to audit another.
    Everything repeats with the seed but the privacy draws, which come from the operating system.

    >>> import pdqs
    >>> report = pdqs.audit(pdqs.presets.gpqm_linear(query=pdqs.Count(), budget=20.0), owners=100, effort="quick")
    >>> [promise.code for promise in report.broken]
    ['IC', 'LDP', 'COV']
    """
    if effort not in EFFORTS:
        raise TermsError(f"unknown effort {effort!r}: choose one of {', '.join(EFFORTS)}")
    made(terms, Terms, "terms")
    if not 2 <= whole(owners, "owners") <= 10_000:
        raise TermsError(f"owners must be a whole number from 2 to 10000, got {owners}")
    work = EFFORTS[effort]
    rng = np.random.default_rng(seed)
    own = evenly_spread(terms, int(owners), terms.budget)
    # A rule that reads bids may read so many and no others: every market then has that size.
    sizes = (int(owners),) if isinstance(terms.bound_rule, ReadsBids) else work.sizes
    others = _others(terms, sizes, work, rng)
    markets = [own, *(market for market in others if _takes(mechanism, market, terms))]
    few = chosen_owners(own, 4, rng)
    return AuditReport(
        name=name or f"{terms.rule_name}, {terms.clearing}, {terms.contract}",
        terms=terms,
        mechanism=mechanism.name,
        effort=effort,
        seed=seed,
        owners=int(owners),
        command=command or f"pdqs.audit(terms, owners={owners}, seed={seed}, effort={effort!r})",
        truthfulness=truthfulness.examine(mechanism, terms, _tried(markets, terms, work, rng)),
        rationality=rationality.examine(mechanism, terms, markets),
        budget=budget.examine(mechanism, terms, markets, own, _rounds(terms, work), rng),
        privacy=privacy.examine(mechanism, terms, _bought_from(mechanism, terms, markets), work.settings, work.draws),
        false_names=tuple(_false_names(mechanism, terms, own, few)),
        coverage=coverage.examine(mechanism, terms, int(owners), work.coverage, rng),
        poisoning=poisoning.examine(mechanism, terms, own, max(work.rounds // 25, 4), rng),
    )


def _others(terms: Terms, sizes: tuple[int, ...], work: Effort, rng: np.random.Generator) -> list[Market]:
    """Markets made to hurt and markets sampled; under a lottery each has draws of its own, and the former several."""
    hard, wide = adversarial(terms, rng), sampled(terms, sizes, work.markets, rng)
    if isinstance(terms.bound_rule, Asks):
        hard = [*hard, *drawn_again(hard, range(1, 1 + work.lotteries))]
        wide = [dataclasses.replace(market, draws=i) for i, market in enumerate(wide)]
    return [*hard, *wide]


def _rounds(terms: Terms, work: Effort) -> int:
    """Rounds to pay for: a lottery is cleared anew in each."""
    return work.rounds // 5 if isinstance(terms.bound_rule, Asks) else work.rounds


def _takes(mechanism: Mechanism, market: Market, terms: Terms) -> bool:
    """Whether the mechanism can be run on a market of this size at all."""
    try:
        mechanism.clear(market.bids, market.terms(terms), market.draws)
    except InputError:
        return False
    return True


def _bought_from(mechanism: Mechanism, terms: Terms, markets: list[Market]) -> Offers:
    """Offers to look at for privacy: the terms' own market, or where that buys nothing the one that buys most."""
    cleared = (mechanism.clear(market.bids, market.terms(terms), market.draws) for market in markets)
    own = next(cleared)
    return own if own.bought else max([own, *cleared], key=lambda offers: offers.bought)


def _false_names(
    mechanism: Mechanism, terms: Terms, market: Market, owners: Integers
) -> Iterator[false_names.FalseNames]:
    """Two and three names, where the mechanism takes more owners than it was made for."""
    for names in (2, 3):
        try:
            yield false_names.examine(mechanism, terms, market, owners, names)
        except InputError:
            return


def _tried(
    markets: list[Market], terms: Terms, work: Effort, rng: np.random.Generator
) -> list[tuple[Market, Integers]]:
    """Whose best lie is searched for: in the terms' own market everyone where that is cheap, elsewhere a few."""
    slow = terms.clearing_facts.calibrates or isinstance(terms.bound_rule, ReadsBids)
    each = work.owners_each_slow if slow else work.owners_each
    tried = []
    for i, market in enumerate(markets):
        count = len(market) if i == 0 and not slow and work.name != "quick" else each
        if len(market) >= 10_000:
            count = max(1, each // 3)
        tried.append((market, chosen_owners(market, count, rng)))
    return tried


__all__ = [
    "EFFORTS",
    "SHIPPED",
    "AuditReport",
    "Claims",
    "Mechanism",
    "Promise",
    "audit",
    "claims",
    "comparison",
]
