"""A token or session that is ended by one process is refused at once by every other, on one database."""

from __future__ import annotations

import asyncio
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import pytest
from sqlalchemy import delete, select

from market.fuzz.asking import Asked, ask
from market.meanwhile import began
from market.test_bids_together import UNLIMITED, kept, message, put
from market.test_commands_of_the_shell import PDQS
from market.test_revocation import calling, ended, meeting
from market.town import Town, contents
from pdqs.market import Market, Settings, access, bidding, people, round_steps
from pdqs.market.bids_together import first_bid, keep_together
from pdqs.market.http.app import create_app
from pdqs.market.revocation import sign_in_of
from pdqs.market.store import migrate
from pdqs.market.store.schema import bids, reports, tokens
from pdqs.protocol.device_messages import Bid, Report
from pdqs.protocol.market_messages import NewUser, Round, User
from pdqs.protocol.problems import UnauthorizedError


@dataclass(frozen=True)
class Process:
    """Another process of a town's market: a server with connections of its own."""

    app: Any

    @property
    def market(self) -> Market:
        found = self.app.state.market
        assert isinstance(found, Market)
        return found

    def says(self, *asked: Asked) -> list[int]:
        """How it answers, one after the other."""

        async def each() -> list[int]:
            return [(await ask(self.app, one)).status for one in asked]

        return asyncio.run(each())


@pytest.fixture
def elsewhere(either_town: Town) -> Iterator[Process]:
    with another_process(either_town) as other:
        yield other


@contextmanager
def another_process(town: Town) -> Iterator[Process]:
    url = town.market.store.engine.url.render_as_string(hide_password=False)
    usual: dict[str, Any] = {"database_url": url, "least_budget": 1e-6, "least_report_seconds": 1, **UNLIMITED}
    other = Process(create_app(Settings(**usual), town.clock, ticking=False))
    yield other
    other.market.store.close()


def asking(token: str, method: str, path: str, body: str = "") -> Asked:
    headers = {"authorization": f"Bearer {token}".encode(), "content-type": b"application/json"}
    return Asked(
        method=method,
        path=f"/v1{path}",
        headers={**headers, "idempotency-key": b"a-key-of-a-test"},
        body=body.encode(),
    )


def report_of(token: str, found: Round) -> Asked:
    body = Report(terms_hash=found.terms_hash or "", code=0).model_dump_json()
    return asking(token, "PUT", f"/rounds/{found.round_id}/report", body)


def in_a_round(town: Town) -> tuple[Round, Round, list[User], list[User]]:
    """A round to report in and one to bid in; two who are asked to report, and two who have not bid."""
    town.add_owners(8)
    reporting = town.cleared_round()
    asked = town.asked(reporting)[:2]
    return reporting, town.open_round("to-bid-in", bid_seconds=600), asked, town.add_owners(2)


@pytest.mark.parametrize("how", ["revoked", "disabled", "this one"])
def test_nobody_bids_reports_or_reads_by_a_token_that_another_process_ended(
    either_town: Town, elsewhere: Process, how: str
) -> None:
    town, other = either_town, elsewhere
    reporting, found, asked, late = in_a_round(town)
    hers = [access.issue_token(town.market, owner) for owner in (*late, *asked)]
    assert other.says(*(asking(token, "GET", "/me") for token in hers)) == [200] * 4
    assert other.says(put(hers[0], found, 5), report_of(hers[2], reporting)) == [200, 200], "as long as they are in"
    assert access.known_user(other.market, hers[1]) is not None, "it was looked up there a moment ago"
    for owner in (late[1], asked[1]):
        ended(town, owner, how)
    before = contents(town)
    assert (
        other.says(
            put(hers[1], found, 5),
            report_of(hers[3], reporting),
            asking(hers[1], "GET", "/me"),
            asking(hers[3], "GET", f"/rounds/{reporting.round_id}/offer"),
            asking(hers[3], "DELETE", f"/rounds/{reporting.round_id}/bid"),
            put(hers[1], found.model_copy(update={"round_id": "r_" + "0" * 24}), 5),
        )
        == [401] * 6
    )
    assert contents(town) == before


