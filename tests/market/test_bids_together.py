"""Bids that come at the same moment are kept together, and each is taken or refused as it would be by itself."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pytest
from sqlalchemy import event, func, select, update
from sqlalchemy.exc import OperationalError

from market.fuzz.asking import Answer, Asked, ask
from market.town import Town
from pdqs.market import Market, Settings, access, bidding, bids_together, own_data
from pdqs.market.api_tokens import users_of_tokens
from pdqs.market.bids_together import FirstBid, first_bid, keep_together
from pdqs.market.http.app import create_app
from pdqs.market.store.schema import bids, rounds, tokens
from pdqs.market.withdrawals import ANY_TIME, hold_turn
from pdqs.protocol.device_messages import Bid, BidReceipt, Withdrawal
from pdqs.protocol.market_messages import Round, User
from pdqs.protocol.own_data import Erasure
from pdqs.protocol.problems import ConflictError, ForbiddenError, MarketError, UnauthorizedError

CROWD = 30
UNLIMITED = {"caller_rate": 1e9, "caller_burst": 1e9, "address_rate": 1e9, "address_burst": 1e9}


@contextmanager
def said_to_the_database(town: Town) -> Iterator[list[str]]:
    """Every statement, and every end of a transaction."""
    said: list[str] = []
    engine = town.market.store.engine

    def heard(_connection: object, _cursor: object, statement: str, *_rest: object) -> None:
        said.append(statement)

    def ended(_connection: object) -> None:
        said.append("COMMIT")

    event.listen(engine, "before_cursor_execute", heard)
    event.listen(engine, "commit", ended)
    try:
        yield said
    finally:
        event.remove(engine, "before_cursor_execute", heard)
        event.remove(engine, "commit", ended)


def message(found: Round, price: int) -> Bid:
    return Bid(terms_hash=found.terms_hash or "", bid_micros=price)


def first(owner: User, found: Round, price: int = 5, after: int = 0) -> FirstBid:
    return FirstBid(round_id=found.round_id, owner_id=owner.user_id, bid_micros=price, after_ms=after)


def kept(town: Town, found: Round) -> dict[str, int]:
    with town.market.store.read() as connection:
        wanted = select(bids.c.owner_id, bids.c.bid_micros).where(bids.c.round_id == found.round_id)
        return {row.owner_id: row.bid_micros for row in connection.execute(wanted)}


def test_a_crowd_is_kept_in_one_transaction(either_town: Town) -> None:
    town = either_town
    owners, found = town.add_owners(CROWD), town.open_round()
    with said_to_the_database(town) as said:
        placed = keep_together(town.market, [first(owner, found, i) for i, owner in enumerate(owners)])
    assert placed == [town.clock()] * CROWD
    assert kept(town, found) == {owner.user_id: i for i, owner in enumerate(owners)}
    if town.market.store.dialect == "postgresql":
        assert len(said) == 1
    else:
        assert (said[0], said.count("COMMIT")) == ("BEGIN IMMEDIATE", 1)


@pytest.mark.parametrize("withdrawn", [False, True])
@pytest.mark.parametrize("after", [0, ANY_TIME])
@pytest.mark.parametrize("late_ms", [-1, 0, 1])
@pytest.mark.parametrize("changed", [{}, {"state": "reporting"}, {"state": "cancelled"}, {"bids_root": "00" * 32}])
def test_the_function_of_the_database_decides_as_the_statement_does(
    far_town: Town, withdrawn: bool, after: int, late_ms: int, changed: dict[str, str]
) -> None:
    """Each is tried on the same state of the round, and what it did is undone."""
    town = far_town
    (ann,) = town.add_owners(1)
    found = town.open_round()
    if withdrawn:
        bidding.withdraw_bid(town.market, ann, found.round_id, 0)
    now = (found.bids_close_at_ms or 0) + late_ms
    one = bids_together._parameters(first(ann, found, after=after), now)
    call = "SELECT keep_bid_if_open(%(round)s, %(owner)s, %(bid)s, %(now)s, %(after)s, %(came_by)s)"
    decided = []
    with town.market.store.engine.connect() as connection:
        if changed:
            connection.execute(update(rounds).where(rounds.c.round_id == found.round_id).values(changed))
        for by_function in (True, False):
            undone = connection.begin_nested()
            decided.append(
                bool(connection.exec_driver_sql(call, one).scalar())
                if by_function
                else bidding.keep_if_open(connection, one)
            )
            undone.rollback()
        connection.rollback()
    expected = not changed and late_ms < 0 and not (withdrawn and after == 0)
    assert decided == [expected, expected]


def test_in_a_batch_each_is_judged_by_itself(either_town: Town) -> None:
    town = either_town
    ann, bea, cleo, dora = town.add_owners(4)
    found, over = town.open_round(), town.open_round("one-that-is-over", bid_seconds=30)
    bidding.withdraw_bid(town.market, cleo, found.round_id, 0)
    bidding.place_bid(town.market, dora, found.round_id, message(found, 3))
    town.clock.advance(40)
    batch = [
        first(ann, found),
        first(bea, over),
        first(cleo, found),
        first(dora, found),
        first(ann, found),
        first(bea, found),
    ]
    placed = keep_together(town.market, batch)
    assert [bool(at) for at in placed] == [True, False, False, False, False, True], "her twin is no second bid"
    assert kept(town, found) == {ann.user_id: 5, dora.user_id: 3, bea.user_id: 5}
    assert kept(town, over) == {}


def test_a_fault_of_one_keeps_nobody_and_is_nobody_elses_fault(either_town: Town) -> None:
    town = either_town
    ann, bea = town.add_owners(2)
    found = town.open_round()
    priceless: Any = None
    faulty = first(bea, found, priceless if town.market.store.dialect == "sqlite" else 2**63)
    assert keep_together(town.market, [first(ann, found), faulty]) == [0, 0]
    assert kept(town, found) == {}
    assert bidding.place_bid(town.market, ann, found.round_id, message(found, 5), 0).bid_micros == 5


def test_a_round_that_is_being_cleared_holds_up_no_bid_in_another(far_town: Town) -> None:
    town = far_town
    (ann,) = town.add_owners(1)
    found, other = town.open_round(), town.open_round("another-round-of-a-test")
    with town.market.store.write() as clearing:
        clearing.execute(select(rounds).where(rounds.c.round_id == found.round_id).with_for_update())
        placed = keep_together(town.market, [first(ann, found), first(ann, other)])
    assert [bool(at) for at in placed] == [False, True]


def test_a_withdrawal_waits_for_a_batch_and_a_batch_for_no_withdrawal(far_town: Town) -> None:
    town = far_town
    ann, bea = town.add_owners(2)
    found = town.open_round()
    came: list[object] = []
    withdrawing = threading.Thread(
        target=lambda: came.append(bidding.withdraw_bid(town.market, ann, found.round_id)), name="withdrawing"
    )
    with town.market.store.write() as connection:
        call = "SELECT keep_bid_if_open(%(round)s, %(owner)s, %(bid)s, %(now)s, %(after)s, %(came_by)s)"
        assert connection.exec_driver_sql(call, bids_together._parameters(first(ann, found), town.clock())).scalar()
        withdrawing.start()
        withdrawing.join(0.3)
        assert not came, "it did not wait"
    withdrawing.join(30)
    assert isinstance(came[0], Withdrawal)
    assert kept(town, found) == {}
    with town.market.store.write() as connection:
        hold_turn(connection, found.round_id, bea.user_id)  # another request of hers is under way
        assert keep_together(town.market, [first(bea, found), first(ann, found, after=ANY_TIME)])[0] == 0
    assert kept(town, found) == {ann.user_id: 5}


@pytest.mark.parametrize("held", ["UPDATE", "NO KEY UPDATE"])
def test_one_owner_whose_row_is_held_holds_up_nobody_else(far_town: Town, held: str) -> None:
    """By a report of hers that does not come to an end, say, or by somebody at a console."""
    town = far_town
    ann, bea = town.add_owners(2)
    found = town.open_round()
    done: list[list[int]] = []
    batch = threading.Thread(
        target=lambda: done.append(keep_together(town.market, [first(ann, found), first(bea, found)]))
    )
    with town.market.store.write() as connection:
        connection.exec_driver_sql(f"SELECT 1 FROM users WHERE user_id = %s FOR {held}", (ann.user_id,))
        batch.start()
        batch.join(20)
        assert done, "it waits"
    assert [bool(at) for at in done[0]] == [held == "NO KEY UPDATE", True]


def test_a_report_holds_an_owners_row_in_the_way_that_lets_her_bid(far_town: Town) -> None:
    town = far_town
    (ann,) = town.add_owners(1)
    found = town.open_round()
    with town.market.store.write() as connection:
        assert bidding._reports_made(connection, ann) == 0
        assert keep_together(town.market, [first(ann, found)]) == [town.clock()]


def test_looking_up_tokens_waits_for_no_row_and_notes_their_use_when_it_can(far_town: Town) -> None:
    town = far_town
    owners = town.add_owners(3)
    digests = [access.hashed(access.issue_token(town.market, owner)) for owner in owners]
    issued = town.clock()
    town.clock.advance(2 * 3600)
    found: list[object] = []
    looking = threading.Thread(target=lambda: found.append(users_of_tokens(town.market, [*digests, "no such hash"])))
    with town.market.store.write() as connection:
        connection.exec_driver_sql("SELECT 1 FROM tokens WHERE token_hash = %s FOR UPDATE", (digests[0],))
        looking.start()
        looking.join(20)
        assert found == [[*owners, None]], "it waits"
    with town.market.store.read() as connection:
        used = {row.token_hash: row.used_at_ms for row in connection.execute(select(tokens))}
    assert [used[digest] for digest in digests] == [issued, town.clock(), town.clock()]


def test_only_a_bid_that_needs_nothing_else_is_kept_with_others(town: Town) -> None:
    (ann,) = town.add_owners(1)
    found = town.open_round()
    assert first_bid(town.market, ann, found.round_id, message(found, 5), 0) is None, "its terms are not known here yet"
    bidding.place_bid(town.market, ann, found.round_id, message(found, 5))
    assert first_bid(town.market, ann, found.round_id, message(found, 5), None) == first(ann, found, after=ANY_TIME)
    change = Bid(terms_hash=found.terms_hash or "", bid_micros=6, replaces=town.clock())
    elsewhere = Bid(terms_hash="0" * 64, bid_micros=5)
    for odd in (change, elsewhere, message(found, 10**9)):
        assert first_bid(town.market, ann, found.round_id, odd, 0) is None
    with pytest.raises(ForbiddenError):
        first_bid(town.market, town.consumer, found.round_id, message(found, 5), 0)


def put(token: str, found: Round, price: int) -> Asked:
    headers = {"authorization": f"Bearer {token}".encode(), "content-type": b"application/json"}
    body = message(found, price).model_dump_json().encode()
    return Asked(
        method="PUT", path=f"/v1/rounds/{found.round_id}/bid", query=(("after", "0"),), headers=headers, body=body
    )


def answers(app: Any, asked: list[Asked]) -> list[Answer]:
    """All of them at once, in one event loop, as a server has it."""

    async def everyone() -> list[Answer]:
        return list(await asyncio.gather(*(ask(app, one) for one in asked)))

    return asyncio.run(everyone())


def test_a_crowd_at_the_door_gets_its_own_receipts(either_town: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    """Among them a twin, one with another price, and a stranger: each hears what she would by herself."""
    town = either_town
    owners, found = town.add_owners(CROWD), town.open_round()
    tokens = [access.issue_token(town.market, owner) for owner in owners]
    url = town.market.store.engine.url.render_as_string(hide_password=False)
    app = create_app(Settings(database_url=url, **UNLIMITED), town.clock, ticking=False)  # type: ignore[arg-type]
    sizes: list[int] = []

    def counted(market: Market, waiting: Sequence[FirstBid]) -> list[int]:
        sizes.append(len(waiting))
        return keep_together(market, waiting)

    monkeypatch.setattr("pdqs.market.http.together.keep_together", counted)
    try:
        assert answers(app, [put(tokens[0], found, 0)])[0].status == 200, "by itself, for its terms are new here"
        asked = [put(token, found, i) for i, token in enumerate(tokens)]
        strange = [put(tokens[1], found, 77), put("t" * 43, found, 5), put(tokens[2], found, 2)]
        came = answers(app, asked + strange)
    finally:
        app.state.market.store.close()
    assert [answer.status for answer in came[:CROWD]] == [200] * CROWD
    receipts = [BidReceipt.model_validate_json(answer.body) for answer in came[:CROWD]]
    assert [receipt.bid_micros for receipt in receipts] == list(range(CROWD))
    assert len({receipt.signature for receipt in receipts}) == CROWD
    assert [answer.status for answer in came[CROWD:]] == [409, 401, 200]
    assert came[-1].body == came[2].body, "a twin has the receipt of the first"
    assert kept(town, found) == {owner.user_id: i for i, owner in enumerate(owners)}
    assert max(sizes) > 1, "they were kept together"


def test_a_fault_while_tokens_are_looked_up_together_is_nobody_elses(
    either_town: Town, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The line of one look-up breaks: everyone who was in it is looked up by herself."""
    town = either_town
    owners, found = town.add_owners(5), town.open_round()
    tokens_of = [access.issue_token(town.market, owner) for owner in owners]
    faults: list[int] = []

    def broken(_market: Market, digests: Sequence[str]) -> list[User | None]:
        faults.append(len(digests))
        raise OperationalError("SELECT", {}, ConnectionError("the line broke"))

    monkeypatch.setattr("pdqs.market.http.together.users_of_tokens", broken)
    url = town.market.store.engine.url.render_as_string(hide_password=False)
    app = create_app(Settings(database_url=url, **UNLIMITED), town.clock, ticking=False)  # type: ignore[arg-type]
    try:
        came = answers(app, [put(token, found, i) for i, token in enumerate(tokens_of)])
    finally:
        app.state.market.store.close()
    assert [answer.status for answer in came] == [200] * 5
    assert faults


