"""Signing in that lasts: sessions slide up to an end, each sign-in can be ended alone, and tokens have names."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from sqlalchemy import text

from market.town import Town, found_town
from pdqs.market import Settings, access, people, reads
from pdqs.market.api_tokens import MOST_TOKENS
from pdqs.market.client import MarketClient
from pdqs.market.http.app import create_app
from pdqs.market.http.serving import served
from pdqs.market.store import migrate
from pdqs.market.store.database import open_store
from pdqs.protocol.market_messages import User
from pdqs.protocol.problems import ConflictError, NotFoundError, UnauthorizedError

HOUR = 3600.0


def alive(look: Callable[[], object]) -> bool:
    try:
        look()
    except UnauthorizedError:
        return False
    return True


@pytest.mark.parametrize("role", ["consumer", "operator"])
def test_a_session_slides_while_it_is_used_and_ends_in_any_case(either_town: Town, role: str) -> None:
    town = either_town
    user: User = {"consumer": town.consumer, "operator": town.operator}[role]
    settings = town.market.settings
    whole = settings.session_hours if role == "consumer" else settings.operator_session_hours
    idle = min(settings.session_idle_hours, whole)
    session = access.start_session(town.market, user)
    step, passed = 0.9 * idle, 0.0
    while passed + step < whole:
        town.clock.advance(step * HOUR)
        passed += step
        assert alive(lambda: access.session_of(town.market, session.cookie)), "used before it idled out"
    town.clock.now_ms = session.expires_at_ms
    assert not alive(lambda: access.session_of(town.market, session.cookie))
    assert access.sign_ins(town.market, user).pages == []


def test_a_session_that_is_not_used_ends_after_the_idle_time_though_its_end_is_far(town: Town) -> None:
    session = access.start_session(town.market, town.consumer)
    town.clock.advance(town.market.settings.session_idle_hours * HOUR - 1)
    assert access.sign_ins(town.market, town.consumer).pages[0].ends_at_ms == town.clock() + 1000
    assert alive(lambda: access.session_of(town.market, session.cookie))
    town.clock.advance(town.market.settings.session_idle_hours * HOUR)
    assert town.clock() < session.expires_at_ms
    assert not alive(lambda: access.session_of(town.market, session.cookie))


def test_looking_while_the_database_is_being_written_waits_for_nobody(town: Town) -> None:
    session = access.start_session(town.market, town.consumer)
    town.clock.advance(HOUR)
    with town.market.store.write():
        assert access.session_of(town.market, session.cookie).user == town.consumer
    seen = access.sign_ins(town.market, town.consumer).pages[0].seen_at_ms
    assert seen < town.clock(), "the use was not noted then"
    access.session_of(town.market, session.cookie)
    assert access.sign_ins(town.market, town.consumer).pages[0].seen_at_ms == town.clock(), "and was at the next look"


def test_each_sign_in_is_listed_and_ended_alone_and_nobody_ends_anothers(either_town: Town) -> None:
    town = either_town
    owner, other = town.add_owners(2)
    first, second = (access.start_session(town.market, owner, device=d) for d in ("Firefox on Linux", ""))
    tokens = {name: access.issue_token(town.market, owner, name) for name in ("phone", "script")}
    held = access.sign_ins(town.market, owner)
    assert {one.device for one in held.pages} == {"Firefox on Linux", ""}
    assert {one.name for one in held.tokens} == {"phone", "script"}
    phone = next(one for one in held.tokens if one.name == "phone").sign_in_id
    for ended in (first.sign_in_id, phone):
        with pytest.raises(NotFoundError):
            access.end_sign_in(town.market, other, ended)
    assert access.sign_ins(town.market, owner) == held
    access.end_sign_in(town.market, owner, first.sign_in_id)
    access.end_sign_in(town.market, owner, phone)
    assert not alive(lambda: access.session_of(town.market, first.cookie))
    assert alive(lambda: access.session_of(town.market, second.cookie))
    assert not alive(lambda: access.user_of_token(town.market, tokens["phone"]))
    assert alive(lambda: access.user_of_token(town.market, tokens["script"]))
    with pytest.raises(NotFoundError):
        access.end_sign_in(town.market, owner, phone)
    assert [event.what for event in reads.access_page(town.market, owner).items] == ["ended-one", "ended-one"]


@pytest.mark.parametrize("strange", ["s_", "k_%", "s__", "x_0", "", "p_" + "0" * 24])
def test_a_strange_name_ends_nothing(town: Town, strange: str) -> None:
    access.start_session(town.market, town.consumer)
    access.issue_token(town.market, town.consumer)
    held = access.sign_ins(town.market, town.consumer)
    with pytest.raises(NotFoundError):
        access.end_sign_in(town.market, town.consumer, strange)
    assert access.sign_ins(town.market, town.consumer) == held


def test_a_token_of_the_same_name_replaces_the_one_before_and_others_stay(town: Town) -> None:
    phone, script = (access.issue_token(town.market, town.consumer, name) for name in ("phone", "script"))
    again = access.make_token(town.market, town.consumer, "phone", by=town.consumer.user_id).token
    assert not alive(lambda: access.user_of_token(town.market, phone))
    assert alive(lambda: access.user_of_token(town.market, again))
    assert alive(lambda: access.user_of_token(town.market, script))


def test_the_last_use_of_a_token_is_kept_to_the_hour(town: Town) -> None:
    token = access.issue_token(town.market, town.consumer)
    made = town.clock()
    town.clock.advance(0.5 * HOUR)
    access.user_of_token(town.market, token)
    assert access.sign_ins(town.market, town.consumer).tokens[0].used_at_ms == made
    town.clock.advance(HOUR)
    access.user_of_token(town.market, token)
    assert access.sign_ins(town.market, town.consumer).tokens[0].used_at_ms == town.clock()


def test_nobody_has_tokens_without_end(town: Town) -> None:
    for number in range(MOST_TOKENS):
        access.issue_token(town.market, town.consumer, f"token {number}")
    with pytest.raises(ConflictError, match="end one first"):
        access.issue_token(town.market, town.consumer, "one more")
    access.issue_token(town.market, town.consumer, "token 3")


def test_a_link_of_her_own_leaves_her_signed_in_and_works_once_elsewhere(town: Town) -> None:
    session = access.start_session(town.market, town.consumer)
    code = people.renew_code(town.market, town.consumer, town.consumer.user_id).code
    assert access.whose_code(town.market, code) == town.consumer
    elsewhere = access.redeem_for_session(town.market, code)
    for one in (session, elsewhere):
        assert access.session_of(town.market, one.cookie).user == town.consumer
    with pytest.raises(UnauthorizedError):
        access.whose_code(town.market, code)


def test_a_client_lists_ends_and_makes_tokens(town: Town) -> None:
    app = create_app(town.market.settings, town.clock, ticking=False)
    with served(app) as address:
        with MarketClient(address, access.issue_token(town.market, town.consumer)) as first:
            second = MarketClient(address, first.make_token("second").token)
            assert {one.name for one in second.sign_ins().tokens} == {"device", "second"}
            device = next(one for one in second.sign_ins().tokens if one.name == "device")
            assert {one.name for one in second.end_sign_in(device.sign_in_id).tokens} == {"second"}
            with pytest.raises(UnauthorizedError):
                first.me()
        own = second.sign_ins().tokens[0]
        assert second.end_sign_in(own.sign_in_id).tokens == [], "even the one that asks"
        with pytest.raises(UnauthorizedError):
            second.me()
        second.close()


def test_whoever_was_signed_in_before_the_new_tables_still_is(database_url: str) -> None:
    town = found_town(database_url)
    token, session = access.issue_token(town.market, town.consumer), access.start_session(town.market, town.consumer)
    migrate.downgrade(town.market.store, "0005")
    with town.market.store.write() as connection:
        until = {"until": town.clock() + 12 * 3_600_000}
        connection.execute(text("UPDATE sessions SET expires_at_ms = :until"), until)
    town.market.store.close()
    store = open_store(database_url)
    migrate.upgrade(store)
    town.market.callers.forget(town.consumer.user_id)
    assert access.user_of_token(town.market, token) == town.consumer
    assert access.session_of(town.market, session.cookie).user == town.consumer
    store.close()
    town.market.store.close()


def test_an_operators_session_is_never_longer_than_other_peoples(town: Town) -> None:
    usual = Settings()
    assert usual.operator_session_hours <= usual.session_idle_hours <= usual.session_hours
    assert access.start_session(town.market, town.operator).expires_at_ms - town.clock() == 12 * 3_600_000
