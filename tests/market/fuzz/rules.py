"""Which route a request is for, and why it must be refused there."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from market.fuzz import oracle
from market.fuzz.asking import Asked
from market.fuzz.oracle import EVERYBODY, IDENTIFIER, KEY, caller, fields_of, json_of
from market.fuzz.routes import API, OTHERS, PAGES, Rule, draft_fault
from market.fuzz.world import Known, Person, World

RULES = [*API, *PAGES, *OTHERS]


def add_unknown(routes: Iterable[tuple[str, str]]) -> None:
    """Have routes asked too that have no line here yet: by owners, who move no money, and without being judged."""
    known = {(rule.method, rule.path) for rule in RULES}
    for method, path in routes:
        if (method, path) not in known:
            page = not path.startswith("/v1")
            RULES.append(
                Rule(method, path, ("owner",), page=page, form=page and method == "POST", weight=0.3, judged=False)
            )


NAMES = {
    "step": {"open", "clear", "settle", "cancel"},
    "change": {"revoke", "disable", "enable", "code"},
    "move": {"deposit", "payout", "refund", "reversal"},
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
        if name in ("round_id", "user_id", "sign_in_id", "batch_id") and not IDENTIFIER.fullmatch(value):
            return f"no {name}"
        if name in NAMES and value not in NAMES[name]:
            return f"no such {name}"
    person = who(asked, rule, world) if rule.roles else Person("nobody", "nobody", "", "", "", "")
    if person is None:
        return "nobody known"
    if rule.roles and person.role not in rule.roles:
        return f"asked by {person.role}"
    if rule.hers and person.role != "operator" and params["user_id"] != person.user_id:
        return "asked of somebody else"
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
        return draft_fault(None, person, found, world)
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
