"""Clearing: bids in, offers out. One file per way of doing it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from types import MappingProxyType

from pdqs.clearing.fairquery import clear_fairly
from pdqs.clearing.fallah import clear_as_expected
from pdqs.clearing.fixed import clear_openly
from pdqs.clearing.greedy import clear_greedily
from pdqs.clearing.ladder import apply, calibrate, clear_by_ladder, summarise
from pdqs.clearing.lottery import LotteryMarket, LotteryResult, clear_by_lottery
from pdqs.clearing.single_minded import clear_single_minded
from pdqs.clearing.summaries import BidSummary
from pdqs.model import columns
from pdqs.model.arrays import Column, Floats, Words
from pdqs.model.checks import made
from pdqs.model.errors import InputError
from pdqs.model.names import ClearingName
from pdqs.pricing.rules import Asks
from pdqs.privacy.draws import JITTER_WORD, LOTTERY_WORD, Draws, public_words
from pdqs.privacy.loss import epsilon_upper
from pdqs.privacy.owner_entropy import refuse_strange_ids
from pdqs.rounds.offers import Offers
from pdqs.rounds.stages import dealt
from pdqs.rounds.terms import Terms

WAYS: Mapping[str, Callable[[Floats, Terms], Offers]] = MappingProxyType(
    {
        ClearingName.GREEDY: clear_greedily,
        ClearingName.FAIRQUERY: clear_fairly,
        ClearingName.OPEN: clear_openly,
        ClearingName.SINGLE_MINDED: clear_single_minded,
        ClearingName.FALLAH: clear_as_expected,
    }
)
"""The code behind each name but the ladder's, which draws; what each can do stands in :mod:`pdqs.rounds.clearings`."""


def clear(bids: Column, terms: Terms, *, draws: Draws = None, owners: Column | None = None) -> Offers:
    """Decide who is asked, how truthfully each will answer and what she is paid.

    ``draws`` fix who is asked by a rule with a lottery, and on the ladder which of equal or nearly equal bids go
    first: a seed, a numpy Generator, or a 32-bit word for each owner. Left out, they follow from the hash of the terms
    and the row, or from the ids in ``owners``. Draws must not depend on the bids: then no misreport gains, whatever
    they are. Other clearings need none. Which owner is asked what, and in which stage, follows from further words of
    the same source.

    >>> import pdqs
    >>> offers = pdqs.clear([0.1, 0.2, 0.3, 0.4, 0.5], pdqs.presets.gpqm_linear(query=pdqs.Count(), budget=2.3))
    >>> offers.q.round(2).tolist()
    [0.9, 0.8, 0.7, 0.0, 0.0]
    """
    made(terms, Terms, "terms")
    parsed = columns.bids_in_range(bids, terms.setting.low, terms.setting.high)
    if parsed.size < 2:
        raise InputError(f"column 'bid': a market needs at least 2 owners, got {parsed.size}")
    if owners is not None:
        refuse_strange_ids(owners, parsed.size)
    offers = dealt(_cleared(parsed, terms, draws, owners), draws, owners, source=terms.hash)
    return dataclasses.replace(offers, promise=terms.promise)


def _cleared(bids: Floats, terms: Terms, draws: Draws, owners: Column | None) -> Offers:
    if not terms.clearing_facts.calibrates:
        return WAYS[terms.clearing](bids, terms)
    rule, words = terms.bound_rule, drawn_words(draws, owners, bids.size, terms)
    if isinstance(rule, Asks):
        return offers_by_lottery(bids, words, rule, terms)
    return clear_by_ladder(bids, words, terms)


def drawn_words(draws: Draws, owners: Column | None, count: int, terms: Terms) -> Words:
    """The word of each owner that the ladder of the terms reads: that of the lottery, or her place in climbing."""
    return public_words(draws, owners, count, source=terms.hash, word=word_read(terms))


def word_read(terms: Terms) -> int:
    """Which of her words that is."""
    return LOTTERY_WORD if isinstance(terms.bound_rule, Asks) else JITTER_WORD


def offers_by_lottery(bids: Floats, words: Words, rule: Asks, terms: Terms) -> Offers:
    """The offers of a lottery on the ladder of scales (:mod:`pdqs.clearing.lottery`)."""
    found = clear_by_lottery(bids, words, LotteryMarket(rule=rule, budget_micros=terms.budget_micros))
    return drawn_offers(bids, words, found, terms)


def drawn_offers(bids: Floats, words: Words, found: LotteryResult, terms: Terms) -> Offers:
    """A lottery's result, of all owners or of a batch of them, as offers."""
    return Offers(
        bids=bids,
        q=found.q,
        epsilon=epsilon_upper(found.q, terms.kappa),
        payment_micros=found.price_micros,
        domain=terms.domain,
        budget_micros=terms.budget_micros,
        question=terms.asking,
        chance=found.chance,
        draw=words,
    )


__all__ = ["BidSummary", "apply", "calibrate", "clear", "drawn_offers", "drawn_words", "summarise", "word_read"]
