"""Lies that no single answer gives away: between two looks, between two rounds, and about who and when."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pdqs.rounds.commitments import commitment_to

from .edits import bid_on, on, put, signed, written
from .lies_about_questions import asking
from .market import (
    ANN,
    BEN,
    CLOSES,
    NONCE,
    OTHER_KEY,
    OTHER_ROUND,
    REPORTS_CLOSE,
    ROUND,
    SEED,
    Json,
    Lie,
    Script,
    canonical,
    hashed,
    honest_document,
    public,
    sign,
)

NEUTRAL = "01" + "00" * 31
"""The neutral element of the curve, as a key is written: one signature under it fits whatever is signed."""


class Anyone:
    """Signs without a secret, under the neutral element."""

    def sign(self, _said: bytes) -> bytes:
        return bytes.fromhex(NEUTRAL) + bytes(32)


def anyone_signs(script: Script) -> None:
    script.document["receipt_key"] = NEUTRAL
    script.key = Anyone()  # type: ignore[assignment]  # it signs, and that is all that is asked of a key


def earlier_bid(owner: str = ANN, **document: Any) -> Json:
    """A bid that this device made before, in another round of this market."""
    own = {"seed_hash": commitment_to("seed", bytes(32)), "nonce_hash": commitment_to("nonce", bytes(32))}
    terms = canonical({**honest_document(), **own, "round": OTHER_ROUND, **document})
    plain = {"round_id": OTHER_ROUND, "bid_micros": 5, "terms_hash": "0" * 64, "question": "{}", "terms": terms}
    return {"kind": "bid", **plain, "body": "{}", "owner_id": owner}


def earlier_report(text: str) -> Json:
    """The report that it made there."""
    plain = {"attribute": "drink", "text": text, "terms_hash": "0" * 64, "epsilon_nanos": 1, "payment_micros": 1}
    return {"kind": "drawn", "round_id": OTHER_ROUND, **plain, "drawn_at_ms": 1, "body": '{"code":0}'}


ELSEWHERE = "http://elsewhere.example"
SIGNED: Json = {
    "kind": "bid-accepted",
    "market": ELSEWHERE,
    "round_id": ROUND,
    "at_ms": 1,
    "receipt": canonical({"terms_hash": "0" * 64, "bid_micros": 5}),
}
"""That the key in the terms of that bid signed for it."""


def named_elsewhere(**document: Any) -> tuple[Json, ...]:
    """A bid in a round of another market, which names this one's key too and signs for nothing."""
    return ({**earlier_bid(**document), "market": ELSEWHERE},)


def told_elsewhere(seed: bytes = bytes(32), nonce: bytes = bytes(32)) -> Json:
    """A draw in a round of another market, whose secrets came with it."""
    evidence = canonical({"root": None, "lots": {"seed": seed.hex(), "nonce": nonce.hex(), "place": 0, "path": []}})
    drawn = {"asked": False, "draw": 1, "chance_numerator": 1, "posted_micros": None, "evidence": evidence}
    return {"kind": "lots", "market": ELSEWHERE, "round_id": OTHER_ROUND, **drawn}


def drawn_under_another_name() -> tuple[Json, ...]:
    """A report on the very terms of this round, made for a market of another name."""
    report = {**earlier_report("What do you drink?"), "terms_hash": hashed(canonical(honest_document()))}
    return ({**report, "round_id": ROUND, "market": ELSEWHERE},)


def between(check: str, *, goal: str = "bid", **more: Any) -> Lie:
    return Lie(goal=goal, caught_by=frozenset({check}), **more)


def ask_other_from_now_on(script: Script, told: str, status: int, body: Json) -> tuple[int, Json]:
    """She looks at one question; whoever looks again finds another, hashed anew."""
    if told == "GET notice" and script.bid is None:
        script.document["terms"]["query"]["text"] = script.question["text"] = "Are you HIV positive?"
    return status, body


def another_round(script: Script) -> None:
    script.round = script.document["round"] = OTHER_ROUND


