"""What was ended stays ended: nothing is made or done by a sign-in that is over, whichever process still trusts it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from market.meanwhile import began
from market.town import Town, contents, plan
from pdqs.market import (
    Market,
    access,
    api_tokens,
    deeds,
    drafts,
    groups,
    invitations,
    letter_choices,
    own_data,
    passkeys,
    people,
    revocation,
    round_letters,
    round_steps,
)
from pdqs.market.api_tokens import MOST_TOKENS
from pdqs.market.identity import server_key
from pdqs.market.store import schema
from pdqs.protocol.groups import GroupNames
from pdqs.protocol.letters import LetterChoices
from pdqs.protocol.market_messages import NewUser, Token, Transfer, User
from pdqs.protocol.operator_messages import NewUsers
from pdqs.protocol.own_data import Erasure
from pdqs.protocol.problems import ConflictError, ProblemType, UnauthorizedError

Act = Callable[[Market, User], object]


def elsewhere(town: Town) -> Market:
    """Another process of the same market: it knows nothing of what this one ends."""
    other = Market(store=town.market.store, clock=town.clock, settings=town.market.settings)
    server_key(other, "forms")  # is made when it is first needed
    return other


def let_in(town: Town, role: str) -> User:
    new = NewUser.model_validate({"role": role, "name": f"a certain {role}"})
    return people.register_user(town.market, town.operator, new, f"key-of-{role}").user


def calling(market: Market, user: User, by: str) -> User:
    """Her as a request of hers comes: by a token or a session."""
    if by == "token":
        return access.user_of_token(market, access.issue_token(market, user))
    return access.session_of(market, access.start_session(market, user).cookie).user


def ended(town: Town, user: User, how: str) -> None:
    """Her sign-ins are over; she herself may come in again, unless she is shut out."""
    if how == "revoked":
        people.revoke_all(town.market, town.operator, user.user_id)
    elif how == "this one":
        found = access.sign_ins(town.market, user)
        for sign_in_id in [*(one.sign_in_id for one in found.pages), *(one.sign_in_id for one in found.tokens)]:
            access.end_sign_in(town.market, user, sign_in_id)
    else:
        people.disable_user(town.market, town.operator, user.user_id)
        if how == "disabled and enabled":
            people.enable_user(town.market, town.operator, user.user_id)


def draft(market: Market, actor: User) -> str:
    return drafts.draft_round(market, actor, plan(), "a-draft-of-a-test").round_id


HERS: dict[str, Act] = {
    "a token": lambda market, actor: access.make_token(market, actor, "laptop", by=actor.user_id),
    "a code": lambda market, actor: people.renew_code(market, actor, actor.user_id),
    "letters": lambda market, actor: letter_choices.choose(market, actor, LetterChoices()),
    "a draft": draft,
    "her erasure": lambda market, actor: own_data.erase(market, actor, Erasure(forgo_balance=True)),
    "the end of all": lambda market, actor: people.revoke_all(market, actor, actor.user_id),
}


@pytest.mark.parametrize("by", ["token", "session"])
@pytest.mark.parametrize("how", ["revoked", "disabled", "disabled and enabled", "this one"])
def test_nothing_that_outlives_a_sign_in_is_made_by_one_that_is_over(either_town: Town, how: str, by: str) -> None:
    town, other = either_town, elsewhere(either_town)
    consumer = let_in(town, "consumer")
    hers = calling(other, consumer, by)
    ended(town, consumer, how)
    before = contents(town)
    for what, act in HERS.items():
        with pytest.raises(UnauthorizedError):
            pytest.fail(f"{what}: {act(other, hers)}")
    assert contents(town) == before


@pytest.mark.parametrize("what", HERS)
def test_all_of_it_is_hers_to_do_as_long_as_she_is_in(town: Town, what: str) -> None:
    """The control of the test above."""
    HERS[what](town.market, calling(elsewhere(town), let_in(town, "consumer"), "token"))


DEEDS: dict[str, Callable[[Town], Act]] = {
    "another operator": lambda _: (
        lambda market, actor: people.register_user(
            market, actor, NewUser(role="operator", name="a second one"), "second-operator"
        )
    ),
    "many people": lambda _: (
        lambda market, actor: invitations.register_many(
            market, actor, NewUsers(role="owner", names=["Ann", "Bea"]), "many-people-1"
        )
    ),
    "a code": lambda town: lambda market, actor: people.renew_code(market, actor, town.consumer.user_id),
    "a deposit": lambda town: (
        lambda market, actor: round_steps.deposit(
            market, actor, Transfer(user_id=town.consumer.user_id, amount_micros=5), "late-deposit"
        )
    ),
    "an end": lambda town: lambda market, actor: people.revoke_all(market, actor, town.consumer.user_id),
    "a closed door": lambda town: lambda market, actor: people.disable_user(market, actor, town.consumer.user_id),
    "an open door": lambda town: lambda market, actor: people.enable_user(market, actor, town.consumer.user_id),
    "a group": lambda town: (
        lambda market, actor: groups.put_in_groups(market, actor, town.owners[0].user_id, GroupNames(groups=["Nurses"]))
    ),
}


@pytest.mark.parametrize("how", ["revoked", "disabled"])
def test_an_operator_who_was_shut_out_does_nothing_more(either_town: Town, how: str) -> None:
    town, other = either_town, elsewhere(either_town)
    town.add_owners(1)
    second = let_in(town, "operator")
    hers = calling(other, second, "token")
    ended(town, second, how)
    before = contents(town)
    for what, deed in DEEDS.items():
        with pytest.raises(UnauthorizedError):
            pytest.fail(f"{what}: {deed(town)(other, hers)}")
    assert contents(town) == before


def meeting(
    monkeypatch: pytest.MonkeyPatch, place: tuple[Any, str], first: Callable[[], object], second: Callable[[], object]
) -> tuple[object, object]:
    """What comes of the first, stopped right after a function in it, and of the second, which begins meanwhile."""
    there, go_on = threading.Event(), threading.Event()
    plain: Callable[..., Any] = getattr(*place)

    def waiting(*given: Any, **named: Any) -> Any:
        found = plain(*given, **named)
        monkeypatch.setattr(*place, plain)
        there.set()
        assert go_on.wait(30)
        return found

    monkeypatch.setattr(*place, waiting)
    leading, came = began(first)
    assert there.wait(30)
    following, came_then = began(second)
    following.join(0.5)
    assert not came_then, f"it did not wait: {came_then}"
    go_on.set()
    leading.join(30)
    following.join(30)
    return came[0], came_then[0]


def test_of_two_operators_who_shut_each_other_out_at_once_one_is_first(
    either_town: Town, monkeypatch: pytest.MonkeyPatch
) -> None:
    town, second = either_town, let_in(either_town, "operator")
    third = people.register_user(town.market, town.operator, NewUser(role="operator", name="third"), "third-one").user
    done, refused = meeting(
        monkeypatch,
        (access, "end_all"),
        lambda: people.disable_user(town.market, second, third.user_id),
        lambda: people.disable_user(town.market, third, second.user_id),
    )
    assert not isinstance(done, Exception)
    assert isinstance(refused, UnauthorizedError)


def making_and_ending(town: Town, consumer: User, by: str) -> tuple[Callable[[], object], Callable[[], object]]:
    """A new token of hers, by one that she has or by a code; and the end of all of hers."""
    hers = calling(town.market, consumer, "token")
    code = people.renew_code(town.market, town.operator, consumer.user_id).code

    def make() -> object:
        if by == "code":
            return access.redeem_for_token(town.market, code, "laptop")
        return access.make_token(town.market, hers, "laptop", by=hers.user_id)

    return make, lambda: people.revoke_all(town.market, town.operator, consumer.user_id)


@pytest.mark.parametrize("by", ["token", "code"])
def test_a_token_that_is_being_made_while_all_is_ended_ends_with_it(
    either_town: Town, by: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    town, consumer = either_town, let_in(either_town, "consumer")
    make, end = making_and_ending(town, consumer, by)
    made, over = meeting(monkeypatch, (api_tokens, "new_token"), make, end)
    assert (isinstance(made, Exception), isinstance(over, Exception)) == (False, False)
    assert access.sign_ins(town.market, consumer).tokens == []


@pytest.mark.parametrize("by", ["token", "code"])
def test_a_token_that_is_asked_for_while_all_is_ended_is_not_made(
    either_town: Town, by: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    town, consumer = either_town, let_in(either_town, "consumer")
    make, end = making_and_ending(town, consumer, by)
    _, refused = meeting(monkeypatch, (access, "end_all"), end, make)
    assert isinstance(refused, UnauthorizedError)
    assert access.sign_ins(town.market, consumer).tokens == []


def test_a_passkey_that_is_ended_while_it_is_shown_opens_nothing(
    far_town: Town, monkeypatch: pytest.MonkeyPatch
) -> None:
    town, consumer = far_town, let_in(far_town, "consumer")
    row = {"credential_id": "hers", "user_id": consumer.user_id, "site": "localhost", "public_key": "", "sign_count": 0}
    with town.market.store.write() as connection:
        connection.execute(schema.passkeys.insert(), {**row, "name": "phone", "created_at_ms": 1})

    def shown(**_: object) -> object:
        people.revoke_all(town.market, town.operator, consumer.user_id)
        return SimpleNamespace(new_sign_count=1)

    monkeypatch.setattr("webauthn.verify_authentication_response", shown)
    monkeypatch.setattr(passkeys, "_answered", lambda *_: b"a challenge")
    monkeypatch.setattr(passkeys, "_credential_id", lambda _: "hers")
    with pytest.raises(UnauthorizedError):
        passkeys.enter_with_passkey(town.market, passkeys.Place(site="localhost", origin=""), "", "")
    assert access.sign_ins(town.market, consumer).pages == []


def test_no_passkey_is_kept_for_a_session_that_is_over(town: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    session = access.start_session(town.market, town.consumer)
    made = SimpleNamespace(credential_id=b"x", credential_public_key=b"y", sign_count=0)
    monkeypatch.setattr("webauthn.verify_registration_response", lambda **_: made)
    monkeypatch.setattr(passkeys, "_answered", lambda *_: b"a challenge")
    people.revoke_all(town.market, town.operator, town.consumer.user_id)
    with pytest.raises(UnauthorizedError) as refused:
        passkeys.add_passkey(town.market, passkeys.Place(site="localhost", origin=""), session, "", "phone")
    assert refused.value.type is ProblemType.NO_SESSION
    assert access.sign_ins(town.market, town.consumer).passkeys == []


@pytest.mark.parametrize("names", [("laptop", "laptop"), ("laptop", "phone")])
def test_tokens_that_are_made_at_once_see_each_other(
    either_town: Town, names: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of one name the later one stands; of two names, there are no more than there may be."""
    town, (owner,) = either_town, either_town.add_owners(1)
    for number in range(MOST_TOKENS - 1):
        access.issue_token(town.market, owner, f"program {number}")

    def make(name: str) -> Callable[[], object]:
        return lambda: access.make_token(town.market, owner, name, by=owner.user_id)

    first, second = meeting(monkeypatch, (api_tokens, "new_token"), *map(make, names))
    assert isinstance(first, Token)
    assert isinstance(second, Token if names[0] == names[1] else ConflictError), second
    assert len(access.sign_ins(town.market, owner).tokens) == MOST_TOKENS


