"""A round from plan to answer, step by step, at the level of commands."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import pdqs
from market.town import Town, plan
from pdqs.market import clearing_ahead, forecasting, offer_access, reads, round_steps
from pdqs.market.clock_state import last_tick
from pdqs.market.http.clock import keep_deadlines
from pdqs.market.round_terms import terms_of
from pdqs.market.store.schema import rounds
from pdqs.model.errors import InputError, InvariantError
from pdqs.privacy.loss import Q_UNITS
from pdqs.protocol.device_messages import Bid, DomainMessage, Report
from pdqs.protocol.market_messages import QueryMessage, Round
from pdqs.protocol.problems import ConflictError, MarketError, NotFoundError, UnprocessableError
from pdqs.verifying.figures import Cleared, cleared


def test_opening_moves_the_budget_into_escrow_and_freezes_the_terms(town: Town) -> None:
    before = town.balance(town.consumer)
    found = town.open_round()
    assert town.balance(town.consumer) == before - found.plan.budget_micros
    assert found.escrow_micros == found.plan.budget_micros
    (owner,) = town.add_owners(1)
    notice = reads.notice(town.market, owner, found.round_id)
    assert hashlib.sha256(notice.terms.encode()).hexdigest() == found.terms_hash == notice.terms_hash
    document = json.loads(notice.terms)
    assert document["terms"] == json.loads(terms_of(found.plan).canonical())
    assert document["bids_close_at_ms"] == found.bids_close_at_ms
    assert document["terms"]["contract"] == "on-report"


def test_opening_twice_takes_the_budget_once(town: Town) -> None:
    first = town.open_round()
    town.clock.advance(1)
    assert round_steps.open_round(town.market, town.consumer, first.round_id) == first


def test_a_round_beyond_the_balance_cannot_be_opened(town: Town) -> None:
    draft = round_steps.draft_round(town.market, town.consumer, plan(budget_micros=10**9), "a-big-round")
    with pytest.raises(ConflictError, match="does not cover"):
        round_steps.open_round(town.market, town.consumer, draft.round_id)
    assert reads.round_by_id(town.market, town.consumer, draft.round_id).state == "draft"


@pytest.mark.parametrize(
    "changes",
    [
        {"bid_low_micros": 5, "bid_high_micros": 5},
        {"rule": "optimal", "estimator": "unbiased"},
        {"rule": "lottery", "estimator": "weighted"},
        {"query": QueryMessage(kind="median", text="", domain=DomainMessage(kind="categories", labels=["a", "b"]))},
        {"query": QueryMessage(kind="count", text="", domain=DomainMessage(kind="grid", size=3))},
    ],
)
def test_a_plan_that_cannot_hold_is_refused_when_drafted(town: Town, changes: dict[str, Any]) -> None:
    with pytest.raises(UnprocessableError):
        round_steps.draft_round(town.market, town.consumer, plan(**changes), "a-bad-round")


def test_offers_are_those_of_the_core_for_the_same_bids(either_town: Town) -> None:
    owners = either_town.add_owners(30)
    found = either_town.cleared_round()
    offers = [offer_access.offer(either_town.market, owner, found.round_id) for owner in owners]
    bids = [offer_access.bid(either_town.market, owner, found.round_id).bid_micros for owner in owners]
    terms = pdqs.Terms(query=pdqs.Count(found.plan.query.text), budget=20.0)
    expected = pdqs.clear(np.array(bids) / 1e6, terms, draws=either_town.draws(found))
    assert [offer.draw for offer in offers] == expected.draw.tolist()
    assert [offer.chance_numerator for offer in offers] == (expected.chance * Q_UNITS).astype(int).tolist()
    assert [offer.q_numerator for offer in offers] == (expected.q * Q_UNITS).astype(int).tolist()
    assert [offer.payment_micros for offer in offers] == expected.payment_micros.tolist()
    assert found.committed_micros == expected.spent_micros <= found.plan.budget_micros


def test_settling_pays_those_who_reported_and_returns_the_rest(either_town: Town) -> None:
    town = either_town
    town.add_owners(30)
    found = town.cleared_round()
    asked = town.asked(found)
    for owner in asked[:-2]:
        town.report(owner, found, 1)
    town.clock.advance(found.plan.report_seconds)
    settled = round_steps.settle_round(town.market, town.consumer, found.round_id)
    offers = {owner.user_id: offer_access.offer(town.market, owner, found.round_id) for owner in asked}
    paid = sum(offers[owner.user_id].payment_micros for owner in asked[:-2])
    assert settled.paid_micros == paid
    assert town.balance(town.consumer) == 100_000_000 - paid
    for owner in asked[:-2]:
        assert town.balance(owner) == offers[owner.user_id].payment_micros
    assert [town.balance(owner) for owner in asked[-2:]] == [0, 0]
    assert town.balanced()
    assert any(f"2 of {len(asked)} reports are missing" in warning for warning in _answer(town, found).warnings)


def test_the_answer_is_the_cores_for_the_same_reports(town: Town) -> None:
    owners = town.add_owners(40)
    found = town.cleared_round()
    terms = terms_of(found.plan)
    bids = [offer_access.bid(town.market, owner, found.round_id).bid_micros / 1e6 for owner in owners]
    offers = pdqs.clear(bids, terms, draws=town.draws(found))
    asked = {owner.user_id for owner in town.asked(found)}
    codes = [i % 2 for i in range(len(owners))]
    for owner, code in zip(owners, codes, strict=True):
        if owner.user_id in asked:
            town.report(owner, found, code)
    assert round_steps.advance_due(town.market) == [found.round_id]
    came = pdqs.received(codes, terms.domain).only(offers.asked)
    expected = pdqs.answer(came, offers, terms)
    answer = _answer(town, found)
    assert answer.values == [pytest.approx(expected.value)]
    assert answer.interval == [pytest.approx(list(expected.interval))]
    assert answer.interval_if_dishonest == [pytest.approx(list(expected.interval_if_dishonest()))]
    assert answer.reports == answer.asked == len(asked)


@pytest.mark.parametrize(
    ("kind", "domain", "rows"),
    [
        ("median", DomainMessage(kind="grid", start=20.0, step=10.0, size=5), 1),
        ("mean", DomainMessage(kind="grid", start=0.0, step=1.0, size=11), 1),
        ("quantile", DomainMessage(kind="grid", start=0.0, step=1.0, size=4), 1),
        ("histogram", DomainMessage(kind="categories", labels=["tea", "coffee", "water"], size=3), 3),
    ],
)
def test_every_kind_of_query_is_answered(town: Town, kind: Any, domain: DomainMessage, rows: int) -> None:
    town.add_owners(60)
    query = QueryMessage(kind=kind, text="How much?", domain=domain, p=0.25)
    found = town.cleared_round(query=query, budget_micros=90_000_000)
    for place, owner in enumerate(town.asked(found)):
        town.report(owner, found, place % found.asked.codes)
    round_steps.settle_round(town.market, town.consumer, found.round_id)
    answer = _answer(town, found)
    assert len(answer.values) == len(answer.interval) == len(answer.labels) == rows
    assert town.balanced()


def test_too_few_bids_cancel_the_round_and_return_the_escrow(town: Town) -> None:
    town.add_owners(3)
    found = town.cleared_round(minimum_owners=4)
    assert (found.state, found.reason) == ("cancelled", "3 owners bid, and the round needs 4")
    assert town.balance(town.consumer) == 100_000_000
    assert town.balanced()


def test_cancelling_returns_the_escrow_once(town: Town) -> None:
    found = town.open_round()
    round_steps.cancel_round(town.market, town.consumer, found.round_id)
    assert round_steps.cancel_round(town.market, town.operator, found.round_id).state == "cancelled"
    assert town.balance(town.consumer) == 100_000_000


def test_a_cleared_round_cannot_be_cancelled(town: Town) -> None:
    town.add_owners(5)
    found = town.cleared_round()
    with pytest.raises(ConflictError, match="cannot be cancelled"):
        round_steps.cancel_round(town.market, town.consumer, found.round_id)


def due(moment_ms: int | None) -> int:
    """A deadline that is set by now."""
    assert moment_ms is not None
    return moment_ms


def test_bids_are_taken_until_the_deadline_and_not_at_it(town: Town) -> None:
    first, second = town.add_owners(2)
    found = town.open_round()
    town.clock.now_ms = due(found.bids_close_at_ms) - 1
    town.bid(first, found, 1)
    town.clock.now_ms = due(found.bids_close_at_ms)
    with pytest.raises(ConflictError, match="closed"):
        town.bid(second, found, 1)
    town.bid(first, found, 1)  # an acknowledged bid is acknowledged again, whatever the hour


def test_clearing_waits_for_the_deadline(town: Town) -> None:
    found = town.open_round()
    town.clock.now_ms = due(found.bids_close_at_ms) - 1
    with pytest.raises(ConflictError, match="bids close"):
        round_steps.clear_round(town.market, town.operator, found.round_id)


def test_a_bid_stands_unless_another_says_that_it_takes_its_place(town: Town) -> None:
    (owner,) = town.add_owners(1)
    found = town.open_round()
    town.bid(owner, found, 7)
    with pytest.raises(ConflictError, match="you have another bid in this round"):
        town.bid(owner, found, 8)
    assert offer_access.bid(town.market, owner, found.round_id).bid_micros == 7


def test_a_bid_for_other_terms_or_outside_the_range_is_refused(town: Town) -> None:
    (owner,) = town.add_owners(1)
    found = town.open_round()
    with pytest.raises(ConflictError, match="other terms"):
        round_steps.place_bid(town.market, owner, found.round_id, Bid(terms_hash="0" * 64, bid_micros=1))
    with pytest.raises(UnprocessableError, match=r"lie from 0\.00 to 1\.00"):
        town.bid(owner, found, 1_000_001)


def test_a_report_stands_and_is_taken_until_its_deadline(town: Town) -> None:
    town.add_owners(10)
    found = town.cleared_round()
    first, second = town.asked(found)[:2]
    town.report(first, found, 1)
    with pytest.raises(ConflictError, match="stands"):
        town.report(first, found, 0)
    town.clock.now_ms = due(found.reports_close_at_ms)
    with pytest.raises(ConflictError, match="closed"):
        town.report(second, found, 1)
    town.report(first, found, 1)  # resent bytes get their receipt, whatever the hour


def test_an_owner_who_was_asked_nothing_cannot_report(town: Town) -> None:
    town.add_owners(30)
    found = town.cleared_round()
    asked = {owner.user_id for owner in town.asked(found)}
    left_out = next(owner for owner in town.owners if owner.user_id not in asked)
    with pytest.raises(ConflictError, match="no offer"):
        town.report(left_out, found, 1)


def test_a_report_outside_the_domain_or_for_other_terms_is_refused(town: Town) -> None:
    town.add_owners(10)
    found = town.cleared_round()
    owner = town.asked(found)[0]
    with pytest.raises(UnprocessableError, match="0 to 1"):
        town.report(owner, found, 2)
    with pytest.raises(ConflictError, match="other terms"):
        round_steps.submit_report(town.market, owner, found.round_id, Report(terms_hash="0" * 64, code=1))


def test_a_budget_that_buys_nothing_still_ends_well(town: Town) -> None:
    town.add_owners(3)
    found = town.cleared_round(budget_micros=1, bid_low_micros=900_000)
    assert (found.state, found.offers, found.forecast_half_width) == ("reporting", 0, None)
    assert round_steps.advance_due(town.market) == [found.round_id]
    assert town.balance(town.consumer) == 100_000_000
    assert any("no answer: no report came" in warning for warning in _answer(town, found).warnings)


def test_settling_waits_for_reports_that_may_still_come(town: Town) -> None:
    town.add_owners(10)
    found = town.cleared_round()
    with pytest.raises(ConflictError, match="reports close"):
        round_steps.settle_round(town.market, town.consumer, found.round_id)
    assert round_steps.advance_due(town.market) == []


def test_the_clock_clears_and_settles_what_is_due(town: Town) -> None:
    town.add_owners(5)
    found = town.open_round()
    town.bid_all(found)
    assert round_steps.advance_due(town.market) == []
    town.clock.advance(60)
    assert round_steps.advance_due(town.market) == [found.round_id]
    town.clock.advance(60)
    assert round_steps.advance_due(town.market) == [found.round_id]
    assert reads.round_by_id(town.market, town.consumer, found.round_id).state == "settled"


def test_terms_that_are_no_longer_those_frozen_are_not_cleared(town: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    town.add_owners(3)
    found = town.open_round()
    town.bid_all(found)
    town.clock.advance(60)
    monkeypatch.setattr(pdqs.Terms, "canonical", lambda _self: '{"another":"form"}')
    with pytest.raises(InvariantError, match="not those frozen"):
        round_steps.clear_round(town.market, town.operator, found.round_id)


def test_lists_of_rounds_come_newest_first_and_page_by_page(town: Town) -> None:
    made = []
    for i in range(5):
        town.clock.advance(1)
        made.append(round_steps.draft_round(town.market, town.consumer, plan(), f"draft-no-{i}").round_id)
    first = reads.rounds_page(town.market, town.consumer, None, None, 3)
    rest = reads.rounds_page(town.market, town.operator, "draft", first.next, 3)
    assert [found.round_id for found in [*first.items, *rest.items]] == made[::-1]
    assert rest.next is None
    with pytest.raises(MarketError, match="page before"):
        reads.rounds_page(town.market, town.consumer, None, "nonsense", 3)


def test_a_forecast_says_what_the_core_plans(town: Town) -> None:
    from pdqs.protocol.forecasts import ForecastRequest

    found = forecasting.forecast(town.market, town.consumer, ForecastRequest(plan=plan(), owners=200))
    assert found.half_width == pytest.approx(pdqs.plan(terms_of(plan()), owners=200).half_width)
    widths = [point.half_width for point in found.curve if point.half_width is not None]
    assert widths == sorted(widths, reverse=True)


def test_there_is_no_answer_before_the_end(town: Town) -> None:
    found = town.open_round()
    with pytest.raises(NotFoundError, match="no answer yet"):
        _answer(town, found)


def _answer(town: Town, found: Any) -> Any:
    return reads.answer(town.market, town.consumer, found.round_id)


def test_offers_beyond_the_budget_are_not_made(town: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    town.add_owners(3)
    found = town.open_round()
    town.bid_all(found)
    town.clock.advance(60)

    def generous(*given: Any) -> Cleared:
        honest = cleared(*given)
        return replace(honest, offers=replace(honest.offers, payment_micros=np.full(3, 10**7)))

    monkeypatch.setattr(clearing_ahead, "cleared", generous)
    with pytest.raises(InvariantError, match="more than the budget"):
        round_steps.clear_round(town.market, town.operator, found.round_id)
    assert reads.round_by_id(town.market, town.operator, found.round_id).state == "open"


def test_a_settlement_entered_before_is_not_entered_again(town: Town) -> None:
    town.add_owners(3)
    found = town.cleared_round()
    for owner in town.asked(found):
        town.report(owner, found, 1)
    round_steps.settle_round(town.market, town.consumer, found.round_id)
    with town.market.store.write() as connection:  # a state that forgets what the books know
        connection.execute(rounds.update().where(rounds.c.round_id == found.round_id).values(state="reporting"))
    with pytest.raises(InvariantError, match="entered before"):
        round_steps.settle_round(town.market, town.consumer, found.round_id)
    assert town.balanced()


def _one_that_cannot_go_on(town: Town) -> tuple[Round, Round]:
    """Two rounds whose bids are in and whose time has come; the first one's terms are not those frozen."""
    town.add_owners(3)
    stuck, sound = town.open_round("the-first-round"), town.open_round("the-other-round")
    for found in (stuck, sound):
        town.bid_all(found)
    with town.market.store.write() as connection:
        connection.execute(rounds.update().where(rounds.c.round_id == stuck.round_id).values(terms_hash="0" * 64))
    town.clock.advance(60)
    return stuck, sound