def answers(script: Script, **domain: Any) -> None:
    for place in (script.document["terms"]["query"]["domain"], script.question["domain"]):
        place.update(domain)


def endless(script: Script) -> None:
    """So many long answers that every bid would fill her account up."""
    answers(script, labels=[f"{place:05d}" + "\u00e9" * 75 for place in range(2000)], size=2000)


def too_fine(script: Script) -> None:
    asking("value")(script)
    answers(script, start=1e12, step=1e-9)


def uncommitted(script: Script) -> None:
    """A rule that draws no lots, and so no promise of how anything is drawn or counted."""
    script.document["terms"].update(rule="optimal", estimator="weighted")
    script.document.pop("seed_hash")
    script.document.pop("nonce_hash")


def taken_back(kind: str) -> Lie:
    def change(statement: Json) -> None:
        statement["items"] += [
            {**item, "kind": kind, "amount_micros": -item["amount_micros"]} for item in statement["items"]
        ]

    return between("payment", goal="paid", edit=on("GET statement", change))


def taken_back_later(change: Callable[[Json], Any]) -> Lie:
    """The statement has the payment when it is looked at first, and later it has not."""
    edit = on("GET statement", change, when=lambda s: s.statements_told > 1)
    return between("payment stays", goal="taken-back", noted=True, edit=edit)


