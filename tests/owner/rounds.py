"""Rounds and offers as a market would send them, for tests of the device."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

import pdqs
from pdqs.model.query import Query
from pdqs.owner.account import StoredReport
from pdqs.owner.checks import without
from pdqs.owner.price import least_payment_micros
from pdqs.protocol.device_messages import Bid, BidReceipt, DomainMessage, Offer, Question, ReportReceipt, RoundNotice
from pdqs.protocol.receipts import sign
from pdqs.rounds.commitments import pseudonym_of

ROUND = "rnd_" + "a1" * 12
WITHOUT_DRAWS = without("committed")
"""The checks of a device that may bid in the rounds below, which are committed to no draws."""
CLOSES = 1_800_000_000_000
KEY = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
"""The market's key for receipts."""


def notice(query: Query | None = None, *, attribute: str = "smoker", **changes: Any) -> RoundNotice:
    """An honest notice of a round; ``changes`` are made after it was hashed."""
    terms = pdqs.presets.sound(query=query or pdqs.Count("Do you smoke?"), budget=100.0, question="value")
    document = json.dumps(
        {
            "round": ROUND,
            "attribute": attribute,
            "bids_close_at_ms": CLOSES,
            "report_seconds": 60,
            "minimum_owners": 2,
            "receipt_form": 2,
            "receipt_key": KEY.public_key().public_bytes_raw().hex(),
            "terms": json.loads(terms.canonical()),
        },
        sort_keys=True,
        separators=(",", ":"),
    )
    question = Question(attribute=attribute, text=terms.asking.text, domain=DomainMessage.of(terms.domain))
    honest = RoundNotice(
        round_id=ROUND,
        state="reporting",
        question=question,
        bid_low_micros=0,
        bid_high_micros=1_000_000,
        epsilon_max=4.0,
        bids_close_at_ms=CLOSES,
        reports_close_at_ms=CLOSES + 60_000,
        terms=document,
        terms_hash=hashlib.sha256(document.encode()).hexdigest(),
    )
    return honest.model_copy(update=changes)


def offer(for_round: RoundNotice, *, bid_micros: int, q_numerator: int = 2**31, **changes: Any) -> Offer:
    """The offer that pays exactly the owner's price."""
    size = for_round.question.domain.size
    honest = Offer(
        round_id=for_round.round_id,
        terms_hash=for_round.terms_hash,
        question=for_round.question,
        q_numerator=q_numerator,
        payment_micros=least_payment_micros(bid_micros, q_numerator, size),
        reports_close_at_ms=CLOSES + 60_000,
        now_ms=CLOSES + 1000,
    )
    return honest.model_copy(update=changes)


def bid_fields(for_round: RoundNotice, bid_micros: int, market: str) -> dict[str, Any]:
    """A bid as the device would have stored it."""
    body = Bid(terms_hash=for_round.terms_hash, bid_micros=bid_micros).model_dump_json()
    return {
        "market": market,
        "round_id": for_round.round_id,
        "bid_micros": bid_micros,
        "terms_hash": for_round.terms_hash,
        "question": for_round.question.model_dump_json(),
        "terms": for_round.terms,
        "body": body,
    }


def bid_receipt(for_round: RoundNotice, bid_micros: int, owner_id: str = "", **changes: Any) -> BidReceipt:
    """The market's signed word that it has a bid; ``changes`` are made before it signs."""
    plain = BidReceipt(
        round_id=for_round.round_id,
        terms_hash=for_round.terms_hash,
        bid_micros=bid_micros,
        placed_at_ms=CLOSES - 1,
        pseudonym=pseudonym_of(for_round.round_id, owner_id).hex(),
    )
    return sign(KEY, plain.model_copy(update=changes))


def report_receipt(made: StoredReport, owner_id: str = "", **changes: Any) -> ReportReceipt:
    """The market's signed word that it has a report."""
    plain = ReportReceipt(
        round_id=made.round_id,
        terms_hash=made.terms_hash,
        code=json.loads(made.body)["code"],
        received_at_ms=CLOSES + 2000,
        payment_micros=made.payment_micros,
        ordinal=1,
        pseudonym=pseudonym_of(made.round_id, owner_id).hex(),
        q_numerator=2**31,
        stage=1,
        side=None,
    )
    return sign(KEY, plain.model_copy(update=changes))
