"""A round that can have no answer is called off when bids close, where its terms say so: nobody is asked or paid."""

from __future__ import annotations

import json

import numpy as np
import pytest

from market.town import Town
from pdqs.market import reads, round_steps
from pdqs.market.pages import plan_form
from pdqs.market.round_terms import terms_of
from pdqs.protocol.device_messages import DomainMessage
from pdqs.protocol.market_messages import QueryMessage
from pdqs.verifying.figures import answer_figures, cleared, why_hopeless

HISTOGRAM = QueryMessage(
    kind="histogram",
    text="How do you come to work?",
    domain=DomainMessage(kind="categories", labels=["car", "bus", "train", "bicycle", "foot"], size=5),
)
LITTLE = {"query": HISTOGRAM, "budget_micros": 3_000_000, "minimum_owners": 13}


def test_a_round_without_hope_is_called_off_and_refunded_before_anyone_is_asked(town: Town) -> None:
    town.add_owners(15)
    before = town.balance(town.consumer)
    found = town.cleared_round(**LITTLE, only_with_answer=True)
    assert (found.state, found.offers, found.escrow_micros) == ("cancelled", 0, 0)
    assert found.reason is not None
    assert found.reason.startswith("15 owners bid, and reports of all whom the budget could pay")
    assert town.balance(town.consumer) == before
    assert town.balanced()
    assert round_steps.clear_round(town.market, town.consumer, found.round_id) == found


def test_owners_know_it_from_the_frozen_terms(town: Town) -> None:
    (owner,) = town.add_owners(1)
    for promised in (True, False):
        found = town.open_round(key=f"a-round-{promised}", only_with_answer=promised)
        assert ("only_with_answer" in json.loads(reads.notice(town.market, owner, found.round_id).terms)) is promised


def test_a_round_with_hope_goes_on_and_so_does_one_whose_terms_do_not_say_so(town: Town) -> None:
    town.add_owners(15)
    assert town.cleared_round(key="hopeful-round", only_with_answer=True).state == "reporting"
    assert town.cleared_round(key="as-ever-round", **LITTLE).state == "reporting"


@pytest.mark.parametrize("kind", ["count", "mean", "median", "histogram"])
def test_hopeless_is_where_no_answer_comes_though_everyone_reports(kind: str) -> None:
    """Around the border: what is called hopeless is so, and what is not does answer if all who are asked report."""
    grid = DomainMessage(kind="grid", start=0.0, step=1.0, size=11)
    plain = QueryMessage(kind=kind, text="") if kind == "count" else QueryMessage(kind=kind, text="", domain=grid)
    asked = HISTOGRAM if kind == "histogram" else plain
    rng, seen = np.random.default_rng(7), set()
    for budget in np.geomspace(1, 80, 24):
        found = plan_form.read({"budget": "5"}).plan
        assert found is not None
        terms = terms_of(found.model_copy(update={"query": asked, "budget_micros": round(1e6 * budget)}))
        bids = rng.integers(0, 1_000_000, 24).tolist()
        words = {number: rng.integers(0, 2**32, 24, dtype=np.uint32) for number in range(8)}
        made = cleared(bids, words.__getitem__, terms)
        hopeless = bool(why_hopeless(made.offers, terms))
        if terms.asking.stages == 1:
            codes = [0 if there else None for there in made.offers.asked.tolist()]
            assert (not answer_figures(codes, made.offers, terms).values) is hopeless
        seen.add(hopeless)
    assert seen == {True, False}


def test_the_forms_own_least_number_of_bids_does_without_one_report_in_five() -> None:
    found = plan_form.read({}).plan
    assert found is not None
    assert (found.minimum_owners, found.only_with_answer) == (9, True)