def test_who_was_erased_elsewhere_asks_nobody_anything_and_leaves_no_address(either_town: Town) -> None:
    town, other = either_town, elsewhere(either_town)
    hers = calling(other, town.consumer, "token")
    found = draft(other, hers)
    own_data.erase(town.market, town.consumer, Erasure(forgo_balance=True))
    before = contents(town)
    steps: dict[str, Callable[[], object]] = {
        "a round": lambda: round_steps.open_round(other, hers, found),
        "another draft": lambda: drafts.draft_round(other, hers, plan(), "another-draft"),
        "another plan": lambda: drafts.change_draft(other, hers, found, plan(bid_seconds=61)),
        "letters": lambda: letter_choices.choose(other, hers, LetterChoices()),
    }
    for what, step in steps.items():
        with pytest.raises(UnauthorizedError):
            pytest.fail(f"{what}: {step()}")
    assert contents(town) == before


def test_a_round_that_is_opened_while_she_is_erased_does_not_open(
    either_town: Town, monkeypatch: pytest.MonkeyPatch
) -> None:
    town = either_town
    found = draft(town.market, town.consumer)
    gone, refused = meeting(
        monkeypatch,
        (access, "end_all"),
        lambda: own_data.erase(town.market, town.consumer, Erasure(forgo_balance=True)),
        lambda: round_steps.open_round(town.market, town.consumer, found),
    )
    assert not isinstance(gone, Exception)
    assert isinstance(refused, UnauthorizedError)


def test_nobody_is_erased_while_a_round_of_hers_is_opened(either_town: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    town = either_town
    found = draft(town.market, town.consumer)
    opened, refused = meeting(
        monkeypatch,
        (round_letters, "tell_opened"),
        lambda: round_steps.open_round(town.market, town.consumer, found),
        lambda: own_data.erase(town.market, town.consumer, Erasure(forgo_balance=True)),
    )
    assert not isinstance(opened, Exception)
    assert isinstance(refused, ConflictError)


def test_who_sits_at_the_machine_has_no_sign_in_to_lose(town: Town) -> None:
    with town.market.store.write() as connection:
        assert revocation.require_signed_in(connection, people.the_server()) == people.the_server()
        deeds.note_deed(connection, people.the_server(), "ended", town.consumer.user_id, at_ms=town.clock())
