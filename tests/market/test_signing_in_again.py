"""What outlives a session, or ends a passkey or an account, no old session does that has a passkey to show."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

import httpx
import pytest

from market.town import Town, found_town
from pdqs.market import access, passkeys, people
from pdqs.market.http.app import create_app
from pdqs.market.http.serving import served
from pdqs.market.identity import hashed, short_id
from pdqs.market.store import schema
from pdqs.protocol.market_messages import NewUser, User

_numbers = itertools.count(1)


@dataclass(frozen=True)
class Guest:
    """Someone with a session, and the id of her passkey."""

    user: User
    cookie: str
    csrf: str
    passkey: str


@dataclass(frozen=True)
class Door:
    """A market that is served."""

    town: Town
    line: httpx.Client

    def guest(self, what: str, *, passkey: bool = True, code: bool = False) -> Guest:
        """Someone new who signed in a while ago, or by a code just now."""
        town, name = self.town, f"someone {next(_numbers)}"
        new = NewUser(role="operator" if what in OPERATORS else "owner", name=name)
        user = people.register_user(town.market, town.operator, new, f"key-of-{name}").user
        held = f"a-credential-of-{name}"
        row = {"credential_id": held, "user_id": user.user_id, "site": "localhost", "public_key": "", "sign_count": 0}
        if passkey:
            with town.market.store.write() as connection:
                connection.execute(schema.passkeys.insert(), {**row, "name": "phone", "created_at_ms": 1})
        begun = access.start_session(town.market, user)
        town.clock.advance(passkeys.FRESH_MS / 1000 + 1)
        if code:
            fresh = people.renew_code(town.market, town.operator, user.user_id).code
            begun = access.redeem_for_session(town.market, fresh)
        return Guest(user, begun.cookie, begun.csrf_token, short_id("p", hashed(held)))

    def asked(self, guest: Guest, path: str, fields: dict[str, str]) -> httpx.Response:
        """One step, by a form of a page or by the API, as the path says."""
        where = path.format(passkey=guest.passkey, me=guest.user.user_id)
        headers = {"Cookie": f"{access.COOKIE}={guest.cookie}"}
        if not path.startswith("/v1"):
            return self.line.post(where, data={**fields, "csrf_token": guest.csrf}, headers=headers)
        headers |= {"X-CSRF-Token": guest.csrf, "Idempotency-Key": "a-key-of-this-test"}
        return self.line.post(where, json=fields, headers=headers)

    def held(self, user: User) -> tuple[int, int, bool]:
        """What of hers would have changed: tokens, passkeys, and whether she is still there."""
        found = access.sign_ins(self.town.market, user)
        with self.town.market.store.read() as connection:
            there = people.member_by_id(connection, user.user_id).name == user.name
        return len(found.tokens), len(found.passkeys), there


@pytest.fixture(scope="module")
def door(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Door]:
    town = found_town(f"sqlite:///{tmp_path_factory.mktemp('again')}/market.db")
    app = create_app(town.market.settings, town.clock, ticking=False)
    with served(app) as address, httpx.Client(base_url=address, timeout=60.0) as line:
        yield Door(town, line)
    town.market.store.close()


HERS: dict[str, tuple[str, dict[str, str]]] = {
    "a token": ("/account/tokens", {"name": "laptop"}),
    "a token, by the API": ("/v1/me/tokens", {"name": "laptop"}),
    "a link": ("/account/link", {}),
    "a code, by the API": ("/v1/users/{me}/code", {}),
    "the end of her passkey": ("/account/sign-ins/{passkey}/end", {}),
    "the end of her passkey, by the API": ("/v1/me/sign-ins/{passkey}/end", {}),
    "her erasure": ("/account/erase", {"confirmed": "yes"}),
    "her erasure, by the API": ("/v1/me/erase", {}),
}
OPERATORS: dict[str, tuple[str, dict[str, str]]] = {
    "a code from the page of people": ("/operator/people/{me}/code", {}),
    "another operator": ("/operator/people", {"role": "operator", "name": "Eve", "key": "a-key-of-this-test"}),
    "another operator, by the API": ("/v1/users", {"role": "operator", "name": "Eve"}),
}
LASTING = {**HERS, **OPERATORS}


DONE = (200, 303)


@pytest.mark.parametrize("what", LASTING)
def test_an_old_session_does_nothing_lasting_until_the_passkey_is_shown(door: Door, what: str) -> None:
    guest = door.guest(what)
    before = door.held(guest.user)
    refused = door.asked(guest, *LASTING[what])
    assert refused.status_code == 403
    assert "show your passkey first" in refused.text.lower()
    assert door.held(guest.user) == before


@pytest.mark.parametrize("what", LASTING)
def test_a_new_code_is_enough_for_who_has_lost_her_passkey(door: Door, what: str) -> None:
    assert door.asked(door.guest(what, code=True), *LASTING[what]).status_code in DONE


@pytest.mark.parametrize("what", [each for each in LASTING if "passkey" not in each])
def test_who_has_no_passkey_is_asked_for_none_however_old_her_session(door: Door, what: str) -> None:
    assert door.asked(door.guest(what, passkey=False), *LASTING[what]).status_code in DONE


def test_a_first_passkey_is_added_from_a_session_of_any_age(door: Door) -> None:
    guest = door.guest("a token", passkey=False)
    headers = {"Cookie": f"{access.COOKIE}={guest.cookie}", "Host": "localhost"}
    assert "challenge" in door.line.get("/account/passkeys/options", headers=headers).json()
    second = {"Cookie": f"{access.COOKIE}={door.guest('a token').cookie}", "Host": "localhost"}
    assert door.line.get("/account/passkeys/options", headers=second).status_code == 403


@pytest.mark.parametrize("what", LASTING)
def test_a_market_that_asks_for_no_passkey_is_seen(door: Door, what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(passkeys, "must_show", lambda *_: False)
    assert door.asked(door.guest(what), *LASTING[what]).status_code in DONE