def test_an_operator_whom_another_process_shut_out_does_and_reads_nothing(
    either_town: Town, elsewhere: Process
) -> None:
    town, other = either_town, elsewhere
    new = NewUser(role="operator", name="a second one")
    second = people.register_user(town.market, town.operator, new, "second-operator").user
    token = access.issue_token(town.market, second)
    gift = f'{{"user_id": "{town.consumer.user_id}", "amount_micros": 5}}'
    deeds = [asking(token, "POST", "/deposits", gift), asking(token, "GET", "/trial-balance")]
    assert other.says(*deeds) == [200, 200]
    people.disable_user(town.market, town.operator, second.user_id)
    before = contents(town)
    assert other.says(*deeds) == [401, 401]
    assert contents(town) == before


def test_a_command_in_a_process_of_its_own_ends_what_a_server_of_the_file_knows(town: Town) -> None:
    """SQLite has one server; whoever sits at the machine has commands beside it."""
    (ann,) = town.add_owners(1)
    found, token = town.open_round(), access.issue_token(town.market, ann)
    url = town.market.store.engine.url.render_as_string(hide_password=False)
    town.market.store.close()  # a process that opens the file twice loses SQLite's locks on it; a server opens it once
    with another_process(town) as server:
        asked = [asking(token, "GET", "/me"), put(token, found, 5)]
        assert server.says(asked[0]) == [200]
        words = [*PDQS, "market", "restored", "--yes", "--while-served", "--database", url]
        done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=120)
        assert done.returncode == 0, done.stderr
        assert server.says(*asked) == [401, 401]
    assert kept(town, found) == {}


WRITES: dict[str, Callable[[Market, User, Round, Round], object]] = {
    "a bid": lambda market, actor, _, found: bidding.place_bid(market, actor, found.round_id, message(found, 5)),
    "a change": lambda market, actor, _, found: bidding.place_bid(
        market, actor, found.round_id, Bid(terms_hash=found.terms_hash or "", bid_micros=6, replaces=1)
    ),
    "a withdrawal": lambda market, actor, _, found: bidding.withdraw_bid(market, actor, found.round_id),
    "a report": lambda market, actor, reporting, _: bidding.submit_report(
        market, actor, reporting.round_id, Report(terms_hash=reporting.terms_hash or "", code=0)
    ),
}


@pytest.mark.parametrize("by", ["token", "session"])
def test_what_was_on_its_way_when_the_sign_in_ended_is_refused_in_its_own_transaction(
    either_town: Town, by: str
) -> None:
    """Who she is was looked up before, and what she asks begins only now."""
    town = either_town
    reporting, found, (ann, _), _ = in_a_round(town)
    hers = calling(town.market, ann, by)
    bidding.promise_of(town.market, found.round_id)
    batch = first_bid(town.market, hers, found.round_id, message(found, 5), None)
    people.revoke_all(town.market, town.operator, ann.user_id)
    before = contents(town)
    assert batch is None or keep_together(town.market, [batch]) == [0]
    for what, write in WRITES.items():
        with pytest.raises(UnauthorizedError):
            pytest.fail(f"{what}: {write(town.market, hers, reporting, found)}")
    assert contents(town) == before


@pytest.mark.parametrize("by", ["token", "session"])
def test_in_a_batch_whoever_is_still_in_is_kept_and_whoever_is_not_is_left_out(either_town: Town, by: str) -> None:
    town = either_town
    owners, found = town.add_owners(3), town.open_round()
    bidding.place_bid(town.market, owners[2], found.round_id, message(found, 1))  # its terms are known from here on
    hers = [calling(town.market, owner, by) for owner in owners[:2]]
    batch = [first_bid(town.market, one, found.round_id, message(found, 5), None) for one in hers]
    people.revoke_all(town.market, town.operator, owners[0].user_id)
    assert keep_together(town.market, [one for one in batch if one]) == [0, town.clock()]


def test_nobody_bids_with_a_token_of_somebody_else(either_town: Town) -> None:
    town = either_town
    ann, bea = town.add_owners(2)
    found = town.open_round()
    hers = calling(town.market, ann, "token")
    bidding.place_bid(town.market, hers, found.round_id, message(found, 1))
    batch = first_bid(town.market, hers, found.round_id, message(found, 5), None)
    assert batch is not None
    assert keep_together(town.market, [replace(batch, owner_id=bea.user_id)]) == [0]


