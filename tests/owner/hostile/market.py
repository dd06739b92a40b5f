"""A scripted market on loopback: one round, told honestly but for one lie. It keeps nobody's money and knows no owners.

Every lie and run has a market of its own under ``/LIE/RUN``, so that many devices can be lied to at once. What is told
honestly is told by :class:`Script`; a :class:`Lie` edits one answer on its way out.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import unquote

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

import pdqs
from pdqs.owner.price import least_payment_micros
from pdqs.privacy.draws import LOTTERY_WORD, STAGE_WORD, committed_words
from pdqs.protocol.device_messages import BidReceipt, BidsRoot, DomainMessage, ReportReceipt
from pdqs.protocol.receipts import signed_bytes
from pdqs.rounds.commitments import bid_entry, commitment_to, pseudonym_of
from pdqs.rounds.merkle import merkle_tree
from pdqs.rounds.stages import parts_of, stages_of

Json = dict[str, Any]
ROUND = "rnd_" + "a1" * 12
OTHER_ROUND = "rnd_" + "b2" * 12
CLOSES = 1_800_000_000_000
REPORTS_CLOSE = CLOSES + 60_000
BID = 300_000
KEY = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
OTHER_KEY = Ed25519PrivateKey.from_private_bytes(bytes(32))
ANN, BEN = "u_" + "0" * 24, "u_" + "1" * 24
"""The owner whose device is lied to, and another whom the market might take her for."""
SEED, NONCE = bytes(range(1, 33)), bytes(range(2, 34))
CHANCE = 2**32 - 2**20
"""Nearly certain, so that a lie about the draw would still have her asked."""
MEDIAN = pdqs.Median(pdqs.Domain.grid(0, 100, 5), "What is your monthly income?")
QUERY = pdqs.Histogram(pdqs.Domain.categories(["tea", "coffee", "neither"]), "What do you drink?")


def public(key: Ed25519PrivateKey) -> str:
    return key.public_key().public_bytes_raw().hex()


def canonical(document: Json) -> str:
    return json.dumps(document, sort_keys=True, separators=(",", ":"))


def hashed(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def honest_document() -> Json:
    return {
        "round": ROUND,
        "attribute": "drink",
        "bids_close_at_ms": CLOSES,
        "report_seconds": 60,
        "minimum_owners": 2,
        "receipt_form": 2,
        "receipt_key": public(KEY),
        "seed_hash": commitment_to("seed", SEED),
        "nonce_hash": commitment_to("nonce", NONCE),
        "nonce_by": "market",
        "nonce_seconds": 86_400,
        "terms": json.loads(pdqs.Terms(query=QUERY, budget=100.0).canonical()),
    }


def honest_question() -> Json:
    domain = DomainMessage.of(QUERY.domain).model_dump()
    return {"attribute": "drink", "text": QUERY.text, "domain": domain}


def sign(receipt: Json, key: Ed25519PrivateKey = KEY) -> Json:
    kind = ReportReceipt if "code" in receipt else BidsRoot if "root" in receipt else BidReceipt
    plain = kind.model_construct(**{name: value for name, value in receipt.items() if name != "signature"})
    return {**receipt, "signature": key.sign(signed_bytes(plain)).hex()}


@dataclass
class Script:
    """One round as an honest market would tell it, to one device."""

    round: str = ROUND
    document: Json = field(default_factory=honest_document)
    question: Json = field(default_factory=honest_question)
    terms: str | None = None
    terms_hash: str | None = None
    key: Ed25519PrivateKey = KEY
    q_numerator: int = 2**30
    bid: Json | None = None
    report: Json | None = None
    offers_told: int = 0
    statements_told: int = 0
    seed: bytes = SEED
    nonce: bytes = NONCE
    owner: str = ANN
    counted_bid: int = BID
    """What the root was published over, as hers."""
    chance: int = CHANCE
    left_out: bool = False
    kappa: int = len(QUERY.domain.labels)
    side: int | None = None
    """What she is asked about, where the document asks about sides."""
    window: tuple[int, int] = (0, 0)
    not_yet: bool = False
    withdrawn_at_ms: int = 0
    """When she withdrew, by its word."""

    @property
    def stage(self) -> str:
        if self.report is not None:
            return "settled"
        return "open" if self.bid is None else "reporting"

    @property
    def stages(self) -> int:
        return int(self.document["terms"].get("question", {}).get("stages", 1))

    @property
    def turn(self) -> int:
        """Her stage."""
        word = committed_words(self.seed, self.nonce, [self.names[self.place]], STAGE_WORD)
        return int(stages_of(word, parts_of(self.stages))[0])

    @property
    def closes(self) -> int:
        """When her reports close."""
        return REPORTS_CLOSE + 60_000 * (self.turn - 1)

    def opened(self) -> list[Json]:
        """The stages so far: hers is the last to have opened, unless it is yet to come."""
        if self.stage == "open" or self.document["terms"].get("question", {}).get("is") != "side":
            return []
        low, high = self.window
        times = [(CLOSES + 60_000 * i, REPORTS_CLOSE + 60_000 * i) for i in range(self.turn - self.not_yet)]
        plain = [{"number": i + 1, "opened_at_ms": a, "closes_at_ms": b} for i, (a, b) in enumerate(times)]
        return [{**each, "low": low, "high": high} for each in plain]

    @property
    def text(self) -> str:
        return self.terms if self.terms is not None else canonical(self.document)

    @property
    def hash(self) -> str:
        return self.terms_hash or hashed(self.text)

    @property
    def payment(self) -> int:
        return least_payment_micros(BID, self.q_numerator, self.kappa)

    @property
    def names(self) -> list[bytes]:
        """Everyone who bid, in order."""
        return sorted(pseudonym_of(self.round, owner) for owner in (self.owner, *(f"u_{i:024x}" for i in range(2, 8))))

    @property
    def place(self) -> int:
        return self.names.index(pseudonym_of(self.round, self.owner))

    @property
    def entries(self) -> list[bytes]:
        """The bids that the root is published over; the others are all the same."""
        return [bid_entry(name, self.counted_bid if i == self.place else 7) for i, name in enumerate(self.names)]

    @property
    def draw(self) -> int:
        return int(committed_words(self.seed, self.nonce, [self.names[self.place]], LOTTERY_WORD)[0])

    def root(self) -> Json:
        root = merkle_tree(self.entries).root.hex()
        plain = {"round_id": self.round, "terms_hash": self.hash, "root": root, "bids": 7, "published_at_ms": CLOSES}
        return sign(plain, self.key)

    def lots(self) -> Json:
        proof = merkle_tree(self.entries).proof(self.place)
        path = [beside.hex() for beside in proof.path]
        return {"seed": self.seed.hex(), "nonce": self.nonce.hex(), "place": proof.place, "path": path}

    def notice(self) -> Json:
        low, high = self.document["terms"]["bid_range"]
        return {
            "round_id": self.round,
            "state": self.stage,
            "question": self.question,
            "bid_low_micros": round(low * 1e6),
            "bid_high_micros": round(high * 1e6),
            "epsilon_max": self.document["terms"]["epsilon_max"],
            "bids_close_at_ms": self.document["bids_close_at_ms"],
            "reports_close_at_ms": None if self.stage == "open" else REPORTS_CLOSE + 60_000 * (self.stages - 1),
            "terms": self.text,
            "terms_hash": self.hash,
            "bids_root": None if self.stage == "open" else self.root(),
            "stages": self.opened(),
        }

    def listed(self) -> Json:
        """The market's list of rounds, which has this one."""
        told = self.notice()
        names = ("round_id", "state", "bid_low_micros", "bid_high_micros", "epsilon_max", "bids_close_at_ms")
        plain = {name: told[name] for name in (*names, "reports_close_at_ms", "terms_hash")}
        domain = self.question["domain"]
        about = {name: self.question[name] for name in ("text", "attribute")}
        about |= {"domain_kind": domain["kind"], "domain_size": domain["size"], "purpose": ""}
        item = {**plain, **about, "stages_in_all": self.stages}
        return {"items": [item], "next": None}

    def offer(self) -> Json:
        self.offers_told += 1
        price = self.payment
        return {
            "round_id": self.round,
            "terms_hash": self.hash,
            "question": self.question,
            "q_numerator": 0 if self.left_out else self.q_numerator,
            "payment_micros": 0 if self.left_out else price,
            "reports_close_at_ms": self.closes,
            "now_ms": self.closes - 59_000,
            "chance_numerator": self.chance,
            "draw": self.draw,
            "posted_micros": price // 2 if self.left_out else price,
            "lots": self.lots(),
            "stage": self.turn,
            "side": None if self.not_yet else self.side,
        }

    def whose(self) -> Json:
        """What a receipt says of her, in a round whose terms promise it."""
        return {"pseudonym": pseudonym_of(self.round, self.owner).hex()} if self.form == 2 else {}

    def asked(self) -> Json:
        """What the receipt says that the offer asked, likewise."""
        return {"q_numerator": self.q_numerator, "stage": self.turn, "side": self.side} if self.form == 2 else {}

    @property
    def form(self) -> int:
        return int(self.document.get("receipt_form", 1))

    def take_bid(self, body: Json) -> Json:
        placed = body.pop("replaces", CLOSES - 5001) + 1
        plain = {"round_id": self.round, **body, "placed_at_ms": placed, **self.whose()}
        self.bid = sign(plain, self.key)
        return self.bid

    def take_report(self, body: Json) -> Json:
        plain = {"round_id": self.round, **body, "received_at_ms": self.closes - 58_000}
        self.report = sign(
            {**plain, "payment_micros": self.payment, "ordinal": 1, **self.whose(), **self.asked()}, self.key
        )
        return self.report

    def answer(self, method: str, what: str, body: Json) -> tuple[int, Json]:
        """What is told: ``what`` is the last word of the path."""
        missing = {"type": f"no-{what}", "title": "", "status": 404, "detail": f"you have no {what}"}
        if method == "PUT":
            return 200, self.take_bid(body) if what == "bid" else self.take_report(body)
        if what in ("bid", "report"):
            kept = self.bid if what == "bid" else self.report
            return (404, missing) if kept is None else (200, kept)
        posting = {"transaction_id": "t", "kind": "settlement", "account": "o", "amount_micros": self.payment}
        posting |= {"at_ms": CLOSES + 9000, "round_id": self.round}
        user = {"user_id": ANN, "role": "owner", "name": "Ann", "created_at_ms": 1}
        told: dict[str, Callable[[], Json]] = {
            "notice": self.notice,
            "notices": self.listed,
            "offer": self.offer,
            "me": lambda: {"user": user, "balance_micros": 0, "reports_made": 0 if self.report is None else 1},
            "statement": lambda: {"balance_micros": None, "items": [posting] if self.report else [], "next": None},
        }
        self.statements_told += what == "statement"
        return 200, told[what]()