def test_every_bid_of_a_crowd_that_meets_the_close_is_kept_or_refused_and_not_both(either_town: Town) -> None:
    """While bids come in batches the round closes: an acknowledged bid is there, a refused one is not."""
    town = either_town
    owners, found = town.add_owners(4 * CROWD), town.open_round()
    told: dict[str, bool] = {}

    def batches(group: list[User]) -> None:
        for start in range(0, len(group), 5):
            some = group[start : start + 5]
            for owner, at in zip(some, keep_together(town.market, [first(one, found) for one in some]), strict=True):
                told[owner.user_id] = bool(at)

    groups = [owners[i::4] for i in range(4)]
    threads = [threading.Thread(target=batches, args=(group,)) for group in groups]
    for thread in threads[:2]:
        thread.start()
    town.clock.advance(found.plan.bid_seconds)
    for thread in threads[2:]:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert len(told) == len(owners)
    assert kept(town, found) == {owner: 5 for owner, was_kept in told.items() if was_kept}
    with town.market.store.read() as connection:
        late = select(func.count()).select_from(bids).where(bids.c.placed_at_ms >= found.bids_close_at_ms)
        assert connection.scalar(late) == 0


def placed(town: Town, owner: User, found: Round) -> bool:
    """Whether a bid was acknowledged, by itself."""
    try:
        bidding.place_bid(town.market, owner, found.round_id, message(found, 7))
    except MarketError:
        return False
    return True


