"""Every route with who may ask, and what must be right about the request. One line a route."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

from market.fuzz import oracle
from market.fuzz.oracle import EVERYBODY, Check
from market.fuzz.world import Known, Person, World

Rest = Callable[[Any, Person, Known | None, World], str]
"""What is wrong beyond the shape, from the body, the caller, the round and what is known."""


@dataclass(frozen=True)
class Rule:
    """A route: who may ask (nobody in particular when empty), the shape of its body, and what else must hold."""

    method: str
    path: str
    roles: tuple[str, ...] = EVERYBODY
    body: Check | None = None
    rest: Rest | None = None
    keyed: bool = False
    listed: bool = False
    weight: float = 3.0
    page: bool = False
    form: bool = False
    """Whether it takes the fields of a form, with a CSRF token."""
    hers: bool = False
    """Whether only the operator may ask this of somebody else than herself."""
    judged: bool = True
    """Whether the oracle knows what it may be asked; if not, it is only held to give no fault."""

    def params(self, path: str) -> dict[str, str] | None:
        """What stands in the places of the path, if it is this route's."""
        found = _pattern(self.path).fullmatch(path)
        return found.groupdict() if found else None


@cache
def _pattern(path: str) -> re.Pattern[str]:
    return re.compile(re.sub(r"\\{([a-z_]+)\\}", r"(?P<\1>[^/]+)", re.escape(path)))


def _bid(body: Any, person: Person, found: Known | None, world: World) -> str:
    return oracle.bid_fault(body, person, found, world)


def _withdrawal(_body: Any, _person: Person, found: Known | None, _world: World) -> str:
    return oracle.withdrawal_fault(found)


def _no_sign_in(_body: Any, _person: Person, _found: Known | None, _world: World) -> str:
    return "nobody's sign-in"  # the fuzz never knows the id of one


def _nothing_such(_body: Any, _person: Person, _found: Known | None, _world: World) -> str:
    return (
        "nothing such is there"  # the fuzz never knows the id of a batch, a letter or an overpayment, nor a sent word
    )


def draft_fault(_body: Any, person: Person, found: Known | None, _world: World) -> str:
    """Drafts that were made meanwhile are not known."""
    late = found is not None and (found.state != "draft" or person.name != found.consumer)
    return "a change of what is no draft of hers" if late else ""


def _report(body: Any, person: Person, found: Known | None, world: World) -> str:
    return oracle.report_fault(body, person, found, world)


def _deposit(body: Any, _person: Person, _found: Known | None, world: World) -> str:
    return oracle.money_fault(body, world, "deposits")


def _payout(body: Any, _person: Person, _found: Known | None, world: World) -> str:
    return oracle.money_fault(body, world, "payouts")


def _refund(body: Any, _person: Person, _found: Known | None, world: World) -> str:
    return oracle.money_fault(body, world, "refunds")


def _nonce(body: Any, _person: Person, found: Known | None, _world: World) -> str:
    return oracle.nonce_fault(body, found)


def _code(body: Any, _person: Person, _found: Known | None, world: World) -> str:
    return "" if body["code"] in world.codes else "a code that was never made or is used up"


def _started(_body: Any, person: Person, found: Known | None, _world: World) -> str:
    """Of rounds that were there from the start: drafts are nobody's but their consumer's, and not to be bid in."""
    if person.role == "owner" and found is not None and found.state == "draft":
        return "a draft, asked for by an owner"
    return ""


def _own(_body: Any, person: Person, found: Known | None, _world: World) -> str:
    return "another consumer's round" if found and person.role == "consumer" and person.name != found.consumer else ""


_CONSUMER, _OPERATOR, _OWNER = ("consumer",), ("operator",), ("owner",)
_BOTH = ("consumer", "operator")
_OF_ROUND = "/v1/rounds/{round_id}"

_OF_BATCH = "/v1/payout-batches/{batch_id}"
_OVER = ("entry", "let-be", "came-back")
_LISTS = ("deeds", "invitations", "journal", "letters", "payouts")
_OPERATORS_OWN = ("dead-letters", "deeds", "journal", "overpaid", "owed", "payout-batches", "people")