def test_a_round_that_cannot_go_on_does_not_stop_the_others(town: Town) -> None:
    stuck, sound = _one_that_cannot_go_on(town)
    assert round_steps.advance_due(town.market) == [sound.round_id]
    noted = town.market.stuck[stuck.round_id]
    assert (noted.kind, noted.since_ms) == ("InvariantError", town.clock())
    assert "not those frozen" in noted.reason
    town.clock.advance(1)
    assert round_steps.advance_due(town.market) == []
    assert town.market.stuck == {stuck.round_id: noted}  # since the first time
    round_steps.cancel_round(town.market, town.operator, stuck.round_id)
    round_steps.advance_due(town.market)
    assert town.market.stuck == {}
    assert town.balanced()


def test_the_reason_of_a_stuck_round_quotes_nothing_that_someone_sent(
    town: Town, monkeypatch: pytest.MonkeyPatch
) -> None:
    town.add_owners(3)
    found = town.open_round()
    town.bid_all(found)
    town.clock.advance(60)

    def failing(*_given: Any) -> Any:
        raise InputError("row 2, column 'bid': 987654321 is not a bid")

    monkeypatch.setattr(clearing_ahead, "cleared", failing)
    assert round_steps.advance_due(town.market) == []
    assert "987654321" not in repr(town.market.stuck)


def test_a_round_that_cannot_go_on_is_logged_by_its_id_and_counted(
    town: Town, caplog: pytest.LogCaptureFixture
) -> None:
    stuck, sound = _one_that_cannot_go_on(town)
    with caplog.at_level("INFO", logger="pdqs.market"):
        keep_deadlines(town.market)
    lines = [json.loads(record.message) for record in caplog.records]
    assert [(line["event"], line["round"]) for line in lines] == [
        ("advanced", sound.round_id),
        ("advance-failed", stuck.round_id),
    ]
    assert last_tick(town.market).failures == 1
