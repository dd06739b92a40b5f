"""Requests from a seed: a good one for some route, as someone, and then often bent in one place or several."""

from __future__ import annotations

import dataclasses
import json
import random
import re
from collections.abc import Callable
from itertools import accumulate
from typing import Any

from market.fuzz import rules
from market.fuzz.asking import Asked, form
from market.fuzz.routes import Rule
from market.fuzz.rules import RULES
from market.fuzz.world import NONCE, Person, World

NASTY: tuple[Any, ...] = (
    *(None, True, False, 0, -0.0, 1, -1, 2, 0.5, 1.0, 1.5, -1e-320, 1e308, float("nan"), float("inf"), float("-inf")),
    *(
        2**31,
        2**32,
        2**53,
        2**53 + 1,
        2**63 - 1,
        2**63,
        2**64,
        -(2**63) - 1,
        10**15 + 1,
        10**400,
        10**9 + 1,
        10**12 + 1,
    ),
    *("", " ", "0", "1", "NaN", "null", "true", "\u0000", "\ud800", "\u202e", "\u2066x", "\u0661", "\uff11", "\u200b"),
    *(
        "a\n",
        "A",
        "\u00e9",
        "e\u0301",
        "x" * 81,
        "x" * 401,
        "x" * 5000,
        "'; DROP TABLE bids; --",
        "<script>",
        "{{7*7}}",
    ),
    *(
        "../../etc/passwd",
        "%00",
        "\u212aelvin",
        "\U0001f600" * 30,
        "on",
        "deposit:t_0",
        "0" * 64,
        "0" * 64 + "\n",
        "F" * 64,
    ),
    *([], {}, [[]], [1], {"": 1}, {"a": {}}, [None] * 20, ["a", "a"], [0] * 10_001),
)
RAW: tuple[bytes, ...] = (
    *(b"", b" ", b"null", b"[]", b"{}", b"{", b"}", b'"', b"\xff\xfe", b"\xef\xbb\xbf{}", b"[" * 3000, b'{"a":' * 1500),
    *(b"NaN", b"-", b"1e99999", b'{"a":1}{"a":1}', b"\x00", b"true", b'"\\ud800"', b"{'a':1}", b'{"a":1,}'),
)
IDS = (
    *(
        "r_",
        "u_",
        "x",
        "r_" + "f" * 24,
        "u_" + "f" * 24,
        "R_" + "0" * 24,
        "r_" + "0" * 23,
        "r_" + "0" * 25,
        "..",
        "%2e%2e",
    ),
    *(
        "r_" + "g" * 24,
        "abcd_" + "0" * 24,
        "%00",
        "a%0ab",
        "%ff",
        "\u00e9",
        "%F0%9F%98%80",
        "x" * 3000,
        "r_%30" + "0" * 23,
    ),
    *("*", "'", "null", "1", "-1", "r_" + "0" * 24 + "%0a", "u_" + "\uff10" * 24, ";", "%3Cscript%3E"),
)
TEXTS = (
    "",
    "0",
    "1",
    "50",
    "200",
    "201",
    "-1",
    "1.5",
    "abc",
    "1e2",
    " 7",
    "9" * 30,
    "\u0661",
    "%00",
    "\x00",
    "\ud800",
    "true",
)
CURSORS = (
    *(
        "1.r_",
        "0.x",
        "1800000000000.r_" + "0" * 24,
        ".",
        "a.b",
        "9" * 15 + ".a",
        "9" * 16 + ".a",
        "-1.a",
        "1",
        "1.",
        ":",
        "u_",
    ),
    *("deposit:t_1", "1.1.1", "_" * 120, "_" * 121, "\u0661.a", "1.a b", "1.'", "owner:u_", "consumer:"),
)
KEYS = (
    "",
    "short",
    "k" * 8,
    "k" * 64,
    "k" * 65,
    "key with space",
    "key\u00e9key\u00e9",
    "key-of-this",
    "../../../..",
    "%00000000",
)
HASHES = ("0" * 64, "f" * 64, "", "0" * 63, "A" * 64)


