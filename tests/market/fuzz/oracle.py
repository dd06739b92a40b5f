"""Which requests must be refused: an oracle that knows the rules of the market and none of its code.

It reads a request as it lies (path, query, headers, bytes) and says that it is wrong and why, or that it may be taken.
It is written from the documentation, with the standard library alone, so that a check that the market forgets is not
forgotten here too. Where the documentation leaves a spelling open, the request may be taken.
"""

from __future__ import annotations

import json
import math
import re
import unicodedata
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qsl

from market.fuzz.asking import Asked
from market.fuzz.world import NONCE, Known, Person, World

Check = Callable[[Any], bool]

IDENTIFIER = re.compile(r"[a-z]{1,3}_[0-9a-f]{24}")
HASH = re.compile(r"[0-9a-f]{64}")
CURSOR = re.compile(r"[A-Za-z0-9_.:-]{1,120}")
SECRET = re.compile(r"[A-Za-z0-9_-]{20,80}")
KEY = re.compile(r"[A-Za-z0-9_-]{8,64}")
TURNING = {*range(0x2028, 0x202F), *range(0x2066, 0x206A)}
RULES = {"optimal", "robust", "lottery", "linear", "exponential", "logarithmic", "quadratic", "step"}
ESTIMATORS = {"weighted", "unbiased", "shrunk"}
STATES = {"draft", "open", "reporting", "settled", "cancelled"}
EVERYBODY = ("consumer", "owner", "operator")


def whole(low: int, high: int) -> Check:
    return lambda value: type(value) is int and low <= value <= high


def real(low: float, high: float, *, open_ends: bool = False) -> Check:
    def good(value: Any) -> bool:
        if type(value) not in (int, float) or abs(value) > 1e300 or not math.isfinite(value):
            return False
        return bool(low < value < high if open_ends else low <= value <= high)

    return good


def matches(pattern: re.Pattern[str]) -> Check:
    return lambda value: type(value) is str and pattern.fullmatch(value) is not None


def one_of(names: set[str]) -> Check:
    return lambda value: type(value) is str and value in names


def printed(low: int, high: int) -> Check:
    def good(value: Any) -> bool:
        if type(value) is not str or not low <= len(value) <= high:
            return False
        return not any(unicodedata.category(c) in ("Cc", "Cs") or ord(c) in TURNING for c in value)

    return good


def or_none(check: Check) -> Check:
    return lambda value: value is None or check(value)


def shape(needed: dict[str, Check], optional: dict[str, Check] | None = None) -> Check:
    known = {**needed, **(optional or {})}

    def good(value: Any) -> bool:
        if type(value) is not dict or not needed.keys() <= value.keys() <= known.keys():
            return False
        return all(known[name](inner) for name, inner in value.items())

    return good


def _labels(value: Any) -> bool:
    return type(value) is list and len(value) <= 10_000 and all(printed(1, 80)(one) for one in value)


_DOMAIN = shape(
    {"kind": one_of({"binary", "categories", "grid"})},
    {"labels": _labels, "start": real(-1e12, 1e12), "step": real(5e-324, 1e12), "size": whole(2, 10_000)},
)


def domain(value: Any) -> bool:
    """A public domain whose size is that of its labels, and which says only what its kind has."""
    if not _DOMAIN(value):
        return False
    labels, size = value.get("labels", []), value.get("size", 2)
    if value["kind"] == "categories":
        right = len(labels) == size and len(set(labels)) == size
    else:
        right = not labels and (value["kind"] == "grid" or size == 2)
    return right and (value["kind"] == "grid" or (value.get("start", 0), value.get("step", 1)) == (0, 1))