def test_whoever_was_erased_bids_no_more_though_another_process_still_knows_her_token(either_town: Town) -> None:
    town = either_town
    town.add_owners(2)
    found = town.open_round()
    gone, stays = town.owners
    own_data.erase(town.market, gone, Erasure())
    kept = keep_together(town.market, [first(gone, found), first(stays, found)])
    assert [bool(at) for at in kept] == [False, True]
    with pytest.raises(UnauthorizedError):
        bidding.place_bid(town.market, gone, found.round_id, message(found, 7))


def test_a_bid_and_an_erasure_at_the_same_moment_are_never_both_acknowledged(far_town: Town) -> None:
    far_town.add_owners(40)
    found = far_town.open_round()
    both = 0
    for owner in far_town.owners:
        start, done = threading.Barrier(2), dict[str, bool]()

        def bid(owner: User = owner, start: threading.Barrier = start, done: dict[str, bool] = done) -> None:
            start.wait()
            done["bid"] = placed(far_town, owner, found)

        def erase(owner: User = owner, start: threading.Barrier = start, done: dict[str, bool] = done) -> None:
            start.wait()
            try:
                own_data.erase(far_town.market, owner, Erasure())
                done["erased"] = True
            except ConflictError:
                done["erased"] = False

        racing = [threading.Thread(target=step) for step in (bid, erase)]
        for thread in racing:
            thread.start()
        for thread in racing:
            thread.join()
        assert done["bid"] or done["erased"]
        both += done["bid"] and done["erased"]
    assert both == 0