class Maker:
    """Makes requests against what is known of a market; from one seed the same, as long as they are answered alike."""

    def __init__(self, world: World, rng: random.Random, only: str = "") -> None:
        """``only``: a pattern of the routes to be asked; all unless given."""
        self._world, self._rng = world, rng
        self._rules = [rule for rule in RULES if re.search(only, f"{rule.method} {rule.path}")]
        self._heaped = list(accumulate(rule.weight for rule in self._rules))
        self._spares = [one for name, one in world.people.items() if name.startswith("spare")]
        self._bidders = {owner for _, owner in world.bids}
        self._named = [one for name, one in world.people.items() if not name.startswith("spare")]

    def make(self) -> Asked:
        """One request."""
        rng = self._rng
        rule = rng.choices(self._rules, cum_weights=self._heaped)[0]
        person = self._person(rule)
        asked = self._good(rule, person)
        for _ in range(rng.choices((0, 1, 2, 3), (45, 40, 10, 5))[0]):
            asked = rng.choice(_BENDS)(asked, rule, self._world, rng)
        return asked

    def _person(self, rule: Rule) -> Person | None:
        """Mostly someone who may ask; sometimes anyone; spare people where the request would end the caller."""
        rng, named = self._rng, self._named
        if any(word in rule.path for word in ("erase", "/end", "leave", "/link")):
            spare = [one for one in self._spares if not one.ended]
            return rng.choice(spare) if spare else None
        if rng.random() < 0.05:
            return None
        fitting = [one for one in named if one.role in rule.roles]
        if rule.path.endswith("/report") and rng.random() < 0.6:
            fitting = [one for one in fitting if one.user_id in self._bidders]
        if not rule.judged:
            return rng.choice(fitting)
        return rng.choice(fitting if fitting and rng.random() < 0.8 else named)

    def _good(self, rule: Rule, person: Person | None) -> Asked:
        headers = self._credential(rule, person)
        path = rule.path
        for name, value in self._places(rule).items():
            path = path.replace("{" + name + "}", value)
        body = b""
        if rule.form or (rule.page and rule.method == "POST"):
            body = form({"csrf_token": person.csrf if person else "", **self._fields(rule)})
            headers["content-type"] = b"application/x-www-form-urlencoded"
        elif rule.body is not None:
            body = json.dumps(self._body(rule, path)).encode()
            headers["content-type"] = b"application/json"
        if rule.keyed:
            headers["idempotency-key"] = f"key-{self._rng.randrange(300)}".encode() + b"-abc"
        query = (("limit", str(self._rng.randint(1, 200))),) if rule.listed and self._rng.random() < 0.5 else ()
        return Asked(rule.method, path, query, headers, body)

    def _credential(self, rule: Rule, person: Person | None) -> dict[str, bytes]:
        if person is None:
            return {}
        if rule.page or self._rng.random() < 0.1:
            return {"cookie": f"pdqs_session={person.cookie}".encode(), "x-csrf-token": person.csrf.encode()}
        return {"authorization": f"Bearer {person.token}".encode()}

    def _places(self, rule: Rule) -> dict[str, str]:
        rng, world = self._rng, self._world
        fitting = {"bid": ("open", "ages"), "report": ("reporting", "drinks"), "nonce": ("waiting",)}
        fit = [name for name in fitting.get(rule.path.rpartition("/")[2], ()) if name in world.rounds]
        wanted = fit if rule.body and rng.random() < 0.7 else []
        kept = ("open", "clear", "settle", "cancel")  # these would change what is known of the rounds set up
        names = (
            [n for n in world.rounds if n in ("settled", "cancelled")] if rule.path.endswith(kept) else [*world.rounds]
        )
        if rule.path.endswith("/plan") and rng.random() < 0.6:
            names = ["draft"]
        step = rng.choice(sorted(rules.NAMES["step"]))
        if "{step}" in rule.path:
            names = ["settled", "cancelled"]
        return {
            "round_id": world.rounds[rng.choice(wanted or names)].round_id,
            "user_id": rng.choice(self._spares).user_id,
            "transaction_id": rng.choice([*world.transactions[-20:], "deposit:t_0"]),
            "step": step,
            "change": rng.choice(sorted(rules.NAMES["change"])),
            "move": rng.choice(sorted(rules.NAMES["move"])),
            "kind": rng.choice(("json", "csv")),
            "sign_in_id": rng.choice(("s_", "k_", "p_")) + "0" * 24,
            "batch_id": "b_" + "0" * 24,
            "letter_id": rng.choice(("l_" + "0" * 24, "1.email")),
            "reference": "p_" + "0" * 36,
            "what": rng.choice(("entry", "let-be", "came-back", "nothing")),
            "module": rng.choice(("device.mjs", "app.mjs", "nothing.mjs")),
        }

    def _body(self, rule: Rule, path: str) -> Any:
        rng, world = self._rng, self._world
        if rule.path.endswith(("/bid", "/report")):
            return self._sent(path, bid=rule.path.endswith("/bid"))
        consumers, owners = self._ids("consumer"), self._ids("owner")
        made: dict[str, Callable[[], Any]] = {
            "/v1/tokens": lambda: {"code": rng.choice([*world.codes, *world.spent[-3:], "x" * 43])},
            "/v1/me/erase": lambda: {"forgo_balance": rng.random() < 0.5},
            "/v1/users": lambda: {
                "role": rng.choice(("owner", "consumer")),
                "name": f"newcomer {rng.randrange(10**6)}",
            },
            "/v1/deposits": lambda: {"user_id": rng.choice(consumers), "amount_micros": rng.randint(1, 10**6)},
            "/v1/payouts": lambda: {"user_id": rng.choice(owners), "amount_micros": rng.randint(1, 1000)},
            "/v1/refunds": lambda: {"user_id": rng.choice(consumers), "amount_micros": rng.randint(1, 1000)},
            "/v1/forecast": lambda: {"plan": self._plan(), "owners": rng.choice((2, 10, 500))},
            "/v1/rounds": self._plan,
            "/v1/me/tokens": lambda: {"name": f"program {rng.randrange(3)}"},
            "/v1/users/{user_id}/groups": lambda: {
                "groups": rng.sample(("Nurses", "Night shift", "Łódź"), rng.randint(0, 3))
            },
            "/v1/me/letters": lambda: {"kinds": rng.sample(("opened", "offer", "paid"), rng.randint(0, 3))},
            "/v1/me/letters/word": lambda: {"word": f"{rng.randrange(16**10):010x}"},
            "/v1/payout-batches/{batch_id}/confirmation": lambda: {"text": "reference,status,amount\np_0,paid,1.00\n"},
            "/v1/rounds/{round_id}/plan": self._plan,
            "/v1/invitations": lambda: {"role": "owner", "names": [f"one of {n}" for n in range(rng.randint(1, 3))]},
        }
        return made.get(rule.path, lambda: {"nonce": NONCE.hex() if rng.random() < 0.02 else "0" * 64})()

    def _ids(self, role: str) -> list[str]:
        return [one.user_id for one in self._world.people.values() if one.role == role]

    def _sent(self, path: str, *, bid: bool) -> Any:
        """A bid or a report; of ten one for another round's terms, and one just beside what may be said."""
        rng, world = self._rng, self._world
        found = next((one for one in world.rounds.values() if one.round_id in path), None)
        hashes = [one.terms_hash for one in world.rounds.values()]
        terms = rng.choice(hashes) if found is None or rng.random() < 0.1 else found.terms_hash
        low, high, size = (found.low, found.high, found.size) if found else (0, 9, 2)
        beside = rng.random() < 0.1
        if not bid:
            return {"terms_hash": terms, "code": rng.choice((size, size + 1, 9_999)) if beside else rng.randrange(size)}
        changes = {"replaces": rng.choice((None, 0, world.placed.get(path, 0)))} if rng.random() < 0.4 else {}
        price = rng.choice((low - 1, high + 1, 10**9)) if beside else rng.randint(low, high)
        return {"terms_hash": terms, "bid_micros": price, **changes}

    def _plan(self) -> Any:
        rng = self._rng
        domains: dict[str, Any] = {
            "count": {"kind": "binary"},
            "histogram": {"kind": "categories", "labels": ["tea", "coffee", "milk"], "size": 3},
            "median": {"kind": "grid", "start": 14.0, "step": 1.0, "size": 48},
            "mean": {"kind": "grid", "start": 0.0, "step": 0.5, "size": 9},
        }
        kind = rng.choice(sorted(domains))
        plan: dict[str, Any] = {
            "query": {"kind": kind, "text": "Are you well?", "domain": domains[kind]},
            "attribute": "health",
            "budget_micros": rng.randint(10**6, 10**8),
        }
        if rng.random() < 0.5:
            plan |= {"epsilon_max": rng.choice((0.5, 1, 4.0)), "minimum_owners": rng.randint(2, 50)}
        if rng.random() < 0.3:
            plan |= {"rule": "optimal", "estimator": "weighted"}
        return plan

    def _fields(self, rule: Rule) -> dict[str, str]:
        rng, world = self._rng, self._world
        key = f"form-{rng.randrange(10**6)}-key"
        if "ledger" in rule.path:
            consumers = self._ids("consumer")
            amount = rng.choice([*rules.GOOD_AMOUNTS] * 3 + [*rules.BAD_AMOUNTS])
            undoes = rng.choice([*world.transactions[-20:], "deposit:t_0"])
            sure = {"confirmed": "yes"} if rng.random() < 0.6 else {}
            return {"key": key, "amount": amount, "user_id": rng.choice(consumers), "undoes": undoes, **sure}
        if rule.path == "/operator/people":
            return {"key": key, "name": f"guest {rng.randrange(10**6)}", "role": rng.choice(("owner", "consumer"))}
        if rule.path in ("/consumer/rounds", "/consumer/rounds/{round_id}/edit"):
            return {"key": key, **self._plan_fields()}
        sure = {"confirmed": "yes"} if rng.random() < 0.6 else {}
        return {
            "key": key,
            "code": "x" * 43,
            "door_token": "y" * 64,
            "name": "program",
            "groups": "Nurses, day",
            **sure,
        }

    def _plan_fields(self) -> dict[str, str]:
        """A plan's form. ``fault`` tells the oracle which field is wrong; the market knows no such field."""
        fields = {"kind": "count", "text": "Are you well?", "attribute": "health", "budget": "12.50", "fault": "none"}
        if self._rng.random() < 0.6:
            wrong = {
                "budget": rules.BAD_AMOUNTS[:12],
                "attribute": ("", "Health", "1x", "a b", "\u0430"),
                "text": ("", "   "),
                "epsilon_max": ("0", "17", "abc", "nan", "1e5"),
                "minimum_owners": ("1", "1.5", "1000001", "x"),
                "bid_time": ("0", "-1", "99999", "x"),
                "bid_unit": ("years", ""),
                "kind": ("average", "", "COUNT"),
            }
            name = self._rng.choice(sorted(wrong))
            fields |= {name: self._rng.choice(wrong[name]), "fault": name}
        return fields


