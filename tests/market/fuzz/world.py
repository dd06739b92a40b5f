"""A small market to ask things of, and what an outsider who set it up knows of it: people, rounds, keys, money."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from market.town import Town, found_town, plan
from pdqs.market import access, offer_access, round_steps
from pdqs.protocol.device_messages import DomainMessage
from pdqs.protocol.market_messages import NewUser, QueryMessage, Round, Transfer, User
from pdqs.rounds.commitments import commitment_to

NONCE = bytes(range(32))
GIFT = 100_000_000


@dataclass
class Person:
    """Someone with a token and a page session; ``ended`` when these were taken from her."""

    name: str
    role: str
    user_id: str
    token: str
    cookie: str
    csrf: str
    ended: bool = False


@dataclass
class Known:
    """A round as it was when the market was set up."""

    round_id: str
    consumer: str
    state: str
    terms_hash: str
    low: int
    high: int
    size: int
    asked: frozenset[str] = frozenset()
    """Ids of the owners who were asked for a report."""


@dataclass
class World:
    """What is known of a market, kept up as it answers."""

    people: dict[str, Person]
    rounds: dict[str, Known]
    bids: dict[tuple[str, str], int]
    reports: dict[tuple[str, str], int]
    moved: dict[str, int]
    """Money that came in (or went out, below zero), by its key."""
    keys: dict[tuple[str, str, str], str] = field(default_factory=dict)
    """What a caller used a key for, on which route."""
    codes: dict[str, str] = field(default_factory=dict)
    """One-time codes that were not used yet, each with whose it is."""
    spent: list[str] = field(default_factory=list)
    """Codes that were."""
    placed: dict[str, int] = field(default_factory=dict)
    """When the last bid was placed, by the path that it was sent to."""
    transactions: list[str] = field(default_factory=list)
    secrets: dict[str, Person] = field(default_factory=dict)
    """Filled when first asked for."""

    def holder_of(self, secret: str) -> Person | None:
        """Whose token, cookie or CSRF token this was when the market was set up."""
        if not self.secrets:
            everyone = self.people.values()
            self.secrets.update({word: one for one in everyone for word in (one.token, one.cookie, one.csrf)})
        return self.secrets.get(secret)

    def by_token(self, token: str) -> Person | None:
        return next((one for one in self.people.values() if one.token == token and not one.ended), None)

    def by_cookie(self, cookie: str) -> Person | None:
        return next((one for one in self.people.values() if one.cookie == cookie and not one.ended), None)

    def by_id(self, user_id: str) -> Person | None:
        return next((one for one in self.people.values() if one.user_id == user_id), None)


def _person(town: Town, name: str, user: User) -> Person:
    session = access.start_session(town.market, user)
    token = access.issue_token(town.market, user)
    return Person(name, user.role, user.user_id, token, session.cookie, session.csrf_token)


def _known(found: Round, consumer: str, state: str, size: int, asked: frozenset[str] = frozenset()) -> Known:
    low, high = found.plan.bid_low_micros, found.plan.bid_high_micros
    return Known(found.round_id, consumer, state, found.terms_hash or "", low, high, size, asked)


def _registered(town: Town, role: Any, name: str) -> User:
    return round_steps.register_user(town.market, town.operator, NewUser(role=role, name=name), f"newcomer-{name}").user


def settle_in(url: str) -> tuple[Town, World]:
    """Set a market up: people of every role, spare ones to be shut out, and a round in every state."""
    town = found_town(url, money_micros=GIFT)
    owners = town.add_owners(40)
    other = _registered(town, "consumer", "other")
    round_steps.deposit(town.market, town.operator, Transfer(user_id=other.user_id, amount_micros=GIFT), "other-gift")
    spares = {f"spare {n}": _registered(town, "owner" if n % 3 else "consumer", f"spare{n}") for n in range(60)}
    named = {"operator": town.operator, "consumer": town.consumer, "other": other}
    named |= {f"owner {n}": owner for n, owner in enumerate(owners)} | spares
    rounds, bids, reports = _rounds(town)
    world = World({}, rounds, bids, reports, {"first-deposit": GIFT, "other-gift": GIFT})
    world.people = {name: _person(town, name, user) for name, user in named.items()}
    return town, world


def _asked(town: Town, found: Round) -> list[User]:
    return [
        owner for owner in town.owners[:6] if offer_access.offer(town.market, owner, found.round_id).q_numerator > 0
    ]


def _rounds(town: Town) -> tuple[dict[str, Known], dict[tuple[str, str], int], dict[tuple[str, str], int]]:
    sizes = {"count": 2, "drinks": 4, "ages": 48}
    drinks = QueryMessage(
        kind="histogram",
        text="What do you drink?",
        domain=DomainMessage(kind="categories", labels=["tea", "coffee", "water", "milk"], size=4),
    )
    ages = QueryMessage(kind="median", text="Your age?", domain=DomainMessage(kind="grid", start=14.0, size=48))
    long = {"bid_seconds": 86_400, "budget_micros": 5_000_000}
    states: dict[str, dict[str, Any]] = {
        "settled": {},
        "reporting": {"report_seconds": 86_400},
        "drinks": {"query": drinks, "attribute": "drink", "report_seconds": 86_400},
        "waiting": {"nonce_hash": commitment_to("nonce", NONCE)},
        "open": long,
        "ages": {**long, "query": ages, "attribute": "age", "bid_low_micros": 500, "bid_high_micros": 90_000},
        "cancelled": long,
    }
    opened = {name: town.open_round(f"round-{name}", **{"budget_micros": 5_000_000, **c}) for name, c in states.items()}
    bids, reports = {}, {}
    for name in ("settled", "reporting", "drinks", "waiting"):
        for place, owner in enumerate(town.owners[:6]):
            town.bid(owner, opened[name], 1000 * place)
            bids[opened[name].round_id, owner.user_id] = 1000 * place
    town.clock.advance(60)
    known = {}
    for name in ("settled", "reporting", "drinks"):
        opened[name] = round_steps.clear_round(town.market, town.consumer, opened[name].round_id)
        asked = frozenset(owner.user_id for owner in _asked(town, opened[name]))
        known[name] = _known(opened[name], "consumer", name, sizes.get(name, 2), asked)
    for owner in _asked(town, opened["settled"])[:3]:
        town.report(owner, opened["settled"], 1)
        reports[opened["settled"].round_id, owner.user_id] = 1
    town.clock.advance(60)
    round_steps.settle_round(town.market, town.consumer, opened["settled"].round_id)
    round_steps.close_bids(town.market, town.consumer, opened["waiting"].round_id)
    round_steps.cancel_round(town.market, town.consumer, opened["cancelled"].round_id)
    for name in ("waiting", "open", "ages", "cancelled"):
        known[name] = _known(opened[name], "consumer", name, sizes.get(name, 2))
    draft = round_steps.draft_round(town.market, town.consumer, plan(), "round-draft")
    known["draft"] = _known(draft, "consumer", "draft", 2)
    return known, bids, reports
