"""Who may do what: every route, by every role, on one's own objects and on others'. Nothing leaks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from market.town import Town, found_town, plan
from pdqs.market import Settings, access, groups, round_steps
from pdqs.market.http.app import create_app
from pdqs.market.http.serving import served
from pdqs.protocol.market_messages import NewUser, Transfer, User
from pdqs.protocol.problems import UnauthorizedError

ROLES = ("nobody", "consumer", "other consumer", "owner", "other owner", "operator")


@dataclass
class Scene:
    """A served town with a settled round of one consumer's in which one owner took part."""

    client: httpx.Client
    town: Town
    tokens: dict[str, str]
    ids: dict[str, str]


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    url = f"sqlite:///{tmp_path_factory.mktemp('matrix')}/market.db"
    town = found_town(url)
    owner, other_owner, *_ = town.add_owners(6)
    other = round_steps.register_user(
        town.market, town.operator, NewUser(role="consumer", name="other"), "other-one"
    ).user
    gift = Transfer(user_id=other.user_id, amount_micros=50_000_000)
    round_steps.deposit(town.market, town.operator, gift, "other-gift")
    draft = round_steps.draft_round(town.market, town.consumer, plan(), "the-draft-01")
    settled = town.open_round("the-round-01")
    for place, user in enumerate([owner, *town.owners[2:]]):
        town.bid(user, settled, 1000 * place)
    opened = town.open_round("the-open-round")
    town.clock.advance(60)
    round_steps.clear_round(town.market, town.consumer, settled.round_id)
    town.report(owner, settled, 1)
    town.clock.advance(60)
    round_steps.settle_round(town.market, town.consumer, settled.round_id)
    with town.market.store.write() as connection:
        nurses = [user.user_id for user in (owner, *town.owners[2:])]
        groups.add_members(connection, {user_id: ["Nurses"] for user_id in nurses}, town.clock())
    for_nurses = town.open_round("for-nurses", groups=["Nurses"])
    people: dict[str, User] = {
        "consumer": town.consumer,
        "other consumer": other,
        "owner": owner,
        "other owner": other_owner,
        "operator": town.operator,
    }
    tokens = {name: access.issue_token(town.market, user) for name, user in people.items()}
    limits = {"caller_rate": 1e6, "caller_burst": 1e6, "address_rate": 1e6, "address_burst": 1e6}
    app = create_app(Settings(database_url=url, **limits), town.clock, ticking=False)  # type: ignore[arg-type]
    ids = {"settled": settled.round_id, "draft": draft.round_id, "open": opened.round_id, "user": owner.user_id}
    ids["nurses"] = for_nurses.round_id
    ids["hash"] = str(settled.terms_hash)
    ids["spare"] = town.owners[-1].user_id
    ids["session"] = access.start_session(town.market, owner).sign_in_id
    access.issue_token(town.market, owner, "second")
    ids["second_token"] = next(t.sign_in_id for t in access.sign_ins(town.market, owner).tokens if t.name == "second")
    with served(app) as address, httpx.Client(base_url=address, timeout=60) as client:
        yield Scene(client=client, town=town, tokens=tokens, ids=ids)
    town.market.store.close()


NOBODYS = {"transaction_id": "deposit:t_0", "batch_id": "b_" + "0" * 24, "reference": "p_" + "0" * 36}


def _statuses(scene: Scene, method: str, path: str, body: Any = None) -> dict[str, int]:
    found = {}
    for place, role in enumerate(ROLES):
        headers = {"Idempotency-Key": f"matrix-key-{place}"}
        if role != "nobody":
            headers["Authorization"] = f"Bearer {scene.tokens[role]}"
        answer = scene.client.request(
            method,
            path.format(letter_id="opened:x", **NOBODYS, **scene.ids),
            headers=headers,
            json=body,
        )
        found[role] = answer.status_code
        if answer.status_code >= 400:
            assert answer.headers["content-type"] == "application/problem+json"
            assert set(answer.json()) == {"type", "title", "status", "detail"}
    return found


def _expected(consumer: int, other: int, owner: int, other_owner: int, operator: int) -> dict[str, int]:
    return dict(zip(ROLES, (401, consumer, other, owner, other_owner, operator), strict=True))