def test_an_end_waits_for_a_batch_that_is_being_kept_and_a_batch_for_no_end(far_town: Town) -> None:
    """So a bid is there before the end is, or is not kept at all."""
    town = far_town
    ann, bea = town.add_owners(2)
    found = town.open_round()
    one, two = calling(town.market, ann, "token"), calling(town.market, bea, "token")
    parts = {"round": found.round_id, "bid": 5, "now": town.clock(), "after": 0}

    def asked(who: User) -> dict[str, object]:
        return {**parts, "owner": who.user_id, "came_by": sign_in_of(who)}

    call = "SELECT keep_bid_if_open(%(round)s, %(owner)s, %(bid)s, %(now)s, %(after)s, %(came_by)s)"
    with town.market.store.write() as connection:
        assert connection.exec_driver_sql(call, asked(one)).scalar()
        ending, came = began(lambda: people.revoke_all(town.market, town.operator, ann.user_id))
        ending.join(0.3)
        assert not came, "it did not wait"
    ending.join(30)
    assert isinstance(came[0], User)
    with town.market.store.write() as connection:
        connection.execute(delete(tokens).where(tokens.c.user_id == bea.user_id))  # an end that is under way
        with town.market.store.write() as another:
            assert not another.exec_driver_sql(call, asked(two)).scalar()
    assert kept(town, found) == {ann.user_id: 5}


@pytest.mark.parametrize("first", ["the write", "the end"])
@pytest.mark.parametrize("what", ["a bid", "a report"])
def test_of_a_write_and_an_end_at_the_same_moment_one_is_first(
    either_town: Town, monkeypatch: pytest.MonkeyPatch, what: str, first: str
) -> None:
    town = either_town
    reporting, found, (asked, _), (late, _) = in_a_round(town)
    whose = asked if what == "a report" else late
    hers = calling(town.market, whose, "token")
    place = (bidding, "keep_if_open" if what == "a bid" else "_keep_report")

    def write() -> object:
        return WRITES[what](town.market, hers, reporting, found)

    def end() -> object:
        return people.revoke_all(town.market, town.operator, whose.user_id)

    if first == "the write":
        done, then = meeting(monkeypatch, place, write, end)
        assert (isinstance(done, Exception), isinstance(then, Exception)) == (False, False)
    else:
        done, refused = meeting(monkeypatch, (access, "end_all"), end, write)
        assert not isinstance(done, Exception)
        assert isinstance(refused, UnauthorizedError)
    table = bids if what == "a bid" else reports
    with town.market.store.read() as connection:
        made = connection.execute(select(table).where(table.c.owner_id == whose.user_id)).all()
    assert len(made) == (first == "the write")


def test_who_bids_and_who_ends_never_wait_for_each_other_in_a_circle(far_town: Town) -> None:
    """Sixteen turns at once: every bid is kept or refused in words, every end is one, and nothing is left waiting."""
    town = far_town
    owners, found = town.add_owners(16), town.open_round()
    hers = [calling(town.market, owner, "token") for owner in owners]
    came: list[list[object]] = []
    threads: list[threading.Thread] = []
    for one in hers:
        for act in (
            lambda one=one: bidding.place_bid(town.market, one, found.round_id, message(found, 5)),
            lambda one=one: people.revoke_all(town.market, one, one.user_id),
        ):
            thread, answer = began(act)
            threads.append(thread)
            came.append(answer)
    for thread in threads:
        thread.join(60)
    said = [answer[0] for answer in came]
    assert [type(one) for one in said if isinstance(one, Exception) and not isinstance(one, UnauthorizedError)] == []
    bidders = {one.user_id for one, answer in zip(hers, said[::2], strict=True) if not isinstance(answer, Exception)}
    assert set(kept(town, found)) == bidders


def test_a_market_can_go_back_to_bids_on_trust_and_forth_again(far_town: Town) -> None:
    town = far_town
    migrate.downgrade(town.market.store, "0018")
    migrate.upgrade(town.market.store)
    (ann,) = town.add_owners(1)
    found = town.open_round()
    hers = calling(town.market, ann, "token")
    bidding.promise_of(town.market, found.round_id)
    round_steps.place_bid(town.market, hers, found.round_id, message(found, 5))
    assert kept(town, found) == {ann.user_id: 5}