_PLAN = shape(
    {
        "query": shape(
            {"kind": one_of({"count", "median", "quantile", "mean", "histogram"}), "text": printed(0, 400)},
            {"domain": domain, "p": real(0, 1, open_ends=True)},
        ),
        "attribute": matches(re.compile(r"[a-z][a-z0-9_.-]{0,59}")),
        "budget_micros": whole(1, 10**12),
    },
    {
        "bid_low_micros": whole(0, 10**9),
        "bid_high_micros": whole(0, 10**9),
        "rule": one_of(RULES),
        "estimator": one_of(ESTIMATORS),
        "epsilon_max": real(0.01, 16),
        "minimum_owners": whole(2, 1_000_000),
        "bid_seconds": whole(1, 31_536_000),
        "report_seconds": whole(1, 31_536_000),
        "nonce_hash": or_none(matches(HASH)),
        "retention_days": or_none(whole(1, 36_500)),
        "purpose": or_none(printed(0, 400)),
        "use": or_none(printed(0, 400)),
    },
)


def plan(value: Any) -> bool:
    """A plan whose parts can stand together."""
    if not _PLAN(value):
        return False
    rule, estimator = value.get("rule", "lottery"), value.get("estimator", "unbiased")
    if (rule == "lottery" and estimator != "unbiased") or (
        estimator == "unbiased" and rule not in ("lottery", "robust")
    ):
        return False
    asked, answers = value["query"]["kind"], value["query"].get("domain", {"kind": "binary"})["kind"]
    if (asked == "count" and answers != "binary") or (asked not in ("count", "histogram") and answers == "categories"):
        return False
    return bool(value.get("bid_low_micros", 0) < value.get("bid_high_micros", 1_000_000))


def plan_to_draft(value: Any) -> bool:
    """A plan that is worth a round here, and leaves time to report."""
    return plan(value) and value["budget_micros"] >= 1_000_000 and value.get("report_seconds", 86_400) >= 60


TRANSFER = shape({"user_id": matches(IDENTIFIER), "amount_micros": whole(1, 10**12)})
BID = shape({"terms_hash": matches(HASH), "bid_micros": whole(0, 10**9)}, {"replaces": or_none(whole(0, 10**14))})
REPORT = shape({"terms_hash": matches(HASH), "code": whole(0, 9_999)})
NEW_USER = shape({"role": one_of(set(EVERYBODY)), "name": printed(1, 80)})
REDEMPTION = shape({"code": matches(SECRET)}, {"name": printed(1, 80)})
NEW_TOKEN = shape({"name": printed(1, 80)})
ERASURE = shape({}, {"forgo_balance": lambda value: type(value) is bool})
REVEAL = shape({"nonce": matches(HASH)})


def _names(value: Any) -> bool:
    return type(value) is list and 1 <= len(value) <= 500 and all(printed(1, 80)(one) for one in value)


def _groups(value: Any) -> bool:
    return type(value) is list and len(value) <= 20 and all(_GROUP(one) for one in value)


_GROUP = matches(re.compile(r"(?=.{1,40}$)[^\s\x00-\x1f\x7f-\x9f|,;]+( [^\s\x00-\x1f\x7f-\x9f|,;]+)*", re.DOTALL))
_KINDS = {"opened", "offer", "stage", "closing", "paid", "cancelled", "stuck"}


def _kinds(value: Any) -> bool:
    return type(value) is list and all(one_of(_KINDS)(one) for one in value)


GROUPS = shape({"groups": _groups})
LETTERS = shape(
    {},
    {
        "email": matches(re.compile(r"([A-Za-z0-9._%+-]{1,64}@[A-Za-z0-9.-]{1,190})?")),
        "webhook": matches(re.compile(r"(https?://[!-~]{1,400})?")),
        "kinds": _kinds,
    },
)
WORD = shape({"word": matches(re.compile(r"[0-9a-f]{10}"))})
CONFIRMATION = shape({"text": lambda value: type(value) is str and len(value) <= 200_000})
NEW_USERS = shape({"role": one_of(set(EVERYBODY)), "names": _names})
FORECAST = shape({"plan": plan, "owners": whole(2, 10_000_000)})


