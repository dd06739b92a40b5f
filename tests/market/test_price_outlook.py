"""What an owner is told before she names a price: past payments, where there are any, and a forecast."""

from __future__ import annotations

import json
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any

import pytest

from market.town import Town
from pdqs import clearing
from pdqs.market import groups, price_outlook, reads, round_steps
from pdqs.market.made_once import MadeOnce
from pdqs.market.price_outlook import PRICES, PricePoint, forecast_by_price, past_payments
from pdqs.protocol.groups import GroupNames


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
    assert outlook is not None
    assert outlook.owners == 40
    assert len(outlook.points) == PRICES
    chances = [point.chance for point in outlook.points]
    assert chances == sorted(chances, reverse=True)
    assert chances[0] > 1.5 * chances[-1], "the price makes a difference"
    for point in outlook.points:
        if point.payment_micros is not None:
            assert point.payment_micros > point.bid_micros, "it is for an epsilon of up to 2"


def test_by_lot_who_is_asked_at_a_higher_price_is_forecast_no_less(town: Town) -> None:
    """Where the same is asked of all, the price paid is the highest one that would still be asked: never below hers."""
    town.add_owners(40)
    for place, budget in enumerate((4_000_000, 10_000_000, 25_000_000)):
        found = town.open_round(f"key-of-budget-{place}", budget_micros=budget)
        outlook = forecast_by_price(town.market, found.round_id)
        assert outlook is not None
        paid = [point.payment_micros for point in outlook.points if point.payment_micros is not None]
        assert len(paid) > 2
        assert paid == sorted(paid)


def test_where_less_is_asked_of_the_dear_chance_and_expected_payment_never_rise_with_the_price(town: Town) -> None:
    town.add_owners(40)
    found = town.open_round(budget_micros=6_000_000, rule="optimal", estimator="weighted")
    outlook = forecast_by_price(town.market, found.round_id)
    assert outlook is not None
    chances = [point.chance for point in outlook.points]
    assert chances == sorted(chances, reverse=True)
    paid = [point.chance * (point.payment_micros or 0) for point in outlook.points]
    assert all(dearer <= cheaper + 1 for cheaper, dearer in pairwise(paid)), "to the micro-unit they are rounded to"


def test_under_a_rule_without_a_lot_the_dear_are_not_asked(town: Town) -> None:
    town.add_owners(40)
    found = town.open_round(budget_micros=2_000_000, rule="optimal", estimator="weighted")
    outlook = forecast_by_price(town.market, found.round_id)
    assert outlook is not None
    points = outlook.points
    assert points[0].chance == 1
    assert points[-1].chance == 0
    assert points[-1].payment_micros is None


def test_a_round_that_asks_for_a_million_owners_is_forecast_for_those_there_could_be(town: Town) -> None:
    town.add_owners(40)
    found = town.open_round(budget_micros=1_000_000, epsilon_max=16.0, minimum_owners=1_000_000)
    began = time.process_time()
    outlook = forecast_by_price(town.market, found.round_id)
    assert time.process_time() - began < 10, "it took a minute and a half"
    assert outlook is not None
    assert outlook.owners == 320


def test_many_who_look_at_once_have_one_forecast_made(town: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    town.add_owners(40)
    found, made = town.open_round(budget_micros=10_000_000), []

    def slow(_: str, owners: int) -> tuple[PricePoint, ...]:
        made.append(owners)
        time.sleep(0.5)
        return (PricePoint(bid_micros=1, chance=1.0, payment_micros=1),)

    monkeypatch.setattr(price_outlook, "_points", slow)
    monkeypatch.setattr(price_outlook, "_MADE", MadeOnce(most=4, patience=30.0, waiting=7))
    with ThreadPoolExecutor(8) as pool:
        seen = list(pool.map(lambda _: forecast_by_price(town.market, found.round_id), range(8)))
    assert made == [40]
    assert len({id(outlook) for outlook in seen}) == 1


def test_whoever_would_wait_long_for_a_forecast_sees_the_page_without() -> None:
    kept: MadeOnce[str, int] = MadeOnce(most=1, patience=0.1)
    go, begun = threading.Event(), threading.Event()

    def slow() -> int:
        begun.set()
        return int(go.wait(20))

    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(kept.get, "one", slow)
        assert begun.wait(20)
        assert kept.get("another", lambda: 2) is None
        go.set()
        assert first.result() == 1
    assert kept.get("one", lambda: 7) == 1
    assert kept.get("another", lambda: 2) == 2
    assert kept.get("one", lambda: 7) == 7, "few are kept"
    with pytest.raises(ZeroDivisionError):
        kept.get("broken", lambda: 1 // 0)
    assert kept.get("broken", lambda: 3) == 3, "what failed is made anew"


def test_a_forecast_has_as_many_draws_as_there_is_time_for(town: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    town.add_owners(40)
    plan, cleared = town.open_round(budget_micros=10_000_000).plan.model_dump_json(), []

    def clear(*given: Any, **named: Any) -> Any:
        cleared.append(named["draws"])
        return clearing.clear(*given, **named)

    monkeypatch.setattr(price_outlook, "clear", clear)
    whole = price_outlook._points(plan, 40, now=lambda: 0.0)
    assert cleared == list(range(12))
    some = price_outlook._points(plan, 40, now=lambda: float(len(cleared)))
    assert cleared[12:] == [0, 1]
    assert some[0].chance == pytest.approx(whole[0].chance, abs=0.3)


def settled(town: Town, key: str, reporters: int, **changes: Any) -> int:
    """A round in which so many reported; what they were paid on average."""
    found = town.cleared_round(key=key, **changes)
    for owner in town.asked(found)[:reporters]:
        town.report(owner, found, 1)
    town.clock.advance(found.plan.report_seconds)
    done = round_steps.settle_round(town.market, town.consumer, found.round_id)
    return done.paid_micros // max(done.reports, 1)


def test_past_payments_are_averages_of_rounds_and_of_no_round_in_which_few_reported(town: Town) -> None:
    town.add_owners(20)
    assert past_payments(town.market, town.owners[0]) is None
    settled(town, "few-reports-1", 2)
    assert past_payments(town.market, town.owners[0]) is None, "an average over two would tell of them"
    means = sorted(settled(town, f"many-reports-{place}", 8) for place in range(2))
    found = past_payments(town.market, town.owners[0])
    assert found is not None
    assert (found.rounds, found.least_micros, found.most_micros) == (2, means[0], means[-1])


def test_past_payments_tell_nothing_of_rounds_that_were_not_for_her(town: Town) -> None:
    inside = town.add_owners(20)
    for owner in inside:
        groups.put_in_groups(town.market, town.operator, owner.user_id, GroupNames(groups=["Nurses"]))
    settled(town, "for-nurses-alone", 8, groups=["Nurses"])
    outside = town.add_owners(1)[0]
    assert past_payments(town.market, inside[0]) is not None
    assert past_payments(town.market, outside) is None
