"""What an owner is told before she names a price: past payments, where there are any, and a forecast."""

from __future__ import annotations

import json

from market.town import Town
from pdqs.market import reads, round_steps
from pdqs.market.price_outlook import PRICES, forecast_by_price, past_payments


def test_who_asks_why_and_what_for_is_frozen_with_the_terms(town: Town) -> None:
    (ann,) = town.add_owners(1)
    said = {"purpose": "To plan how much vaccine to order.", "use": "A table in the yearly report."}
    notice = reads.notice(town.market, ann, town.open_round(**said).round_id)
    document = json.loads(notice.terms)
    assert {name: document[name] for name in said} == said
    assert document["asked_by"] == town.consumer.name
    silent = json.loads(reads.notice(town.market, ann, town.open_round("another-round-1").round_id).terms)
    assert not set(said) & set(silent), "what is not said is not promised"


def test_a_round_that_says_why_it_asks_is_cleared_and_settled_as_any(town: Town) -> None:
    town.add_owners(8)
    found = town.cleared_round(purpose="To know.", use="For a talk.")
    assert found.state == "reporting"


def test_a_higher_price_is_asked_less_often_and_paid_more_and_never_less_than_itself(town: Town) -> None:
    town.add_owners(40)
    found = town.open_round(budget_micros=10_000_000)
    outlook = forecast_by_price(town.market, found.round_id)
    assert outlook.owners == 40
    assert len(outlook.points) == PRICES
    chances = [point.chance for point in outlook.points]
    assert chances == sorted(chances, reverse=True)
    assert chances[0] > 1.5 * chances[-1], "the price makes a difference"
    for point in outlook.points:
        if point.payment_micros is not None:
            assert point.payment_micros > point.bid_micros, "it is for an epsilon of up to 2"


def test_under_a_rule_without_a_lot_the_dear_are_not_asked(town: Town) -> None:
    town.add_owners(40)
    found = town.open_round(budget_micros=2_000_000, rule="optimal", estimator="weighted")
    points = forecast_by_price(town.market, found.round_id).points
    assert points[0].chance == 1
    assert points[-1].chance == 0
    assert points[-1].payment_micros is None


def settled(town: Town, key: str, reporters: int) -> int:
    """A round in which so many reported; what they were paid on average."""
    found = town.cleared_round(key=key)
    for owner in town.asked(found)[:reporters]:
        town.report(owner, found, 1)
    town.clock.advance(found.plan.report_seconds)
    done = round_steps.settle_round(town.market, town.consumer, found.round_id)
    return done.paid_micros // max(done.reports, 1)


def test_past_payments_are_averages_of_rounds_and_of_no_round_in_which_few_reported(town: Town) -> None:
    town.add_owners(20)
    assert past_payments(town.market) is None
    settled(town, "few-reports-1", 2)
    assert past_payments(town.market) is None, "an average over two would tell of them"
    means = sorted(settled(town, f"many-reports-{place}", 8) for place in range(2))
    found = past_payments(town.market)
    assert found is not None
    assert (found.rounds, found.least_micros, found.most_micros) == (2, means[0], means[-1])