CONFIRMED = "reference,status,amount\np_1,paid,1.00\n"
PLAN = plan().model_dump()
TRANSFER = {"user_id": "u_" + "0" * 23 + "1", "amount_micros": 1}
BID = {"terms_hash": "0" * 64, "bid_micros": 1}
REPORT = {"terms_hash": "0" * 64, "code": 1}

# method, path, body, then the status for: its consumer, another consumer, the owner, another owner, the operator
MATRIX: list[tuple[str, str, Any, tuple[int, int, int, int, int]]] = [
    ("GET", "/v1/me", None, (200, 200, 200, 200, 200)),
    ("POST", "/v1/me/sign-ins/{session}/end", None, (404, 404, 200, 404, 404)),  # before a code ends it
    ("POST", "/v1/me/sign-ins/{second_token}/end", None, (404, 404, 200, 404, 404)),
    ("GET", "/v1/statement", None, (200, 200, 200, 200, 200)),
    ("GET", "/v1/users", None, (403, 403, 403, 403, 200)),
    ("POST", "/v1/users", {"role": "owner", "name": "x"}, (403, 403, 403, 403, 200)),
    ("POST", "/v1/invitations", {"role": "owner", "names": ["x", "y"]}, (403, 403, 403, 403, 200)),
    ("GET", "/v1/people", None, (403, 403, 403, 403, 200)),
    ("GET", "/v1/owed", None, (403, 403, 403, 403, 200)),
    ("GET", "/v1/journal", None, (403, 403, 403, 403, 200)),
    ("GET", "/v1/deeds", None, (403, 403, 403, 403, 200)),
    ("GET", "/v1/payout-batches", None, (403, 403, 403, 403, 200)),
    ("POST", "/v1/payout-batches", None, (403, 403, 403, 403, 200)),
    ("GET", "/v1/payout-batches/{batch_id}/file.csv", None, (403, 403, 403, 403, 404)),
    ("POST", "/v1/payout-batches/{batch_id}/confirmation", {"text": CONFIRMED}, (403, 403, 403, 403, 404)),
    ("POST", "/v1/payout-batches/{batch_id}/call-off", None, (403, 403, 403, 403, 404)),
    ("GET", "/v1/overpaid", None, (403, 403, 403, 403, 200)),
    ("POST", "/v1/overpaid/{reference}/entry", None, (403, 403, 403, 403, 404)),
    ("POST", "/v1/overpaid/{reference}/came-back", None, (403, 403, 403, 403, 404)),
    ("POST", "/v1/overpaid/{reference}/let-be", None, (403, 403, 403, 403, 404)),
    ("GET", "/v1/groups", None, (200, 200, 403, 403, 200)),
    ("GET", "/v1/users/{user}/groups", None, (404, 404, 200, 404, 200)),
    ("PUT", "/v1/users/{user}/groups", {"groups": ["Nurses"]}, (403, 403, 403, 403, 200)),
    ("GET", "/v1/notices/{nurses}", None, (403, 403, 200, 404, 403)),  # the owner is one; the other owner is not
    ("PUT", "/v1/rounds/{nurses}/bid", BID, (403, 403, 409, 404, 403)),
    ("POST", "/v1/users/{user}/code", None, (404, 404, 200, 404, 200)),
    ("GET", "/v1/me/access", None, (200, 200, 200, 200, 200)),
    ("GET", "/v1/me/sign-ins", None, (200, 200, 200, 200, 200)),
    ("POST", "/v1/me/tokens", {"name": "matrix"}, (200, 200, 200, 200, 200)),
    ("GET", "/v1/me/letters", None, (200, 200, 200, 200, 200)),
    ("PUT", "/v1/me/letters", {"kinds": ["opened"]}, (200, 200, 200, 200, 200)),
    ("PUT", "/v1/me/letters", {"email": "ann@example.org"}, (422, 422, 422, 422, 422)),  # no mail server here
    ("POST", "/v1/me/letters/word", {"word": "0" * 10}, (422, 422, 422, 422, 422)),
    ("GET", "/v1/dead-letters", None, (403, 403, 403, 403, 200)),
    ("POST", "/v1/dead-letters/{letter_id}/retry", None, (403, 403, 403, 403, 404)),
    ("GET", "/v1/me/export", None, (200, 200, 200, 200, 200)),
    ("POST", "/v1/me/erase", {"forgo_balance": "perhaps"}, (422, 422, 422, 422, 422)),  # each would erase herself
    ("POST", "/v1/users/{spare}/revoke", None, (404, 404, 404, 404, 200)),
    ("POST", "/v1/users/{spare}/disable", None, (403, 403, 403, 403, 200)),
    ("POST", "/v1/users/{spare}/enable", None, (403, 403, 403, 403, 200)),
    ("POST", "/v1/deposits", TRANSFER, (403, 403, 403, 403, 409)),
    ("POST", "/v1/payouts", TRANSFER, (403, 403, 403, 403, 200)),
    ("POST", "/v1/refunds", TRANSFER, (403, 403, 403, 403, 409)),
    ("GET", "/v1/transfers", None, (403, 403, 403, 403, 200)),
    ("POST", "/v1/transfers/{transaction_id}/reversal", None, (403, 403, 403, 403, 404)),
    ("GET", "/v1/payables", None, (403, 403, 403, 403, 200)),
    ("GET", "/v1/payables.csv", None, (403, 403, 403, 403, 200)),
    ("GET", "/v1/trial-balance", None, (403, 403, 403, 403, 200)),
    ("POST", "/v1/forecast", {"plan": PLAN, "owners": 10}, (200, 200, 403, 403, 200)),
    ("POST", "/v1/rounds", PLAN, (200, 200, 403, 403, 403)),
    ("GET", "/v1/rounds", None, (200, 200, 403, 403, 200)),
    ("GET", "/v1/rounds/{settled}", None, (200, 404, 403, 403, 200)),
    ("GET", "/v1/rounds/{draft}", None, (200, 404, 403, 403, 200)),
    ("PUT", "/v1/rounds/{settled}/plan", PLAN, (409, 404, 403, 403, 403)),
    ("POST", "/v1/rounds/{settled}/open", None, (200, 404, 403, 403, 403)),
    ("POST", "/v1/rounds/{settled}/clear", None, (200, 404, 403, 403, 200)),
    ("POST", "/v1/rounds/{settled}/next-stage", None, (200, 404, 403, 403, 200)),
    ("POST", "/v1/rounds/{settled}/settle", None, (200, 404, 403, 403, 200)),
    ("POST", "/v1/rounds/{settled}/cancel", None, (409, 404, 403, 403, 409)),
    ("POST", "/v1/rounds/{settled}/nonce", {"nonce": "0" * 64}, (409, 404, 403, 403, 403)),
    ("GET", "/v1/rounds/{settled}/answer", None, (200, 404, 403, 403, 200)),
    ("GET", "/v1/rounds/{open}/answer", None, (404, 404, 403, 403, 404)),
    ("GET", "/v1/rounds/{settled}/record", None, (200, 404, 200, 404, 200)),
    ("GET", "/v1/rounds/{open}/record", None, (404, 404, 404, 404, 404)),
    ("GET", "/v1/notices", None, (403, 403, 200, 200, 403)),
    ("GET", "/v1/notices/{settled}", None, (403, 403, 200, 200, 403)),
    ("GET", "/v1/notices/{draft}", None, (403, 403, 404, 404, 403)),
    ("PUT", "/v1/rounds/{draft}/bid", BID, (403, 403, 404, 404, 403)),
    ("PUT", "/v1/rounds/{settled}/bid", BID, (403, 403, 409, 409, 403)),
    ("DELETE", "/v1/rounds/{settled}/bid", None, (403, 403, 409, 404, 403)),
    ("GET", "/v1/rounds/{settled}/bid", None, (403, 403, 200, 404, 403)),
    ("GET", "/v1/rounds/{settled}/mine", None, (403, 403, 200, 200, 403)),
    ("GET", "/v1/rounds/{draft}/mine", None, (403, 403, 404, 404, 403)),
    ("GET", "/v1/rounds/{settled}/offer", None, (403, 403, 200, 404, 403)),
    ("PUT", "/v1/rounds/{settled}/report", REPORT, (403, 403, 409, 409, 403)),
    ("GET", "/v1/rounds/{settled}/report", None, (403, 403, 200, 404, 403)),
]