Edit = Callable[[Script, str, int, Json], tuple[int, Json]]
"""Edits an answer: the script, what is answered (``PUT bid``, ``GET notice`` ...), its status and its body."""


@dataclass(frozen=True, kw_only=True)
class Lie:
    """One lie: how the script is set up for it, how answers are edited, and what it is after.

    ``goal`` is the kind of entry that must not come to be; where the lie comes after the last fact, it must come to be
    (``noted``). ``caught_by`` are the checks that catch it: with a device that has all others but these, it is the
    other way round. ``seed`` is what the device's account holds before; ``agrees`` what the owner agrees to (her
    agreeing to ``persuaded`` besides is the weakness, where it is no check that catches it).
    """

    goal: str
    noted: bool = False
    caught_by: frozenset[str] = frozenset()
    prepare: Callable[[Script], None] = lambda _script: None
    edit: Edit = lambda _script, _what, status, body: (status, body)
    seed: tuple[Json, ...] = ()
    agrees: tuple[str, ...] = ("new fact",)
    persuaded: tuple[str, ...] = ()
    answer: object = "coffee"
    """What she answers; to a question about a side it is yes or no."""
    lost: bool = False
    """Whether the answers to what she sends are lost on their way, so that she looks at what is there."""
    looks: int = 1
    """How often she looks at the offer before she answers."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # head and body in one packet: two would wait for each other's acknowledgement
    server: Hostile

    def do_GET(self) -> None:
        self._tell("GET", b"")

    def do_PUT(self) -> None:
        self._tell("PUT", self.rfile.read(int(self.headers.get("content-length", "0"))))

    def _tell(self, method: str, content: bytes) -> None:
        _, name, run, _, *path = unquote(self.path.partition("?")[0]).split("/")
        what = "notice" if path[0] == "notices" and path[1:] else path[-1]
        status, body = self.server.told(name, run, method, what, json.loads(content or b"{}"))
        text = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_words: object) -> None:
        """Say nothing."""


class Hostile(ThreadingHTTPServer):
    """All lies at once, each under its own path."""

    daemon_threads = True

    def __init__(self, lies: dict[str, Lie]) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.lies = lies
        self._scripts: dict[tuple[str, str], Script] = {}

    def told(self, name: str, run: str, method: str, what: str, body: Json) -> tuple[int, Json]:
        lie = self.lies[name]
        if (name, run) not in self._scripts:
            self._scripts[name, run] = Script()
            lie.prepare(self._scripts[name, run])
        script = self._scripts[name, run]
        if what == "mine":
            return self._all_of_hers(script, lie)
        status, honest = script.answer(method, what, body)
        status, told = lie.edit(script, f"{method} {what}", *_copied(status, honest))
        if told.get("balance_micros", 0) is None:  # what the lines come to, unless the lie says otherwise
            told["balance_micros"] = max(0, sum(line.get("amount_micros", 0) for line in told["items"]))
        return status, told

    @staticmethod
    def _all_of_hers(script: Script, lie: Lie) -> tuple[int, Json]:
        """What the routes tell of her one by one, lies among it, in one answer."""
        parts: Json = {}
        for what in ("offer", "notice", "bid", "report", "me"):
            if what == "offer" and script.stage == "open":
                parts[what] = None
                continue
            status, told = lie.edit(script, f"GET {what}", *_copied(*script.answer("GET", what, {})))
            if status != 200 and told.get("type") != f"no-{what}":
                return status, told
            parts[what] = told if status == 200 else None
        me = parts.pop("me")
        whose = {"owner_id": me["user"]["user_id"], "reports_made": me["reports_made"]}
        return 200, {**parts, **whose, "withdrawn_at_ms": script.withdrawn_at_ms}


def _copied(status: int, honest: Json) -> tuple[int, Json]:
    return status, json.loads(json.dumps(honest))


@contextmanager
def hostile(lies: dict[str, Lie]) -> Iterator[str]:
    """Serve the lies; the address they are under."""
    server = Hostile(lies)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