Bend = Callable[[Asked, Rule, World, random.Random], Asked]


def _bend_body(asked: Asked, _rule: Rule, _world: World, rng: random.Random) -> Asked:
    """Put something else in one place of the JSON."""
    try:
        held = json.loads(asked.body)
    except (ValueError, RecursionError):
        return asked
    return dataclasses.replace(asked, body=_dumped(_bent(held, rng)))


def _dumped(value: Any) -> bytes:
    return json.dumps(value).encode("utf-8", "surrogatepass")


def _bent(held: Any, rng: random.Random) -> Any:
    if isinstance(held, dict) and held and rng.random() < 0.85:
        name = rng.choice(sorted(held))
        deed = rng.random()
        if deed < 0.1:
            return {key: value for key, value in held.items() if key != name}
        if deed < 0.2:
            return {**held, rng.choice(("extra", "size", "__proto__", "user_id", name + " ")): rng.choice(NASTY)}
        return {**held, name: _bent_within(held[name], rng)}
    if isinstance(held, list) and held and rng.random() < 0.7:
        place = rng.randrange(len(held))
        return [*held[:place], _bent_within(held[place], rng), *held[place + 1 :]]
    return rng.choice(NASTY)


def _bent_within(value: Any, rng: random.Random) -> Any:
    return _bent(value, rng) if isinstance(value, dict | list) else _near(value, rng)


