"""Every route with who may ask, and what must be right about the request. One line a route."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any

from market.fuzz import oracle
from market.fuzz.asking import Asked
from market.fuzz.oracle import EVERYBODY, IDENTIFIER, KEY, Check, caller, fields_of, json_of
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


def _report(body: Any, person: Person, found: Known | None, world: World) -> str:
    return oracle.report_fault(body, person, found, world)


def _deposit(body: Any, _person: Person, _found: Known | None, world: World) -> str:
    return oracle.money_fault(body, world, "deposits")


def _payout(body: Any, _person: Person, _found: Known | None, world: World) -> str:
    return oracle.money_fault(body, world, "payouts")


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
    Rule("POST", "/v1/users/{user_id}/revoke", weight=1),
    Rule("POST", "/v1/users/{user_id}/disable", _OPERATOR, weight=1),
    Rule("POST", "/v1/users/{user_id}/enable", _OPERATOR, weight=1),
    Rule("POST", "/v1/users/{user_id}/code", weight=2),
    Rule("POST", "/v1/users", _OPERATOR, oracle.NEW_USER, keyed=True, weight=8),
    Rule("GET", "/v1/users", _OPERATOR, listed=True),
    Rule("GET", "/v1/statement", listed=True),
    Rule("POST", "/v1/deposits", _OPERATOR, oracle.TRANSFER, _deposit, keyed=True, weight=8),
    Rule("POST", "/v1/payouts", _OPERATOR, oracle.TRANSFER, _payout, keyed=True, weight=8),
    Rule("GET", "/v1/transfers", _OPERATOR, listed=True),
    Rule("POST", "/v1/transfers/{transaction_id}/reversal", _OPERATOR, weight=2),
    Rule("GET", "/v1/payables", _OPERATOR, listed=True),
    Rule("GET", "/v1/payables.csv", _OPERATOR, weight=1),
    *(Rule("GET", f"/v1/{name}", _OPERATOR, weight=0.5) for name in _OPERATORS_OWN),
    Rule("GET", "/v1/me/letters", weight=0.5),
    Rule("GET", "/v1/trial-balance", _OPERATOR, weight=1),
    Rule("POST", "/v1/forecast", _BOTH, oracle.FORECAST, weight=0.05),
    Rule("POST", "/v1/rounds", _CONSUMER, oracle.plan_to_draft, keyed=True, weight=5),
    Rule("GET", "/v1/rounds", _BOTH, listed=True, weight=2),
    Rule("GET", _OF_ROUND, _BOTH, rest=_own),
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
    _page("POST", "/consumer/rounds/{round_id}/{step}", _CONSUMER, rest=_own),
    _page("GET", "/consumer/rounds/{round_id}/answer.{kind}", _CONSUMER, rest=_own),
    _page("GET", "/operator", _OPERATOR),
    _page("GET", "/operator/rounds/{round_id}", _OPERATOR),
    _page("POST", "/operator/rounds/{round_id}/{step}", _OPERATOR),
    _page("GET", "/operator/people", _OPERATOR),
    _page("POST", "/operator/people", _OPERATOR, 0.4),
    _page("POST", "/operator/people/{user_id}/code", _OPERATOR, 0.4),
    _page("POST", "/operator/people/{user_id}/{change}", _OPERATOR, 0.4),
    _page("GET", "/operator/ledger", _OPERATOR),
    _page("POST", "/operator/ledger/{move}", _OPERATOR, 1.0),
    *(_page("GET", f"/operator/{name}", _OPERATOR, 0.3) for name in _LISTS),
    _page("GET", "/account/letters", EVERYBODY, 0.3),
    _page("GET", "/owner", _OWNER),
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

RULES = [*API, *PAGES, *OTHERS]


def add_unknown(routes: Iterable[tuple[str, str]]) -> None:
    """Have routes asked too that have no line here yet: by owners, who move no money, and without being judged."""
    known = {(rule.method, rule.path) for rule in RULES}
    for method, path in routes:
        if (method, path) not in known:
            page = not path.startswith("/v1")
            RULES.append(
                Rule(method, path, _OWNER, page=page, form=page and method == "POST", weight=0.3, judged=False)
            )


NAMES = {
    "step": {"open", "clear", "settle", "cancel"},
    "change": {"revoke", "disable", "enable", "code"},
    "move": {"deposit", "payout", "reversal"},
    "kind": {"json", "csv"},
}
GOOD_AMOUNTS = {"1": 1_000_000, "12.50": 12_500_000, "1,500.25": 1_500_250_000, "0.01": 10_000, "1'500": 1_500_000_000}
BAD_AMOUNTS = (
    *("", "0", "-1", "1e5", "NaN", "Infinity", "0x10", "1.2.3", "abc", "0.001", "12,50", "1,250", "1e200000", "--1"),
    *("9" * 400, "\u0661\u0662", "\uff11", "1_000", "1 0", "+ 5", "\u22125", "1\u0000", "<b>1</b>", "1000000.01"),
)


def rule_for(asked: Asked) -> tuple[Rule, dict[str, str]] | None:
    """The route that a request is for. Of two that fit, the one without a place to fill comes first."""
    path = asked.plain_path
    for rule in RULES:
        params = rule.params(path) if rule.method == asked.method else None
        if params is not None:
            return rule, params
    return None


def who(asked: Asked, rule: Rule, world: World) -> Person | None:
    """Whose request this is, if anybody's: pages go by cookie alone."""
    return world.by_cookie(oracle.cookie_of(asked)) if rule.page else caller(asked, world)


