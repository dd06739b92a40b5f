"""What an answer teaches: the world is kept up with what the market has acknowledged."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from market.fuzz.asking import Answer, Asked
from market.fuzz.oracle import fields_of, json_of
from market.fuzz.routes import Rule
from market.fuzz.rules import GOOD_AMOUNTS, canonical
from market.fuzz.world import Person, World


def note(asked: Asked, answer: Answer, rule: Rule, params: dict[str, str], person: Person | None, world: World) -> None:
    """Take down what a request that was right and was taken has changed.

    What was asked for counts, not what the answer says of it: a market that keeps something else is found out.
    """
    if rule.method == "GET" or (person is None and rule.roles):
        return
    if rule.page:
        _note_page(asked, answer, rule, params, person, world)
    else:
        _note_api(asked, answer, rule, params, person, world)


def _note_api(
    asked: Asked, answer: Answer, rule: Rule, params: dict[str, str], person: Person | None, world: World
) -> None:
    body: Any = json_of(asked) if rule.body else None
    told: Any = json.loads(answer.body)
    if rule.path == "/v1/tokens":
        owner = world.by_id(world.codes.pop(body["code"]))
        world.spent.append(body["code"])
        if owner and "name" not in body:  # a token of another name stands beside the one that is known
            owner.token = told["token"]
            if owner.ended:  # let in again by a code that was made since; her pages stay ended
                owner.ended, owner.cookie = False, "ended"
        return
    assert person is not None
    if rule.keyed:
        world.keys[person.name, rule.path, asked.headers["idempotency-key"].decode()] = canonical(body)
    if rule.path.endswith("/bid") and rule.method == "DELETE":
        world.bids.pop((params["round_id"], person.user_id), None)
    elif rule.path.endswith("/bid"):
        world.bids[params["round_id"], person.user_id] = body["bid_micros"]
        world.placed[asked.path] = told["placed_at_ms"]
    elif rule.path.endswith("/report"):
        world.reports[params["round_id"], person.user_id] = body["code"]
    elif rule.path in ("/v1/deposits", "/v1/payouts", "/v1/refunds"):
        _moved(told["transaction_id"], body["amount_micros"] * (1 if rule.path == "/v1/deposits" else -1), world)
    elif rule.path.endswith("/reversal"):
        _moved(told["transaction_id"], -world.moved[params["transaction_id"]], world)
    elif rule.path == "/v1/users" or rule.path.endswith("/code"):
        _new_code(told["code"], told["user"]["user_id"], world, by=person)
    elif rule.path == "/v1/invitations":
        for one in told["items"]:
            _new_code(one["code"], one["user"]["user_id"], world, by=person)
    elif rule.path.endswith("erase"):
        _ended(person.user_id, world)
    elif rule.path.endswith(("/revoke", "/disable")):
        _ended(params["user_id"], world)
    elif rule.path.endswith("/open"):
        _opened(params["round_id"], told["terms_hash"], world)
    elif rule.path.endswith("/plan"):
        _planned(params["round_id"], body, world)
    elif rule.path.endswith("/nonce"):
        world.rounds.pop("waiting", None)  # it goes on, and what it takes from here on is not known


def _note_page(
    asked: Asked, answer: Answer, rule: Rule, params: dict[str, str], person: Person | None, world: World
) -> None:
    assert person is not None
    fields = fields_of(asked)
    if rule.path.endswith(("/erase", "/end")):
        if answer.status == 303:  # else she was asked whether she is sure
            _ended(person.user_id, world)
    elif rule.path == "/leave":
        person.cookie = "left"
    elif "{change}" in rule.path and params.get("change") in ("revoke", "disable"):
        if answer.status == 303:
            _ended(params["user_id"], world)
    elif rule.path.endswith("/code") or params.get("change") == "code":
        _new_code("", params["user_id"], world, by=person)
    elif rule.path == "/account/link":
        _new_code("", person.user_id, world, by=person)
    elif params.get("step") == "open" and answer.status == 303:
        _opened(params["round_id"], "", world)
    elif "{move}" in rule.path and answer.status == 303:
        done = answer.headers[b"location"].decode().partition("done=")[2]
        amount = GOOD_AMOUNTS.get(fields.get("amount", ""), 0)
        signed = {"deposit": amount, "payout": -amount, "refund": -amount}.get(params["move"])
        undone = world.moved.get(fields.get("undoes", ""), 0)
        _moved(done, -undone if signed is None else signed, world)


def _opened(round_id: str, terms_hash: str, world: World) -> None:
    """A draft that was there from the start is open from now on; a bent address leads to it now and then."""
    for name, known in world.rounds.items():
        if known.round_id == round_id and known.state == "draft":
            world.rounds[name] = replace(known, state="open", terms_hash=terms_hash)


def _planned(round_id: str, plan: Any, world: World) -> None:
    """A draft has another plan now: what it will take from owners, should it be opened."""
    low, high = plan.get("bid_low_micros", 0), plan.get("bid_high_micros", 1_000_000)
    size = plan["query"].get("domain", {}).get("size", 2)
    for name, known in world.rounds.items():
        if known.round_id == round_id:
            world.rounds[name] = replace(known, low=low, high=high, size=size)


def _moved(transaction_id: str, amount: int, world: World) -> None:
    world.moved[transaction_id] = amount
    if transaction_id not in world.transactions:
        world.transactions.append(transaction_id)


def _new_code(code: str, user_id: str, world: World, *, by: Person | None = None) -> None:
    """A new code voids the one before it and, unless she made it herself, ends the sessions of its user."""
    for old in [old for old, whose in world.codes.items() if whose == user_id]:
        del world.codes[old]
    if code:
        world.codes[code] = user_id
    found = world.by_id(user_id)
    if found and found is not by:
        found.cookie = "ended"


def _ended(user_id: str, world: World) -> None:
    _new_code("", user_id, world)
    found = world.by_id(user_id)
    if found:
        found.ended = True
