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
from pdqs.clearing.single_minded import clear_single_minded
from pdqs.clearing.summaries import BidSummary
from pdqs.model import columns
from pdqs.model.arrays import Column, Floats
from pdqs.model.checks import made
from pdqs.model.errors import InputError
from pdqs.model.names import ClearingName
from pdqs.rounds.offers import Offers
from pdqs.rounds.terms import Terms

WAYS: Mapping[str, Callable[[Floats, Terms], Offers]] = MappingProxyType(
    {
        ClearingName.LADDER: clear_by_ladder,
        ClearingName.GREEDY: clear_greedily,
        ClearingName.FAIRQUERY: clear_fairly,
        ClearingName.OPEN: clear_openly,
        ClearingName.SINGLE_MINDED: clear_single_minded,
        ClearingName.FALLAH: clear_as_expected,
    }
)
"""The code behind each name; what each can do stands in :mod:`pdqs.rounds.clearings`."""


def clear(bids: Column, terms: Terms) -> Offers:
    """Decide how truthfully each owner will answer and what she is paid.

    >>> import pdqs
    >>> offers = pdqs.clear([0.1, 0.2, 0.3, 0.4, 0.5], pdqs.presets.gpqm_linear(query=pdqs.Count(), budget=2.3))
    >>> offers.q.round(2).tolist()
    [0.9, 0.8, 0.7, 0.0, 0.0]
    """
    made(terms, Terms, "terms")
    parsed = columns.bids_in_range(bids, terms.setting.low, terms.setting.high)
    if parsed.size < 2:
        raise InputError(f"column 'bid': a market needs at least 2 owners, got {parsed.size}")
    return dataclasses.replace(WAYS[terms.clearing](parsed, terms), promise=terms.promise)


__all__ = ["BidSummary", "apply", "calibrate", "clear", "summarise"]
