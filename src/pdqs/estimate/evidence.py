"""What a round's reports add up to: all that any answer is made from, exact and mergeable.

Reports need never be in one place. Batches are added up apart and merged; for estimates with chances a first pass adds
up the prices (:func:`pdqs.estimate.strata.summarise_prices`), from which the strata are cut that all batches share.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import final

import numpy as np

from pdqs.estimate.chances import ChanceTally, tally_chances
from pdqs.estimate.question_sums import QuestionSums, merged_sums, sums_for_question
from pdqs.estimate.score import Bands, banded_tally, merged_bands
from pdqs.estimate.strata import PriceSummary, Strata, cut, price_grain, summarise_prices
from pdqs.estimate.tallies import Tally
from pdqs.model.arrays import Booleans
from pdqs.model.errors import ensure
from pdqs.model.names import QuestionKind
from pdqs.privacy.loss import LEAST_Q
from pdqs.rounds.offers import Offers
from pdqs.rounds.reports import Reports


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class PriceStrata:
    """Strata by price, and the sums of each."""

    strata: Strata
    tally: ChanceTally


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class Evidence:
    """Sums over a market: the tally of each band of q, and for estimates with chances that of each stratum.

    ``owners`` counts all, ``asked`` those with q > 0 and ``missing`` the asked whose report did not arrive; ``least_q``
    is the smallest q of a report that tells anything (or 1). ``sums`` are what a smaller question needs besides.
    """

    owners: int
    asked: int
    missing: int
    least_q: float
    bands: Bands
    by_price: PriceStrata | None = None
    sums: QuestionSums | None = None

    def merged(self, other: Evidence) -> Evidence:
        """The evidence of both sets of owners together; both by the same strata."""
        ours, theirs = self.by_price, other.by_price
        ensure((ours is None) == (theirs is None), "evidence with strata and without")
        both = ours and theirs and dataclasses.replace(ours, tally=ours.tally.merged(theirs.tally))
        return Evidence(
            owners=self.owners + other.owners,
            asked=self.asked + other.asked,
            missing=self.missing + other.missing,
            least_q=min(self.least_q, other.least_q),
            bands=merged_bands(self.bands, other.bands),
            by_price=both,
            sums=merged_sums(self.sums, other.sums),
        )

    @cached_property
    def tally(self) -> Tally:
        """The plain tally of all reports."""
        return reduce(Tally.merged, self.bands.values())

    @property
    def drawn(self) -> ChanceTally:
        """The sums by stratum."""
        ensure(self.by_price is not None, "evidence gathered without strata")
        return self.by_price.tally  # type: ignore[union-attr]  # made sure of


def evidence_of(reports: Reports, offers: Offers, strata: Strata | None = None, *, p: float = 0.5) -> Evidence:
    """Add up one batch of owners; with ``strata`` for estimates with chances. ``p`` is the share of a quantile."""
    heard = reports.arrived & (offers.q >= LEAST_Q)
    return Evidence(
        owners=len(offers),
        asked=offers.bought,
        missing=int(np.count_nonzero(_asked_so_far(offers) & ~reports.arrived)),
        least_q=float(offers.q[heard].min(initial=1.0)),
        bands=banded_tally(reports, offers.q),
        by_price=None if strata is None else PriceStrata(strata=strata, tally=_by_price(reports, offers, strata)),
        sums=sums_for_question(reports, offers, strata, p),
    )


def _asked_so_far(offers: Offers) -> Booleans:
    """Whose question is known: of those asked in stages, not the ones whose stage is to come."""
    staged = offers.question.kind == QuestionKind.SIDE
    return offers.asked & (offers.side >= 0) if staged else offers.asked


def prices_of(reports: Reports, offers: Offers, *, grain: float = 0.0) -> PriceSummary:
    """The first pass of an estimate with chances, over one batch."""
    heard = reports.arrived & offers.asked
    return summarise_prices(offers.bids, offers.chance, heard, asked=offers.asked, grain=grain)


def gathered(
    reports: Reports, offers: Offers, *, by_price: bool, bid_range: tuple[float, float], p: float = 0.5
) -> Evidence:
    """Both passes over a market that is held whole."""
    if not by_price:
        return evidence_of(reports, offers, p=p)
    grain = price_grain(len(offers), *bid_range)
    return evidence_of(reports, offers, cut(prices_of(reports, offers, grain=grain)), p=p)


def of_tally(tally: Tally) -> Evidence:
    """What a plain tally alone can say: all its reports in one band, so no weights but q itself."""
    q = tally.power(2) / tally.power(1) if tally.heard else 1.0
    missing = tally.owners - tally.reports
    return Evidence(owners=tally.owners, asked=tally.owners, missing=missing, least_q=q, bands={0: tally})


def _by_price(reports: Reports, offers: Offers, strata: Strata) -> ChanceTally:
    return tally_chances(
        strata,
        bids=offers.bids,
        chances=offers.chance,
        q=offers.q,
        asked=offers.asked,
        codes=reports.codes,
        arrived=reports.arrived,
        domain_size=offers.question.kappa,
    )