@pytest.mark.parametrize(("method", "path", "body", "statuses"), MATRIX, ids=[f"{m} {p}" for m, p, *_ in MATRIX])
def test_every_role_gets_what_is_its_own_and_nothing_else(
    scene: Scene, method: str, path: str, body: Any, statuses: tuple[int, int, int, int, int]
) -> None:
    assert _statuses(scene, method, path, body) == _expected(*statuses)


def test_the_matrix_names_every_route_of_the_api(scene: Scene) -> None:
    names = {
        "settled|draft|open|nurses": "{round_id}",
        "user|spare": "{user_id}",
        "session|second_token": "{sign_in_id}",
    }
    known = set()
    for method, path, *_ in MATRIX:
        for ours, theirs in names.items():
            path = re.sub(rf"\{{({ours})\}}", theirs, path)
        known.add((method, path))
    described = scene.client.get("/openapi.json").json()["paths"]
    routes = {(method.upper(), path) for path, methods in described.items() for method in methods if path[:3] == "/v1"}
    assert routes - known == {("POST", "/v1/tokens")}


def test_what_does_not_exist_and_what_is_anothers_look_the_same(scene: Scene) -> None:
    headers = {"Authorization": f"Bearer {scene.tokens['other consumer']}"}
    missing = "r_" + "f" * 24
    theirs = scene.client.get(f"/v1/rounds/{scene.ids['settled']}", headers=headers).json()
    nobodys = scene.client.get(f"/v1/rounds/{missing}", headers=headers).json()
    assert theirs["detail"].replace(scene.ids["settled"], missing) == nobodys["detail"]
    assert theirs["type"] == nobodys["type"]


