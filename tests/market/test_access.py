"""Signing in and its end: a token or session that was ended is dead, and everyone sees who signed in as her."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import httpx
import pytest

from market.town import Town
from pdqs.market import access, people, reads
from pdqs.market.http.app import create_app
from pdqs.market.http.serving import served
from pdqs.protocol.market_messages import NewUser
from pdqs.protocol.problems import ConflictError, ForbiddenError, NotFoundError, UnauthorizedError


def _is_dead(town: Town, token: str) -> bool:
    try:
        access.user_of_token(town.market, token)
    except UnauthorizedError:
        return True
    return False


def test_a_replaced_token_is_dead_however_often_it_is_used_meanwhile(town: Town) -> None:
    """Callers keep asking with the old token while it is replaced: none of them may bring it back."""
    (owner,) = town.add_owners(1)
    old = access.issue_token(town.market, owner)
    for _ in range(12):
        stop = threading.Event()

        def ask(token: str = old, stop: threading.Event = stop) -> None:
            while not stop.is_set():
                _is_dead(town, token)

        askers = [threading.Thread(target=ask) for _ in range(4)]
        for asker in askers:
            asker.start()
        new = access.issue_token(town.market, owner)
        stop.set()
        for asker in askers:
            asker.join()
        assert _is_dead(town, old)
        assert not _is_dead(town, new)
        old = new


def test_a_look_up_that_began_before_the_end_does_not_bring_a_token_back(town: Town) -> None:
    (owner,) = town.add_owners(1)
    old = access.issue_token(town.market, owner)
    look = town.market.store.look

    @contextmanager
    def slowly() -> Iterator[object]:
        with look() as connection:
            yield connection
        access.issue_token(town.market, owner)  # between the look-up and its being remembered

    town.market.store.look = slowly  # type: ignore[method-assign, assignment]  # a slow database
    assert not _is_dead(town, old)  # asked before its end
    town.market.store.look = look  # type: ignore[method-assign]
    assert _is_dead(town, old)


def test_sessions_end_at_a_new_code(town: Town) -> None:
    session = access.start_session(town.market, town.consumer)
    others = access.start_session(town.market, town.operator)
    people.renew_code(town.market, town.operator, town.consumer.user_id)
    with pytest.raises(UnauthorizedError):
        access.session_of(town.market, session.cookie)
    assert access.session_of(town.market, others.cookie).user == town.operator


def test_everything_of_a_user_can_be_ended_at_once_by_her_or_an_operator_and_by_nobody_else(either_town: Town) -> None:
    town = either_town
    owner, other = town.add_owners(2)
    for actor in (owner, town.operator):
        code = people.renew_code(town.market, town.operator, owner.user_id).code
        session, token = access.start_session(town.market, owner), access.issue_token(town.market, owner)
        assert not _is_dead(town, token)
        with pytest.raises(NotFoundError):
            people.revoke_all(town.market, other, owner.user_id)
        people.revoke_all(town.market, actor, owner.user_id)
        assert _is_dead(town, token)
        with pytest.raises(UnauthorizedError):
            access.session_of(town.market, session.cookie)
        with pytest.raises(UnauthorizedError):
            access.redeem(town.market, code)


def test_a_disabled_account_cannot_come_in_until_it_is_enabled(either_town: Town) -> None:
    town = either_town
    (owner,) = town.add_owners(1)
    token = access.issue_token(town.market, owner)
    with pytest.raises(ForbiddenError):
        people.disable_user(town.market, town.consumer, owner.user_id)
    assert people.disable_user(town.market, town.operator, owner.user_id).disabled_at_ms == town.clock()
    assert _is_dead(town, token)
    with pytest.raises(ConflictError, match="disabled"):
        people.renew_code(town.market, town.operator, owner.user_id)
    assert people.enable_user(town.market, town.operator, owner.user_id).disabled_at_ms is None
    assert _is_dead(town, token), "what was ended stays ended"
    assert access.redeem(town.market, people.renew_code(town.market, town.operator, owner.user_id).code) == owner


def test_operators_cannot_lock_everyone_out(town: Town) -> None:
    second = people.register_user(town.market, town.operator, NewUser(role="operator", name="Op"), "second-one").user
    for user in (second, town.operator):
        with pytest.raises(ConflictError, match="can be disabled"):
            people.disable_user(town.market, second, user.user_id)


def test_an_operator_who_signs_in_as_an_owner_is_seen_by_her(town: Town) -> None:
    (owner,) = town.add_owners(1)
    code = people.renew_code(town.market, town.operator, owner.user_id).code
    town.clock.advance(60)
    access.redeem_for_session(town.market, code)
    town.clock.advance(60)
    own = people.renew_code(town.market, owner, owner.user_id).code
    town.clock.advance(60)
    access.redeem_for_token(town.market, own)
    found = [(event.what, event.by_user_id) for event in reads.access_page(town.market, owner).items]
    assert found == [
        ("token", owner.user_id),
        ("code", owner.user_id),
        ("session", town.operator.user_id),
        ("code", town.operator.user_id),
    ]
    assert reads.access_page(town.market, owner).items[-1].by_name == "operator"
    assert owner.user_id not in {event.by_user_id for event in reads.access_page(town.market, town.consumer).items}


def test_her_own_page_shows_who_signed_in_and_ends_it_all(town: Town) -> None:
    (owner,) = town.add_owners(1)
    people.renew_code(town.market, town.operator, owner.user_id)
    session = access.start_session(town.market, owner)
    token = access.issue_token(town.market, owner)
    app = create_app(town.market.settings, town.clock, ticking=False)
    with served(app) as address, httpx.Client(base_url=address) as browser:
        cookie = {"Cookie": f"{access.COOKIE}={session.cookie}"}
        page = browser.get("/account", headers=cookie).text
        assert "A one-time code was made" in page
        assert town.operator.user_id in page
        bearer = {"Authorization": f"Bearer {token}"}
        assert browser.get("/v1/me", headers=bearer).status_code == 200
        form = {"csrf_token": session.csrf_token}
        assert "End all sign-ins?" in browser.post("/account/end", data=form, headers=cookie).text
        assert browser.get("/v1/me", headers=bearer).status_code == 200, "nothing was done yet"
        form |= {"confirmed": "yes"}
        assert browser.post("/account/end", data=form, headers=cookie).status_code == 303
        assert browser.get("/account", headers=cookie).status_code == 303
        assert browser.get("/v1/me", headers=bearer).status_code == 401
