"""A whole round over HTTP, with owners' own devices, on both databases."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import pdqs
from market.town import FakeClock, plan
from pdqs.market import Settings
from pdqs.market.client import MarketClient
from pdqs.market.http.app import create_app
from pdqs.market.http.serving import served
from pdqs.market.round_steps import first_operator
from pdqs.owner.client import OwnerClient
from pdqs.owner.ledger import Ledger
from pdqs.owner.own_proof import proof_of
from pdqs.owner.review import Device
from pdqs.owner.visit import Visit
from pdqs.protocol.problems import ConflictError, UnauthorizedError


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def operator(database_url: str, clock: FakeClock) -> Iterator[MarketClient]:
    """A served market, as its operator sees it."""
    app = create_app(Settings(database_url=database_url), clock, ticking=False)
    with served(app) as address, MarketClient.enter(address, first_operator(app.state.market).code) as client:
        yield client


def _enter(operator: MarketClient, role: str, name: str) -> MarketClient:
    return MarketClient.enter(operator.address, operator.invite(role, name).code)  # type: ignore[arg-type]


def test_a_round_over_http_ends_with_an_answer_and_balances_that_add_up(
    operator: MarketClient, clock: FakeClock, tmp_path: Path
) -> None:
    address = operator.address.rstrip("/")
    with _enter(operator, "consumer", "consumer") as consumer:
        operator.deposit(consumer.me().user.user_id, 30_000_000)
        draft = consumer.draft(plan(budget_micros=1_000_000))
        found = consumer.open(consumer.change_draft(draft.round_id, plan()).round_id)
        owners = []
        for i in range(12):
            with OwnerClient(address) as stranger:
                token = stranger.redeem(operator.invite("owner", f"owner {i}").code)
            device = Device(market=address, ledger=Ledger(tmp_path / f"{i}.db"))
            owners.append(Visit(device=device, client=OwnerClient(address, token), clock=clock))
        for i, owner in enumerate(owners):
            (notice,) = owner.client.notices()
            owner.bid(notice.round_id, 999_999)
            if i % 2:
                owner.withdraw_bid(notice.round_id)
            owner.name_price(notice.round_id, 30_000 * i)
        clock.advance(60)
        cleared = consumer.clear(found.round_id)
        earned = 0
        for i, owner in enumerate(owners):
            review = owner.review(found.round_id)
            if review.offer.q_numerator:
                earned += owner.send(owner.draw(review, i % 2, agreed=review.asks)).payment_micros
        settled = consumer.settle(found.round_id)
        answer = consumer.answer(found.round_id)
        assert (settled.state, settled.reports) == ("settled", cleared.offers)
        assert settled.paid_micros == earned == cleared.committed_micros <= found.plan.budget_micros
        assert consumer.me().balance_micros == 30_000_000 - earned
        assert sum(owner.client.account().balance_micros for owner in owners) == earned
        assert operator.trial_balance().balanced
        assert answer.interval[0][0] <= answer.values[0] <= answer.interval[0][1]
        for owner in owners:
            owner.settle_up(owner.client.notice(found.round_id))
        made = [owner.stored(found.round_id) for owner in owners]
        assert {report.facts for report in made if report} == {"drawn, sent, accepted, paid"}
        record = consumer.record(found.round_id)
        assert settled.bids_root is not None
        for owner in owners:
            assert owner.client.record(found.round_id) == record
            proof = proof_of(owner.device.ledger.account(), address, found.round_id)
            checked = pdqs.verify(record, root=settled.bids_root.root, proof=proof)
            assert {each.verdict for each in checked.findings} == {"held"}, repr(checked)
    for owner in owners:
        owner.client.close()
        owner.device.ledger.close()


def test_a_code_works_once_and_a_new_token_voids_the_old(operator: MarketClient) -> None:
    invitation = operator.invite("owner", "someone")
    address = operator.address
    with MarketClient.enter(address, invitation.code) as first:
        assert first.me().user.name == "someone"
        with pytest.raises(UnauthorizedError, match="one-time code"):
            MarketClient.enter(address, invitation.code)
        MarketClient.enter(address, operator.renew_code(invitation.user.user_id).code).close()
        with pytest.raises(UnauthorizedError, match="a newer one was made"):
            first.me()


def test_errors_come_back_as_what_they_were(operator: MarketClient) -> None:
    with _enter(operator, "consumer", "poor") as consumer:
        draft = consumer.draft(plan(), key="one-and-the-same")
        assert consumer.draft(plan(), key="one-and-the-same") == draft
        with pytest.raises(ConflictError, match="used before") as reused:
            consumer.draft(plan(budget_micros=5_000_000), key="one-and-the-same")
        assert reused.value.type == "idempotency-key-reused"
        with pytest.raises(ConflictError) as poor:
            consumer.open(draft.round_id)
        assert poor.value.type == "insufficient-funds"