def _near(value: Any, rng: random.Random) -> Any:
    """Something close by, or something quite else."""
    if rng.random() < 0.6 or (isinstance(value, int) and abs(value) > 2**70):  # beyond that no float holds it
        return rng.choice(NASTY)
    if isinstance(value, bool) or value is None:
        return str(value)
    if isinstance(value, int):
        if rng.random() < 0.4:
            return rng.choice((0, 1, rng.randrange(10**6), rng.randrange(10**9)))
        return rng.choice(
            (value + 1, value - 1, -value, value * 1.0, str(value), value + 0.5, value * 10**6, value + 2**64)
        )
    if isinstance(value, float):
        return rng.choice((str(value), -value, value * 1e300, value / 1e300, [value]))
    return rng.choice((value + "\n", value.upper(), value[:-1], value * 3, " " + value, value + "\u0000", [value]))


def _bend_bytes(asked: Asked, _rule: Rule, _world: World, rng: random.Random) -> Asked:
    """Bytes that are something else: cut off, turned, doubled, in another coding."""
    body = asked.body
    if not body:
        return dataclasses.replace(asked, body=rng.choice(RAW))
    place = rng.randrange(len(body))
    coded = body.decode("utf-8", "replace").encode("utf-16")
    turned = body[:place] + bytes([body[place] ^ (1 << rng.randrange(8))]) + body[place + 1 :]
    return dataclasses.replace(
        asked, body=rng.choice((body[:place], turned, body + body, body + b" x", coded, rng.choice(RAW), body + b"\n"))
    )