API = (
    Rule("PUT", f"{_OF_ROUND}/bid", _OWNER, oracle.BID, _bid, weight=14),
    Rule("DELETE", f"{_OF_ROUND}/bid", _OWNER, rest=_withdrawal, weight=3),
    Rule("PUT", f"{_OF_ROUND}/report", _OWNER, oracle.REPORT, _report, weight=14),
    Rule("POST", "/v1/tokens", (), oracle.REDEMPTION, _code, weight=4),
    Rule("GET", "/v1/me"),
    Rule("GET", "/v1/me/access", listed=True),
    Rule("GET", "/v1/me/export", weight=0.5),
    Rule("GET", "/v1/me/sign-ins", weight=1),
    Rule("POST", "/v1/me/sign-ins/{sign_in_id}/end", rest=_no_sign_in, weight=1),
    Rule("POST", "/v1/me/tokens", EVERYBODY, oracle.NEW_TOKEN, weight=1),
    Rule("POST", "/v1/invitations", _OPERATOR, oracle.NEW_USERS, keyed=True, weight=1),
    Rule("POST", "/v1/me/erase", EVERYBODY, oracle.ERASURE, weight=1),
    Rule("POST", "/v1/users/{user_id}/revoke", hers=True, weight=1),
    Rule("POST", "/v1/users/{user_id}/disable", _OPERATOR, weight=1),
    Rule("POST", "/v1/users/{user_id}/enable", _OPERATOR, weight=1),
    Rule("POST", "/v1/users/{user_id}/code", hers=True, weight=2),
    Rule("GET", "/v1/users/{user_id}/groups", hers=True, weight=1),
    Rule("PUT", "/v1/users/{user_id}/groups", _OPERATOR, oracle.GROUPS, weight=1),
    Rule("GET", "/v1/groups", _BOTH, weight=1),
    Rule("POST", "/v1/users", _OPERATOR, oracle.NEW_USER, keyed=True, weight=8),
    Rule("GET", "/v1/users", _OPERATOR, listed=True),
    Rule("GET", "/v1/statement", listed=True),
    Rule("POST", "/v1/deposits", _OPERATOR, oracle.TRANSFER, _deposit, keyed=True, weight=8),
    Rule("POST", "/v1/payouts", _OPERATOR, oracle.TRANSFER, _payout, keyed=True, weight=2),
    Rule("POST", "/v1/refunds", _OPERATOR, oracle.TRANSFER, _refund, keyed=True, weight=6),
    Rule("GET", "/v1/transfers", _OPERATOR, listed=True),
    Rule("POST", "/v1/transfers/{transaction_id}/reversal", _OPERATOR, weight=2),
    Rule("GET", "/v1/payables", _OPERATOR, listed=True),
    Rule("GET", "/v1/payables.csv", _OPERATOR, weight=1),
    *(Rule("GET", f"/v1/{name}", _OPERATOR, weight=0.5) for name in _OPERATORS_OWN),
    Rule("GET", "/v1/me/letters", weight=0.5),
    Rule("PUT", "/v1/me/letters", EVERYBODY, oracle.LETTERS, weight=1),
    Rule("POST", "/v1/me/letters/word", EVERYBODY, oracle.WORD, _nothing_such, weight=1),
    Rule("POST", "/v1/dead-letters/{letter_id}/retry", _OPERATOR, rest=_nothing_such, weight=0.5),
    Rule("POST", "/v1/payout-batches", _OPERATOR, keyed=True, weight=1),
    Rule("GET", f"{_OF_BATCH}/file.csv", _OPERATOR, rest=_nothing_such, weight=0.5),
    Rule("POST", f"{_OF_BATCH}/confirmation", _OPERATOR, oracle.CONFIRMATION, _nothing_such, weight=1),
    Rule("POST", f"{_OF_BATCH}/call-off", _OPERATOR, rest=_nothing_such, weight=0.5),
    *(Rule("POST", f"/v1/overpaid/{{reference}}/{what}", _OPERATOR, rest=_nothing_such, weight=0.5) for what in _OVER),
    Rule("GET", "/v1/trial-balance", _OPERATOR, weight=1),
    Rule("POST", "/v1/forecast", _BOTH, oracle.FORECAST, weight=0.05),
    Rule("POST", "/v1/rounds", _CONSUMER, oracle.plan_to_draft, keyed=True, weight=5),
    Rule("GET", "/v1/rounds", _BOTH, listed=True, weight=2),
    Rule("GET", _OF_ROUND, _BOTH, rest=_own),
    Rule("PUT", f"{_OF_ROUND}/plan", _CONSUMER, oracle.plan_to_draft, draft_fault, weight=2),
    Rule("POST", f"{_OF_ROUND}/next-stage", _BOTH, rest=_own, weight=0.5),
    Rule("POST", f"{_OF_ROUND}/open", _CONSUMER, rest=_own, weight=1),
    Rule("POST", f"{_OF_ROUND}/clear", _BOTH, rest=_own, weight=1),
    Rule("POST", f"{_OF_ROUND}/nonce", _CONSUMER, oracle.REVEAL, _nonce, weight=3),
    Rule("POST", f"{_OF_ROUND}/settle", _BOTH, rest=_own, weight=1),
    Rule("POST", f"{_OF_ROUND}/cancel", _BOTH, rest=_own, weight=0.5),
    Rule("GET", f"{_OF_ROUND}/answer", _BOTH, rest=_own),
    Rule("GET", f"{_OF_ROUND}/record", rest=_started, weight=1),
    Rule("GET", "/v1/notices", _OWNER, listed=True),
    Rule("GET", "/v1/notices/{round_id}", _OWNER, rest=_started),
    Rule("GET", f"{_OF_ROUND}/mine", _OWNER, rest=_started),
    Rule("GET", f"{_OF_ROUND}/bid", _OWNER, rest=_started),
    Rule("GET", f"{_OF_ROUND}/offer", _OWNER, rest=_started),
    Rule("GET", f"{_OF_ROUND}/report", _OWNER, rest=_started),
)


