"""Settlement: paid for the report, or by the coin."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import pdqs
from pdqs.model.errors import InvariantError, TermsError
from pdqs.rounds.terms import Terms


def settled(terms: Terms, rng: np.random.Generator, owners: int = 300, arrived: Any = 1.0) -> Any:
    offers = pdqs.clear(rng.random(owners), terms)
    reports = pdqs.randomise(rng.integers(0, 2, owners), offers, rng).only(rng.random(owners) < arrived)
    return offers, reports, pdqs.settle(offers, reports, terms)


def test_on_report_pays_everyone_who_reported_what_was_offered(rng: np.random.Generator) -> None:
    offers, reports, payments = settled(pdqs.presets.sound(query=pdqs.Count(), budget=90.0), rng, arrived=0.7)
    assert payments.micros.tolist() == np.where(reports.arrived, offers.payment_micros, 0).tolist()
    assert payments.within_budget
    assert payments.total == pytest.approx(payments.total_micros / 1e6)


def test_on_report_a_payment_says_nothing_of_the_coin(rng: np.random.Generator) -> None:
    terms = pdqs.presets.sound(query=pdqs.Count(), budget=90.0)
    offers = pdqs.clear(rng.random(300), terms)
    one, two = (pdqs.settle(offers, pdqs.randomise(np.ones(300), offers, rng), terms).micros for _ in range(2))
    assert np.array_equal(one, two)


def test_on_selection_pays_the_chosen_p_over_q_and_the_offer_on_average(rng: np.random.Generator) -> None:
    terms = pdqs.presets.sound(query=pdqs.Count(), budget=90.0, contract="on-selection")
    offers = pdqs.clear(rng.random(300), terms)
    totals = []
    for _ in range(300):
        reports = pdqs.randomise(np.ones(300), offers, rng)
        payments = pdqs.settle(offers, reports, terms)
        assert ((payments.micros > 0) == (reports.selected & (offers.payment_micros > 0))).all()
        totals.append(payments.total)
    assert np.mean(totals) == pytest.approx(offers.spent, abs=4 * np.std(totals) / np.sqrt(300) + 1e-3)
    assert max(totals) > terms.budget  # this contract keeps the budget on average only


def test_received_reports_cannot_be_paid_by_the_coin() -> None:
    terms = pdqs.presets.sound(query=pdqs.Count(), budget=1.0, contract="on-selection")
    offers = pdqs.clear([0.1, 0.2], terms)
    with pytest.raises(TermsError, match="received reports do not tell it"):
        pdqs.settle(offers, pdqs.received([1, 0], pdqs.Domain.binary()), terms)


def test_payments_over_the_budget_are_said(rng: np.random.Generator) -> None:
    terms = pdqs.presets.sound(query=pdqs.Count(), budget=1.0, rule=pdqs.rules.Linear(), clearing="open")
    _, _, payments = settled(terms, rng)
    assert not payments.within_budget
    assert "over the budget" in repr(payments)


def test_a_mechanism_that_keeps_the_budget_never_settles_beyond_it() -> None:
    terms = pdqs.presets.sound(query=pdqs.Count(), budget=1.0)
    offers = pdqs.clear([0.1, 0.2], terms)
    dear = replace(offers, payment_micros=np.full(2, 600_000))
    with pytest.raises(TermsError, match=r"the offers promise 1\.20, more than these terms' budget of 1\.00"):
        pdqs.settle(dear, pdqs.received([1, 0], pdqs.Domain.binary()), terms)


def test_payments_that_pass_the_budget_though_the_offers_keep_it_are_not_made() -> None:
    """The last word of settlement, behind the caller's checks: an offer of less than nothing hides what others cost."""
    terms = pdqs.presets.sound(query=pdqs.Count(), budget=1.0)
    made = pdqs.clear([0.2, 0.2], terms)
    hidden = replace(made, payment_micros=np.array([5_000_000, -4_500_000]))
    assert hidden.spent_micros <= terms.budget_micros, "no check of the offers sees it"
    reports = pdqs.randomise([1, 0], made, np.random.default_rng(0))
    with pytest.raises(InvariantError, match="keeps the budget has passed it"):
        pdqs.settle(hidden, reports.only(np.array([True, False])), terms)
    assert pdqs.settle(hidden, reports, terms).within_budget, "together they keep it: what is paid is what counts"
