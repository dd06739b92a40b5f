"""Draws that nobody chooses: committed to at the opening, the bids' root published first, then told and checkable."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from market.town import Town
from pdqs.market import offer_access, reads, round_steps
from pdqs.market.lots import NONCE_SECONDS
from pdqs.market.store import migrate
from pdqs.market.store.schema import offers as offer_rows
from pdqs.market.store.schema import rounds
from pdqs.owner.price import least_payment_micros
from pdqs.protocol.device_messages import Offer
from pdqs.protocol.market_messages import NonceReveal, Round
from pdqs.protocol.problems import ConflictError, UnprocessableError
from pdqs.protocol.receipts import is_signed
from pdqs.rounds.commitments import bid_entry, commitment_to, pseudonym_of
from pdqs.rounds.merkle import InclusionProof, is_included

NONCE = bytes(range(32))
OTHER = bytes(32)


def document(town: Town, found: Round) -> dict[str, Any]:
    read: dict[str, Any] = json.loads(reads.notice(town.market, town.owners[0], found.round_id).terms)
    return read


def told(town: Town, found: Round) -> list[Offer]:
    return [offer_access.offer(town.market, owner, found.round_id) for owner in town.owners]


def closed(town: Town, **changes: Any) -> Round:
    """A round that everyone bid in, at the moment when bids close; its consumer holds the nonce."""
    town.add_owners(30)
    found = town.open_round(nonce_hash=commitment_to("nonce", NONCE), **changes)
    town.bid_all(found)
    town.clock.advance(found.plan.bid_seconds)
    return found


def test_the_terms_are_committed_to_the_seed_and_the_nonce_that_are_told_later(either_town: Town) -> None:
    town = either_town
    town.add_owners(30)
    opened = town.open_round()
    assert (opened.seed, opened.nonce, opened.bids_root, opened.nonce_by) == (None, None, None, "market")
    town.bid_all(opened)
    town.clock.advance(60)
    found = round_steps.clear_round(town.market, town.consumer, opened.round_id)
    assert found.seed is not None
    assert found.nonce is not None
    frozen = document(town, found)
    assert frozen["seed_hash"] == commitment_to("seed", bytes.fromhex(found.seed))
    assert frozen["nonce_hash"] == commitment_to("nonce", bytes.fromhex(found.nonce))
    assert (frozen["nonce_by"], frozen["nonce_seconds"]) == ("market", NONCE_SECONDS)


def test_every_owner_can_prove_that_her_bid_was_counted_and_nobody_can_prove_another(town: Town) -> None:
    town.add_owners(13)
    found = town.cleared_round()
    assert found.bids_root is not None
    assert found.bids_root == reads.notice(town.market, town.owners[0], found.round_id).bids_root
    assert is_signed(document(town, found)["receipt_key"], found.bids_root)
    assert found.bids_root.bids == 13
    for owner, offer in zip(town.owners, told(town, found), strict=True):
        assert offer.lots is not None
        bid = offer_access.bid(town.market, owner, found.round_id).bid_micros
        path = tuple(bytes.fromhex(beside) for beside in offer.lots.path)
        proof = InclusionProof(place=offer.lots.place, leaves=13, path=path)
        name, root = pseudonym_of(found.round_id, owner.user_id), bytes.fromhex(found.bids_root.root)
        assert is_included(bid_entry(name, bid), proof, root)
        assert not is_included(bid_entry(name, bid + 1), proof, root)


def test_an_owner_is_asked_if_and_only_if_her_draw_is_below_her_chance(town: Town) -> None:
    town.add_owners(60)
    found = town.cleared_round()
    offers = told(town, found)
    assert [offer.q_numerator > 0 for offer in offers] == [offer.draw < offer.chance_numerator for offer in offers]
    assert np.array_equal([offer.draw for offer in offers], town.draws(found))
    assert 0 < found.offers < 60


def test_the_posted_price_is_what_the_asked_are_paid_and_less_than_the_others_price(town: Town) -> None:
    town.add_owners(60)
    found = town.cleared_round()
    most = max(offer.q_numerator for offer in told(town, found))
    for owner, offer in zip(town.owners, told(town, found), strict=True):
        assert offer.posted_micros is not None
        if offer.q_numerator:
            assert offer.posted_micros == offer.payment_micros
        else:
            bid = offer_access.bid(town.market, owner, found.round_id).bid_micros
            assert offer.posted_micros < least_payment_micros(bid, most, 2)


def test_the_root_is_published_before_the_nonce_is_asked_for(either_town: Town) -> None:
    found = closed(either_town)
    waiting = round_steps.clear_round(either_town.market, either_town.operator, found.round_id)
    assert (waiting.state, waiting.seed, waiting.nonce, waiting.nonce_by) == ("open", None, None, "consumer")
    assert waiting.bids_root is not None
    assert round_steps.advance_due(either_town.market) == []  # it waits, and is not stuck
    assert either_town.market.stuck == {}
    told_now = round_steps.reveal_nonce(
        either_town.market, either_town.consumer, found.round_id, NonceReveal(nonce=NONCE.hex())
    )
    assert (told_now.state, told_now.nonce, told_now.bids_root) == ("reporting", NONCE.hex(), waiting.bids_root)
    again = round_steps.reveal_nonce(
        either_town.market, either_town.consumer, found.round_id, NonceReveal(nonce=NONCE.hex())
    )
    assert again == told_now


def test_the_consumers_nonce_decides_the_draws(town: Town) -> None:
    found = closed(town)
    cleared = round_steps.reveal_nonce(town.market, town.consumer, found.round_id, NonceReveal(nonce=NONCE.hex()))
    assert [offer.draw for offer in told(town, found)] == town.draws(cleared).tolist()
    assert not np.array_equal(town.draws(cleared), town.draws(cleared.model_copy(update={"nonce": OTHER.hex()})))


@pytest.mark.parametrize("copied", ["seed_hash", "nonce_hash"])
@pytest.mark.parametrize("nonce_hash", [None, commitment_to("nonce", NONCE)], ids=["the market's", "the consumer's"])
def test_what_another_round_is_committed_to_is_named_by_no_second(
    either_town: Town, nonce_hash: str | None, copied: str
) -> None:
    """It is public, and devices of owners who bid in the copy first would refuse the round that it was copied from."""
    town = either_town
    town.add_owners(2)
    first = document(town, town.open_round(nonce_hash=nonce_hash))
    before = town.balance(town.consumer)
    with pytest.raises(UnprocessableError, match="another round is committed to already"):
        town.open_round("a-copy", nonce_hash=first[copied])
    assert town.balance(town.consumer) == before
    town.open_round("no-copy", nonce_hash=commitment_to("nonce", OTHER))


def test_another_nonce_than_the_one_promised_is_refused(town: Town) -> None:
    found = closed(town)
    with pytest.raises(UnprocessableError, match="not the nonce"):
        round_steps.reveal_nonce(town.market, town.consumer, found.round_id, NonceReveal(nonce=OTHER.hex()))
    assert reads.round_by_id(town.market, town.consumer, found.round_id).state == "open"


def test_a_nonce_is_not_taken_before_bids_close_nor_where_the_market_drew_it(town: Town) -> None:
    early = town.open_round(nonce_hash=commitment_to("nonce", NONCE))
    with pytest.raises(ConflictError, match="bids close"):
        round_steps.reveal_nonce(town.market, town.consumer, early.round_id, NonceReveal(nonce=NONCE.hex()))
    town.add_owners(5)
    found = town.cleared_round(key="a-round-of-the-market")
    with pytest.raises(ConflictError, match="waits for no nonce"):
        round_steps.reveal_nonce(town.market, town.consumer, found.round_id, NonceReveal(nonce=NONCE.hex()))


def test_a_nonce_that_is_not_told_in_time_calls_the_round_off_with_the_money_back(town: Town) -> None:
    found = closed(town)
    round_steps.advance_due(town.market)
    town.clock.advance(NONCE_SECONDS - 1)
    assert round_steps.advance_due(town.market) == []
    town.clock.advance(1)
    with pytest.raises(ConflictError, match="had to be told"):
        round_steps.reveal_nonce(town.market, town.consumer, found.round_id, NonceReveal(nonce=NONCE.hex()))
    assert round_steps.advance_due(town.market) == [found.round_id]
    ended = reads.round_by_id(town.market, town.consumer, found.round_id)
    assert (ended.state, ended.reason) == ("cancelled", "its consumer did not tell her nonce in time")
    assert town.balance(town.consumer) == 100_000_000
    assert town.balanced()


def test_no_bid_comes_in_once_the_root_is_published_though_the_clock_goes_back(town: Town) -> None:
    found = closed(town)
    round_steps.close_bids(town.market, town.operator, found.round_id)
    town.clock.advance(-30)
    (late,) = town.add_owners(1)
    with pytest.raises(ConflictError, match="closed"):
        town.bid(late, found, 1)


def test_reports_are_missing_among_those_asked_alone(town: Town) -> None:
    town.add_owners(60)
    found = town.cleared_round()
    for owner in town.asked(found)[:-2]:
        town.report(owner, found, 1)
    town.clock.advance(60)
    round_steps.settle_round(town.market, town.consumer, found.round_id)
    answer = reads.answer(town.market, town.consumer, found.round_id)
    assert (answer.asked, answer.reports) == (found.offers, found.offers - 2)
    assert any(f"2 of {found.offers} reports are missing" in warning for warning in answer.warnings)


def test_a_round_opened_before_there_were_draws_is_still_cleared_and_settled(town: Town) -> None:
    """As the migration leaves it: neither seed nor nonce, and terms that say nothing of them."""
    town.add_owners(20)
    plain: dict[str, Any] = {"rule": "optimal", "estimator": "weighted", "epsilon_max": 4.0}
    found = town.open_round(**plain)
    old = {name: value for name, value in document(town, found).items() if "nonce" not in name and name != "seed_hash"}
    text = json.dumps(old, sort_keys=True, separators=(",", ":"))
    import hashlib

    change = {"terms": text, "terms_hash": hashlib.sha256(text.encode()).hexdigest(), "seed": None, "nonce": None}
    with town.market.store.write() as connection:
        connection.execute(rounds.update().where(rounds.c.round_id == found.round_id).values(**change))
    found = reads.round_by_id(town.market, town.consumer, found.round_id)
    town.bid_all(found)
    town.clock.advance(60)
    cleared = round_steps.clear_round(town.market, town.consumer, found.round_id)
    assert (cleared.state, cleared.bids_root, cleared.nonce_by) == ("reporting", None, None)
    assert {offer.chance_numerator for offer in told(town, found)} == {2**32}
    assert {offer.lots for offer in told(town, found)} == {None}
    for owner in town.asked(found):
        town.report(owner, found, 1)
    assert round_steps.settle_round(town.market, town.consumer, found.round_id).state == "settled"


def test_offers_made_before_the_migration_read_as_certain(either_town: Town) -> None:
    town = either_town
    town.add_owners(5)
    found = town.cleared_round(rule="optimal", estimator="weighted")
    migrate.downgrade(town.market.store, "0004")
    migrate.upgrade(town.market.store)
    with town.market.store.read() as connection:
        rows = connection.execute(offer_rows.select()).all()
    assert {(row.chance_numerator, row.draw, row.posted_micros) for row in rows} == {(2**32, 0, None)}
    assert all(offer.lots is None for offer in told(town, found))