def mirrored(kind: str, part: int = 1) -> Callable[[Json], None]:
    def change(statement: Json) -> None:
        first = statement["items"][0]
        named = {"transaction_id": f"reversal:{first['transaction_id']}", "kind": kind}
        statement["items"].append({**first, **named, "amount_micros": -first["amount_micros"] // part})

    return change


def offered_anew(**then: Any) -> Lie:
    """A generous offer when she looks first, and another when she looks again: the same from then on."""

    def change(script: Script, told: str, status: int, body: Json) -> tuple[int, Json]:
        if told == "GET offer":
            body.update(payment_micros=10**6, posted_micros=10**6)
            body.update(then if script.offers_told > 1 else {})
        return status, body

    return between("offer stands", goal="drawn", edit=change, looks=2)


def end_moved(script: Script, told: str, status: int, body: Json) -> tuple[int, Json]:
    """Once a report is drawn, the round ends an hour later than the offer said, and the report came in that hour."""
    if told == "GET notice" and script.offers_told > 1:
        body["reports_close_at_ms"] += 3_600_000
    if told == "PUT report":
        body = sign({**body, "received_at_ms": REPORTS_CLOSE}, script.key)
    return status, body


BETWEEN = {
    "a receipt from after the end of reporting, which it moved": between(
        "receipt time", goal="accepted", edit=end_moved
    ),
    "more asked for the same money than when she looked first": offered_anew(q_numerator=2**31),
    "less asked than when she looked first": offered_anew(q_numerator=2**29),
    "less money than when she looked first": Lie(
        goal="drawn",
        caught_by=frozenset({"offer stands", "lots stand"}),
        edit=offered_anew(payment_micros=999_999, posted_micros=999_999).edit,
        looks=2,
    ),
    "fewer reports elsewhere than she agreed to": Lie(
        goal="drawn", seed=({"kind": "elsewhere", "reports": 5},), persuaded=("fewer elsewhere",)
    ),
    "a payment that is taken back once it was noted": taken_back_later(mirrored("settlement")),
    "a payment that is reversed once it was noted": taken_back_later(mirrored("reversal")),
    "half a payment that is taken back once it was noted": taken_back_later(mirrored("return", 2)),
    "a payment that is gone from the statement once it was noted": taken_back_later(put(items=[])),
    "a key that anyone can sign with": written("receipt key", anyone_signs, goal="accepted"),
    "the same key with another sign": written(
        "receipt key", lambda s: s.document.update(receipt_key=NEUTRAL[:-2] + "80")
    ),
    "answers that look the same": written("answers apart", lambda s: answers(s, labels=["tea", "tea\u200b", "none"])),
    "answers in two forms of one letter": written(
        "answers apart", lambda s: answers(s, labels=["th\u00e9", "the\u0301", "none"])
    ),
    "terms longer than a market's can be": written("shape", endless),
    "a grid too fine to be read": written("answers apart", too_fine),
    "terms that are committed to nothing": written("committed", uncommitted),
    "the seed of another round": between("fresh secrets", seed=(earlier_bid(seed_hash=commitment_to("seed", SEED)),)),
    "the nonce of another round": between(
        "fresh secrets", seed=(earlier_bid(nonce_hash=commitment_to("nonce", NONCE)),)
    ),
    "the secrets of a round of the same name that it signed for elsewhere": between(
        "fresh secrets",
        seed=({**earlier_bid(seed_hash=commitment_to("seed", SEED)), "round_id": ROUND, "market": ELSEWHERE}, SIGNED),
    ),
    "a seed that was told in a round elsewhere": between("fresh secrets", seed=(told_elsewhere(seed=SEED),)),
    "a nonce that was told elsewhere, as a seed": between("fresh secrets", seed=(told_elsewhere(seed=NONCE),)),
    "a seed that a round elsewhere is committed to as well": Lie(
        goal="drawn", seed=named_elsewhere(seed_hash=commitment_to("seed", SEED)), persuaded=("same secrets",)
    ),
    "a nonce that a round elsewhere is committed to as well": Lie(
        goal="drawn", seed=named_elsewhere(nonce_hash=commitment_to("nonce", NONCE)), persuaded=("same secrets",)
    ),
    "answers in letters of two scripts": written(
        "answers apart", lambda s: answers(s, labels=["no", "n\u043e", "yes"])
    ),
    "answers apart by a mark that shows nothing": written(
        "answers apart", lambda s: answers(s, labels=["no", "no\ufe0f", "n\u034fo!"])
    ),
    "a round that was called off and asks": between(
        "still asking", goal="drawn", edit=on("GET notice", put(state="cancelled"), when=bid_on)
    ),
    "a round that is settled and asks": between(
        "still asking",
        goal="drawn",
        edit=on("GET notice", put(state="settled"), when=lambda s: bid_on(s) and s.report is None),
    ),
    "a round that she reported in under another name of the market": Lie(
        goal="drawn", seed=drawn_under_another_name(), persuaded=("answered before",)
    ),
    "another name for her than before": between("same owner", seed=(earlier_bid(owner=BEN),)),
    "another name for her than when she enrolled": between("same owner", seed=({"kind": "enrolled", "owner_id": BEN},)),
    "another key than in the rounds before": Lie(
        goal="drawn",
        seed=(earlier_bid(receipt_key=public(OTHER_KEY)), earlier_report("Do you like wine?")),
        edit=on("GET me", put(reports_made=1)),
        persuaded=("new key",),
    ),
    "the key of a market at another address": Lie(
        goal="drawn", seed=(*named_elsewhere(), SIGNED), persuaded=("shared key",)
    ),
    "another round than she asked about": between("asked round", prepare=another_round),
    "other terms than those she looked at": between("terms seen", edit=ask_other_from_now_on),
    "a clock that goes back once she agreed": between(
        "clock",
        goal="drawn",
        edit=on("GET offer", lambda o: o.update(now_ms=o["now_ms"] - 6000), when=lambda s: s.offers_told > 1),
    ),
    "a root that is yet to be published": between(
        "root time",
        goal="drawn",
        edit=on("GET notice", lambda n: signed(published_at_ms=CLOSES + 3_600_000)(n["bids_root"]), when=bid_on),
    ),
    "an offer from before bids were closed": between(
        "root time", goal="drawn", edit=on("GET offer", put(now_ms=CLOSES - 3_600_000))
    ),
    "a payment that is taken back": taken_back("settlement"),
    "a payment that is taken back under another name": taken_back("reversal"),
}