def test_a_consumers_list_holds_none_of_anothers_rounds(scene: Scene) -> None:
    headers = {"Authorization": f"Bearer {scene.tokens['other consumer']}"}
    listed = scene.client.get("/v1/rounds", headers=headers).json()["items"]
    assert not {one["round_id"] for one in listed} & set(scene.ids.values())


@pytest.mark.parametrize("typed", ["", "?text=Mine", "?x="])
def test_the_form_of_a_draft_is_its_consumers_alone_whatever_the_address_says(scene: Scene, typed: str) -> None:
    market, path = scene.town.market, f"/consumer/rounds/{scene.ids['draft']}/edit{typed}"
    session = access.start_session(market, access.user_of_token(market, scene.tokens["other consumer"]))
    assert scene.client.get(path, headers={"Cookie": f"{access.COOKIE}={session.cookie}"}).status_code == 404


def test_a_session_needs_its_csrf_token_to_change_anything_and_none_to_look(scene: Scene) -> None:
    session = access.start_session(scene.town.market, scene.town.consumer)
    cookies = {"Cookie": f"{access.COOKIE}={session.cookie}"}
    assert scene.client.get("/v1/me", headers=cookies).status_code == 200
    path = f"/v1/rounds/{scene.ids['settled']}/clear"
    assert scene.client.post(path, headers=cookies).json()["type"] == "bad-csrf-token"
    assert scene.client.post(path, headers={**cookies, "X-CSRF-Token": session.csrf_token}).status_code == 200
    access.end_session(scene.town.market, session.cookie)
    assert scene.client.get("/v1/me", headers=cookies).status_code == 401


def test_a_session_runs_out(tmp_path: Path) -> None:
    town = found_town(f"sqlite:///{tmp_path}/market.db")
    session = access.start_session(town.market, town.consumer)
    town.clock.now_ms = session.expires_at_ms
    with pytest.raises(UnauthorizedError):
        access.session_of(town.market, session.cookie)
    town.market.store.close()


def test_no_secret_is_kept_as_it_is(scene: Scene) -> None:
    database = Path(str(scene.town.market.store.engine.url.database))
    kept = b"".join(file.read_bytes() for file in database.parent.iterdir())
    for token in scene.tokens.values():
        assert token.encode() not in kept
        assert access.hashed(token).encode() in kept  # the search would find what is there