def fault_in(asked: Asked, world: World, found: tuple[Rule, dict[str, str]] | None) -> str:
    """Why a request for this route must be refused; nothing when it may be taken."""
    if found is not None and not found[0].judged:
        return ""
    if found is None:
        return "" if asked.method in ("HEAD", "OPTIONS") else "no such route"
    rule, params = found
    for name, value in params.items():
        if name in ("round_id", "user_id", "sign_in_id") and not IDENTIFIER.fullmatch(value):
            return f"no {name}"
        if name in NAMES and value not in NAMES[name]:
            return f"no such {name}"
    person = who(asked, rule, world) if rule.roles else Person("nobody", "nobody", "", "", "", "")
    if person is None:
        return "nobody known"
    if rule.roles and person.role not in rule.roles:
        return f"asked by {person.role}"
    round_ = oracle.round_of(world, params.get("round_id", ""))
    return (
        _page_fault(rule, asked, person, round_, world) if rule.page else _api_fault(rule, asked, person, round_, world)
    )


def _api_fault(rule: Rule, asked: Asked, person: Person, found: Known | None, world: World) -> str:
    by_cookie = not asked.headers.get("authorization")
    if (
        by_cookie
        and rule.roles
        and rule.method != "GET"
        and asked.headers.get("x-csrf-token", b"").decode("latin-1") != person.csrf
    ):
        return "a session without its CSRF token"
    if by_cookie and rule.roles and rule.method != "GET" and _from_elsewhere(asked):
        return "a form from another site"
    if rule.keyed and not KEY.fullmatch(asked.headers.get("idempotency-key", b"").decode("latin-1")):
        return "no key"
    if rule.listed:
        return oracle.list_fault(asked, states=rule.path == "/v1/rounds")
    body: Any = None
    if rule.body is not None:
        try:
            body = json_of(asked)
        except (ValueError, RecursionError):
            return "a body that is no JSON"
        if not rule.body(body):
            return "a body of another shape"
        if rule.keyed:
            used = world.keys.get((person.name, rule.path, asked.headers["idempotency-key"].decode("latin-1")))
            if used is not None and used != canonical(body):
                return "a key that was used for something else"
    return rule.rest(body, person, found, world) if rule.rest else ""


def canonical(body: Any) -> str:
    """A body as one text, whatever the order of its fields."""
    return json.dumps(body, sort_keys=True)


def _from_elsewhere(asked: Asked) -> bool:
    site, origin = asked.headers.get("sec-fetch-site"), asked.headers.get("origin")
    return site in (b"cross-site", b"same-site") or origin not in (None, b"http://market.example")


def _page_fault(rule: Rule, asked: Asked, person: Person, found: Known | None, world: World) -> str:
    if rule.method == "POST" and _from_elsewhere(asked):
        return "a form from another site"
    fields = fields_of(asked)
    if rule.path in ("/enter", "/enter/passkey") and rule.method == "POST":
        return "no door token"  # the fuzz never knows one
    if rule.form and fields.get("csrf_token") != person.csrf:
        return "a form without its CSRF token"
    if rule.path == "/operator/people" and rule.form:
        named = oracle.printed(1, 80)(fields.get("name", "").strip()) and fields.get("role") in EVERYBODY
        return "" if named and KEY.fullmatch(fields.get("key", "")) else "nobody to let in"
    if rule.path == "/operator/ledger/{move}":
        return _move_fault(asked, fields, world)
    if rule.path in ("/consumer/rounds", "/consumer/rounds/{round_id}/edit") and rule.form:
        if fields.get("fault") in fields or not KEY.fullmatch(fields.get("key", "")):
            return "a bad plan"
        # A mark that was bent on the way names no field: then nobody knows whether the plan is good.
        late = found is not None and (found.state != "draft" or person.name != found.consumer)
        return "a change of what is no draft of hers" if late else ""
    return rule.rest(None, person, found, world) if rule.rest else ""


def _move_fault(asked: Asked, fields: dict[str, str], world: World) -> str:
    """Money moves by form: an amount that is one, for someone who can have it, under a key."""
    kind = asked.plain_path.rpartition("/")[2]
    if not KEY.fullmatch(fields.get("key", "")):
        return "no key"
    if kind == "reversal":
        return "" if fields.get("undoes", "") in world.transactions else "nothing to undo"
    to = world.by_id(fields.get("user_id", ""))
    if fields.get("amount", "") in BAD_AMOUNTS or fields.get("amount", "").strip() == "":
        return "an amount that is none"
    if to is None:
        return "money for nobody"
    return oracle.money_fault({"user_id": to.user_id}, world, f"{kind}s")
