"""What is called frozen is: nobody writes into offers, reports or payments once they are made."""

from __future__ import annotations

import numpy as np
import pytest

import pdqs

CLEARINGS = {
    "ladder": pdqs.Terms(query=pdqs.Count(), budget=3.0),
    "greedy": pdqs.presets.gpqm_linear(query=pdqs.Count(), budget=3.0),
    "fairquery": pdqs.presets.fairquery(query=pdqs.Count(), budget=3.0),
    "open": pdqs.Terms(query=pdqs.Count(), budget=3.0, rule="linear", clearing="open"),
}


@pytest.mark.parametrize("clearing", CLEARINGS)
@pytest.mark.parametrize("name", ["bids", "q", "epsilon", "payment_micros"])
def test_offers_cannot_be_written_into_however_they_were_cleared(clearing: str, name: str) -> None:
    offers = pdqs.clear(np.linspace(0.1, 0.9, 10), CLEARINGS[clearing])
    with pytest.raises(ValueError, match="read-only"):
        getattr(offers, name)[0] = 0


def test_reports_and_payments_cannot_be_written_into() -> None:
    done = pdqs.trade([1, 0, 1], [0.1, 0.2, 0.3], CLEARINGS["ladder"], np.random.default_rng(0))
    received = pdqs.received([1, None, 0], pdqs.Domain.binary())
    for array in (done.reports.codes, done.reports.arrived, done.reports.selected, received.codes, received.arrived):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0
    with pytest.raises(ValueError, match="read-only"):
        done.payments.micros[0] = 0


def test_the_callers_own_bids_stay_hers_to_write_and_are_not_copied() -> None:
    bids = np.linspace(0.1, 0.9, 10)
    offers = pdqs.clear(bids, CLEARINGS["ladder"])
    assert bids.flags.writeable
    assert np.shares_memory(bids, offers.bids)