def _bend_path(asked: Asked, _rule: Rule, world: World, rng: random.Random) -> Asked:
    """Another object, or none, or another route."""
    parts = asked.path.split("/")
    place = rng.randrange(1, len(parts))
    known = [*(one.round_id for one in world.rounds.values()), *(one.user_id for one in world.people.values())][:25]
    parts[place] = rng.choice((rng.choice(IDS), rng.choice(known), parts[place] + "/", parts[place].upper(), ""))
    return dataclasses.replace(asked, path="/".join(parts) or "/")


def _bend_method(asked: Asked, _rule: Rule, _world: World, rng: random.Random) -> Asked:
    return dataclasses.replace(
        asked, method=rng.choice(("GET", "PUT", "POST", "DELETE", "PATCH", "HEAD", "OPTIONS", "BREW"))
    )


def _bend_query(asked: Asked, _rule: Rule, _world: World, rng: random.Random) -> Asked:
    name = rng.choice(("limit", "after", "state", "done", "x"))
    value = rng.choice(CURSORS if name == "after" else (*TEXTS, "open", "settled"))
    kept = tuple(pair for pair in asked.query if pair[0] != name)  # which of two would count is left open
    return dataclasses.replace(asked, query=(*kept, (name, value)))


def _bend_headers(asked: Asked, _rule: Rule, world: World, rng: random.Random) -> Asked:
    others = [one for name, one in world.people.items() if not name.startswith("spare")]
    other = rng.choice(others)
    ended = [one.token for one in world.people.values() if one.ended] or ["x" * 43]
    wrong: tuple[tuple[str, bytes], ...] = (
        ("authorization", f"Bearer {other.token}".encode()),
        ("authorization", f"bEARER {other.token}".encode()),
        ("authorization", f"Bearer {rng.choice(ended)}".encode()),
        ("authorization", f"Basic {other.token}".encode()),
        ("authorization", f"Bearer {other.token} ".encode()),
        ("authorization", b"Bearer " + bytes([0xE9]) * 30),
        ("authorization", b"Bearer"),
        ("cookie", f"pdqs_session={other.cookie}".encode()),
        ("cookie", b"pdqs_session=\xff\xfe; =; ;;"),
        ("x-csrf-token", other.csrf.encode()),
        ("x-csrf-token", b"\xe9"),
        ("idempotency-key", rng.choice(KEYS).encode("latin-1", "replace")),
        ("idempotency-key", b"key-of-this"),
        ("origin", rng.choice((b"http://market.example", b"https://evil.example", b"null", b"http://127.0.0.1:8017"))),
        ("sec-fetch-site", rng.choice((b"same-origin", b"cross-site", b"none", b"same-site"))),
        (
            "content-type",
            rng.choice((b"text/plain", b"application/xml", b"multipart/form-data; boundary=x", b"", b"\xff")),
        ),
        ("content-length", rng.choice((b"0", b"-1", b"99999999999999", b"abc", b"\xb2"))),
        ("accept", b"\xff" * 10),
        ("if-none-match", b"*"),
        ("range", b"bytes=0-"),
    )
    name, value = rng.choice(wrong)
    return dataclasses.replace(asked, headers={**asked.headers, name: value})


def _bend_form(asked: Asked, rule: Rule, _world: World, rng: random.Random) -> Asked:
    """Another field in a form, or none."""
    if not rule.form:
        return _bend_body(asked, rule, _world, rng)
    pairs = [pair.partition(b"=") for pair in asked.body.split(b"&")]
    place = rng.randrange(len(pairs))
    name = pairs[place][0]
    texts = [text for text in NASTY if isinstance(text, str)]
    if name in (b"amount", b"fault", b"kind", b"text", b"attribute", b"budget"):
        return asked  # these come from lists that say which are good
    spelled = form({name.decode("latin-1"): rng.choice(texts)})
    pairs[place] = spelled.partition(b"=")
    return dataclasses.replace(asked, body=b"&".join(b"=".join((n, v)) for n, _, v in pairs))


_BENDS: tuple[Bend, ...] = (
    *(_bend_body, _bend_body, _bend_body, _bend_body, _bend_bytes, _bend_path, _bend_path),
    *(_bend_method, _bend_query, _bend_query, _bend_headers, _bend_headers, _bend_form),
)