def _page(method: str, path: str, roles: tuple[str, ...], weight: float = 0.6, rest: Rest | None = None) -> Rule:
    return Rule(method, path, roles, rest=rest, weight=weight, page=True, form=method == "POST")


PAGES = (
    _page("GET", "/", ()),
    _page("GET", "/enter", ()),
    Rule("POST", "/enter", (), page=True, weight=0.6),
    _page("GET", "/enter/passkey", (), 0.3),
    Rule("POST", "/enter/passkey", (), page=True, weight=0.3),
    _page("POST", "/enter/other", EVERYBODY, 0.3),
    Rule("POST", "/leave", EVERYBODY, page=True, form=True, weight=0.3),
    _page("GET", "/device-elsewhere", ()),
    _page("GET", "/device/{module}", ()),
    _page("GET", "/account", EVERYBODY),
    _page("GET", "/account/export.json", EVERYBODY, 0.3),
    _page("POST", "/account/erase", EVERYBODY, 0.3),
    _page("POST", "/account/end", EVERYBODY, 0.3),
    _page("POST", "/account/link", EVERYBODY, 0.3),
    _page("POST", "/account/tokens", EVERYBODY, 0.3),
    _page("GET", "/account/again/options", EVERYBODY, 0.3),
    _page("POST", "/account/again", EVERYBODY, 0.3, _nothing_such),
    _page("GET", "/account/passkeys/options", EVERYBODY, 0.3),
    _page("POST", "/account/passkeys", EVERYBODY, 0.3),
    _page("POST", "/account/sign-ins/{sign_in_id}/end", EVERYBODY, 0.3, _no_sign_in),
    _page("GET", "/consumer", _CONSUMER),
    _page("GET", "/consumer/plan", _CONSUMER, 0.05),
    _page("GET", "/consumer/plan/preview", _CONSUMER, 0.05),
    _page("POST", "/consumer/rounds", _CONSUMER, 0.2),
    _page("GET", "/consumer/rounds", _CONSUMER, 0.1),
    _page("GET", "/operator/groups", _OPERATOR, 0.1),
    _page("GET", "/consumer/rounds/{round_id}", _CONSUMER, rest=_own),
    _page("GET", "/consumer/rounds/{round_id}/progress", _CONSUMER, rest=_own),
    _page("GET", "/consumer/rounds/{round_id}/edit", _CONSUMER, 0.1, rest=_own),
    _page("POST", "/consumer/rounds/{round_id}/edit", _CONSUMER, 0.1),
    _page("GET", "/consumer/rounds/{round_id}/forecast", _CONSUMER, 0.05, rest=_own),
    _page("GET", "/consumer/rounds/{round_id}/events", _CONSUMER, 0.1, rest=_own),
    _page("GET", "/consumer/compare", _CONSUMER, 0.3),
    _page("GET", "/consumer/money", _CONSUMER),
    _page("POST", "/consumer/rounds/{round_id}/{step}", _CONSUMER, rest=_own),
    _page("GET", "/consumer/rounds/{round_id}/answer.{kind}", _CONSUMER, rest=_own),
    _page("GET", "/operator", _OPERATOR),
    _page("GET", "/operator/rounds/{round_id}", _OPERATOR),
    _page("POST", "/operator/rounds/{round_id}/{step}", _OPERATOR),
    _page("GET", "/operator/people", _OPERATOR),
    _page("POST", "/operator/people", _OPERATOR, 0.4),
    _page("GET", "/operator/people/{user_id}/groups", _OPERATOR, 0.3),
    _page("POST", "/operator/people/{user_id}/groups", _OPERATOR, 0.3),
    _page("POST", "/operator/people/{user_id}/code", _OPERATOR, 0.4),
    _page("POST", "/operator/people/{user_id}/{change}", _OPERATOR, 0.4),
    _page("GET", "/operator/codes", _OPERATOR, 0.3),
    _page("POST", "/operator/codes/file", _OPERATOR, 0.3),
    _page("GET", "/operator/ledger", _OPERATOR),
    _page("POST", "/operator/ledger/{move}", _OPERATOR, 1.0),
    *(_page("GET", f"/operator/{name}", _OPERATOR, 0.3) for name in _LISTS),
    _page("POST", "/operator/invitations", _OPERATOR, 0.3),
    _page("POST", "/operator/payouts", _OPERATOR, 0.3),
    _page("POST", "/operator/payouts/{batch_id}/confirmation", _OPERATOR, 0.3, _nothing_such),
    _page("POST", "/operator/payouts/{batch_id}/call-off", _OPERATOR, 0.3, _nothing_such),
    _page("POST", "/operator/payouts/over/{reference}/{what}", _OPERATOR, 0.3, _nothing_such),
    _page("POST", "/operator/letters/{letter_id}/again", _OPERATOR, 0.3, _nothing_such),
    _page("GET", "/account/letters", EVERYBODY, 0.3),
    _page("POST", "/account/letters", EVERYBODY, 0.3),
    _page("POST", "/account/letters/word", EVERYBODY, 0.3, _nothing_such),
    _page("GET", "/owner", _OWNER),
    _page("GET", "/owner/standing", _OWNER),
    _page("GET", "/owner/rounds/{round_id}", _OWNER, 0.2, rest=_started),
    _page("GET", "/owner/rounds/{round_id}/stage", _OWNER, rest=_started),
    _page("GET", "/owner/rounds/{round_id}/events", _OWNER, 0.1, rest=_started),
    _page("GET", "/owner/earnings", _OWNER),
    _page("GET", "/owner/privacy", _OWNER),
)

OTHERS = (
    _page("GET", "/healthz", (), 0.5),
    _page("GET", "/metrics", (), 0.3),
    _page("GET", "/docs", (), 0.02),
    _page("GET", "/openapi.json", (), 0.005),
)