def json_of(asked: Asked) -> Any:
    """What a body says, or an exception."""
    return json.loads(asked.body)


def caller(asked: Asked, world: World) -> Person | None:
    """Whose credential a request carries: a token, or a cookie of a session."""
    given = asked.headers.get("authorization", b"").decode("latin-1")
    if given:
        scheme, _, token = given.partition(" ")
        return world.by_token(token) if scheme.lower() == "bearer" else None
    return world.by_cookie(cookie_of(asked))


def cookie_of(asked: Asked) -> str:
    """The session's cookie that a request carries."""
    pairs = (part.strip().partition("=") for part in asked.headers.get("cookie", b"").decode("latin-1").split(";"))
    return next((value for name, _, value in pairs if name == "pdqs_session"), "")


def fields_of(asked: Asked) -> dict[str, str]:
    """The fields of a form."""
    text = asked.body.decode("latin-1")
    return dict(parse_qsl(text, keep_blank_values=True, encoding="utf-8", errors="replace"))


def round_of(world: World, round_id: str) -> Known | None:
    """The round of that id, if it was there when the market was set up."""
    return next((one for one in world.rounds.values() if one.round_id == round_id), None)


def bid_fault(body: Any, person: Person, found: Known | None, world: World) -> str:
    """What is wrong with a bid that has the right shape."""
    if found is None:
        return "no such round"
    if body["terms_hash"] != found.terms_hash:
        return "a bid for other terms"
    if not found.low <= body["bid_micros"] <= found.high:
        return "a bid out of range"
    stands, takes = world.bids.get((found.round_id, person.user_id)), found.state in ("open", "ages")
    if body.get("replaces") is not None:
        return "" if stands is not None and takes else "a change of a bid that is not there, or too late"
    if stands is not None:
        return "" if stands == body["bid_micros"] else "another bid than the one that stands"
    return "" if takes else "a bid in a round that takes none"


def withdrawal_fault(found: Known | None) -> str:
    """An owner may withdraw until bids close, though none of hers has arrived: what is on its way is refused then."""
    takes = found is not None and found.state in ("open", "ages")
    return "" if takes else "a withdrawal from a round that takes no bids"


def report_fault(body: Any, person: Person, found: Known | None, world: World) -> str:
    """What is wrong with a report that has the right shape."""
    if found is None:
        return "no such round"
    if person.user_id not in found.asked:
        return "a report of someone who was not asked"
    if body["terms_hash"] != found.terms_hash:
        return "a report for other terms"
    if body["code"] >= found.size:
        return "a code out of range"
    stands = world.reports.get((found.round_id, person.user_id))
    if stands is not None:
        return "" if stands == body["code"] else "another report than the one that stands"
    return "" if found.state in ("reporting", "drinks") else "a report in a round that takes none"


def money_fault(body: Any, world: World, kind: str) -> str:
    """What is wrong with a transfer that has the right shape."""
    to = world.by_id(body["user_id"])
    if to is not None and to.role != ("owner" if kind == "payouts" else "consumer"):
        return f"{kind} for {to.role}"
    return ""


def nonce_fault(body: Any, found: Known | None) -> str:
    """Only the nonce that a round is committed to may be told."""
    if found is None or found.state != "waiting":
        return "a nonce that nothing waits for"
    return "" if body["nonce"] == NONCE.hex() else "another nonce than the one committed to"


def list_fault(asked: Asked, *, states: bool) -> str:
    """What is wrong with the query of a list."""
    for name, value in asked.query:
        if name == "limit" and not _could_be_limit(value):
            return "a limit that is none"
        if name == "after" and not CURSOR.fullmatch(value):
            return "a cursor that is none"
        if name == "state" and states and value not in STATES:
            return "a state that is none"
    return ""


def _could_be_limit(text: str) -> bool:
    """Whether a text could be read as a whole number from 1 to 200, however it is spelled."""
    try:
        value = float(text.strip())
    except ValueError:
        return False
    return 1 <= value <= 200
