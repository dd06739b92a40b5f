"""The lies, by name. Each says what it is after and which checks catch it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pdqs.rounds.commitments import pseudonym_of

from .edits import (
    bid_on,
    domain,
    instead,
    lost,
    odd_words,
    on,
    put,
    question,
    says,
    shown,
    signed,
    text_becomes,
    unhashed,
    written,
)
from .lies_about_questions import STAGES
from .lies_between_rounds import BETWEEN
from .lies_of_form import FORMS
from .lies_without_lots import WITHOUT_LOTS
from .market import (
    BEN,
    BID,
    CLOSES,
    KEY,
    OTHER_KEY,
    OTHER_ROUND,
    REPORTS_CLOSE,
    ROUND,
    Json,
    Lie,
    Script,
    public,
    sign,
)

NOTICE = {
    "terms were changed after they were hashed": written("terms hash", unhashed),
    "the hash is of something else": written("terms hash", lambda s: setattr(s, "terms_hash", "ab" * 32)),
    "terms with a space": written("terms canonical", text_becomes(lambda t: t.replace(":", ": ", 1))),
    "terms with a key twice": written(
        "terms canonical", text_becomes(lambda t: t.replace('{"attribute":', '{"attribute":"tea","attribute":', 1))
    ),
    "terms with a key twice, once by its numbers": written(
        "terms canonical",
        text_becomes(lambda t: t.replace('"attribute":', '"attribut\\u0065":"illness","attribute":', 1)),
    ),
    "a number spelled with a power": written(
        "terms canonical", text_becomes(lambda t: t.replace('"budget":100.0', '"budget":1e2'))
    ),
    "a number with a nought too many": written(
        "terms canonical", text_becomes(lambda t: t.replace('"budget":100.0', '"budget":100.00'))
    ),
    "a letter by its number": written(
        "terms canonical", text_becomes(lambda t: t.replace("What do you", "Wh\\u0061t do you"))
    ),
    "terms with keys out of order": written(
        "terms canonical",
        text_becomes(lambda t: '{"round":"' + ROUND + '",' + t[1:].replace(f'"round":"{ROUND}",', "", 1)),
    ),
    "terms with five seconds to report": written("time to draw", says("report_seconds", value=5)),
    "another round's terms": written("shown round", says("round", value=OTHER_ROUND)),
    "the terms name another attribute": written("shown attribute", says("attribute", value="illness")),
    "another attribute is shown": shown("shown attribute", question(attribute="illness")),
    "the terms ask something else": written("shown text", says("terms", "query", "text", value="Are you ill?")),
    "something else is shown": shown("shown text", question(text="Do you like tea?")),
    "other answers are shown": shown("shown answers", domain(labels=["yes", "no", "perhaps"])),
    "answers are shown in another order": shown("shown answers", domain(labels=["coffee", "tea", "neither"])),
    "fewer answers are shown": shown("shown answers", domain(labels=["tea", "coffee"], size=2)),
    "a lower top price is shown": shown("shown bid range", put(bid_high_micros=500_000)),
    "a higher top price is shown": shown("shown bid range", put(bid_high_micros=2_000_000)),
    "another least price is shown": shown("shown bid range", put(bid_low_micros=200_000)),
    "a lower cap is shown": shown("shown cap", put(epsilon_max=0.5)),
    "a higher cap is shown": shown("shown cap", put(epsilon_max=9.0)),
    "an earlier closing time is shown": shown("shown closing time", put(bids_close_at_ms=CLOSES - 1)),
    "a later closing time is shown": shown("shown closing time", put(bids_close_at_ms=CLOSES + 3_600_000)),
    "a contract that gives the coin away": written(
        "contract",
        lambda s: s.document["terms"].update(contract="on-selection", rule="optimal", estimator="weighted"),
    ),
    "no key for receipts": written("receipt key", says("receipt_key", value="")),
    "a key that is none": written("receipt key", says("receipt_key", value="zz" * 32)),
    "a key cut short": written("receipt key", says("receipt_key", value=public(KEY)[:40])),
    "lots without a seed": written({"commitments", "committed"}, lambda s: s.document.pop("seed_hash")),
    "lots without a nonce": written({"commitments", "committed"}, lambda s: s.document.pop("nonce_hash")),
    "lots with a seed that anyone could guess": written({"commitments", "committed"}, says("seed_hash", value="7")),
}

BIDDING = {
    "the round is over and takes bids": Lie(
        goal="bid", caught_by=frozenset({"open for bids"}), edit=on("GET notice", put(state="settled"))
    ),
    "the round was cancelled and takes bids": Lie(
        goal="bid", caught_by=frozenset({"open for bids"}), edit=on("GET notice", put(state="cancelled"))
    ),
    "she has bid already, it says": Lie(
        goal="bid",
        caught_by=frozenset({"bid elsewhere"}),
        edit=instead(
            "GET bid",
            200,
            sign({"round_id": ROUND, "terms_hash": "0" * 64, "bid_micros": 5, "placed_at_ms": CLOSES - 9000}),
            when=lambda script: script.bid is None,
        ),
    ),
}


def bid_receipt(check: str, change: Callable[[Json], Any]) -> Lie:
    return Lie(goal="bid-accepted", caught_by=frozenset({check}), edit=on("PUT bid", change))


def says_less(body: Json) -> None:
    """A receipt of the form before, signed as such, where the terms promise whose it is and what was asked."""
    for name in ("pseudonym", "q_numerator", "stage", "side"):
        body.pop(name, None)
    body.update(sign(body))


BENS = pseudonym_of(ROUND, BEN).hex()

BID_RECEIPTS = {
    "a bid's receipt for another round": bid_receipt("bid receipt round", signed(round_id=OTHER_ROUND)),
    "a bid's receipt for other terms": bid_receipt("bid receipt terms", signed(terms_hash="0" * 64)),
    "a bid's receipt that names another owner": bid_receipt("bid receipt owner", signed(pseudonym=BENS)),
    "a bid's receipt that names nobody": bid_receipt("bid receipt owner", says_less),
    "a bid's receipt at a lower price": bid_receipt("bid receipt price", signed(bid_micros=1)),
    "a bid's receipt at a higher price": bid_receipt("bid receipt price", signed(bid_micros=999_999)),
    "a bid's receipt that says it came late": bid_receipt("bid receipt time", signed(placed_at_ms=CLOSES)),
    "a bid's receipt without a signature": bid_receipt("bid receipt signature", put(signature="")),
    "a bid's receipt that another key signed": bid_receipt("bid receipt signature", signed(OTHER_KEY)),
    "a bid's receipt changed after it was signed": bid_receipt(
        "bid receipt signature", put(placed_at_ms=CLOSES - 4999)
    ),
}


def fetched(check: str, change: Callable[[Json], Any]) -> Lie:
    """The answer to her bid is lost, and what the market has signed for it is asked for again."""
    lie = lost(on("GET bid", change))
    return Lie(goal="drawn", caught_by=frozenset({check}), edit=lie, lost=True)


LOST_RECEIPTS = {
    "a lost bid's receipt that names nobody": fetched("bid receipt owner", says_less),
    "a lost bid's receipt that names another owner": fetched("bid receipt owner", signed(pseudonym=BENS)),
    "a lost bid's receipt that another key signed": fetched("bid receipt signature", signed(OTHER_KEY)),
    "a lost bid's receipt that says it came late": fetched("bid receipt time", signed(placed_at_ms=CLOSES)),
    "a lost bid at another price": fetched("bid there", signed(bid_micros=BID - 1)),
    "a lost report's receipt that names nobody": Lie(
        goal="accepted",
        caught_by=frozenset({"receipt asked", "receipt owner"}),
        edit=lost(on("GET report", says_less)),
        lost=True,
    ),
}


def swapped(check: set[str], change: Callable[[Script], Any]) -> Lie:
    """After the bid the round has other terms, hashed anew: consistent, but not what was bid on."""

    def edit(script: Script, told: str, status: int, body: Json) -> tuple[int, Json]:
        if told == "PUT bid":
            change(script)
        return status, body

    return Lie(goal="drawn", caught_by=frozenset(check), edit=edit)


def ask_other(script: Script) -> None:
    script.document["terms"]["query"]["text"] = "Are you HIV positive?"
    script.question["text"] = "Are you HIV positive?"


def rename(script: Script) -> None:
    script.document["attribute"] = script.question["attribute"] = "beverage"


def relabel(script: Script) -> None:
    script.kappa = 4
    labels = ["tea", "coffee", "neither", "something stronger"]
    for place in (script.document["terms"]["query"]["domain"], script.question["domain"]):
        place.update(labels=labels, size=4)


def other_key(script: Script) -> None:
    script.document["receipt_key"] = public(OTHER_KEY)
    script.key = OTHER_KEY


def offered(check: str | set[str], change: Callable[[Json], Any]) -> Lie:
    names = frozenset({check} if isinstance(check, str) else check)
    return Lie(goal="drawn", caught_by=names, edit=on("GET offer", change))


def pays_what_it_posts(micros: int, **more: Any) -> Callable[[Json], None]:
    return put(payment_micros=micros, posted_micros=micros, **more)


def closing(status: int, body: Json, at_ms: int) -> tuple[int, Json]:
    """Another deadline, in notice and offer alike."""
    if status == 200 and body.get("reports_close_at_ms"):
        body["reports_close_at_ms"] = at_ms
    return status, body


def sooner(_script: Script, _told: str, status: int, body: Json) -> tuple[int, Json]:
    return closing(status, body, REPORTS_CLOSE - 30_000)


OTHER_REPORT = {
    "round_id": ROUND, "terms_hash": "0" * 64, "code": 1, "received_at_ms": CLOSES + 1, "payment_micros": 5,
    "ordinal": 1,
}  # fmt: skip


OFFERS = {
    "another question after the bid": swapped({"bid terms", "bid question"}, ask_other),
    "another attribute after the bid": swapped({"bid terms", "bid question"}, rename),
    "more answers after the bid": swapped({"bid terms", "bid question"}, relabel),
    "a higher cap after the bid": swapped({"bid terms"}, says("terms", "epsilon_max", value=9.0)),
    "a larger budget after the bid": swapped({"bid terms"}, says("terms", "budget", value=900.0)),
    "another key for receipts after the bid": swapped({"bid terms"}, other_key),
    "another question shown after the bid": Lie(
        goal="drawn",
        caught_by=frozenset({"shown text", "bid question", "offer question"}),
        edit=on("GET notice", question(text="Are you HIV positive?"), when=bid_on),
    ),
    "another bid of hers at the offer": Lie(
        goal="drawn", caught_by=frozenset({"bid there"}), edit=on("GET bid", signed(bid_micros=1), when=bid_on)
    ),
    "a bid for other terms at the offer": Lie(
        goal="drawn", caught_by=frozenset({"bid there"}), edit=on("GET bid", signed(terms_hash="0" * 64), when=bid_on)
    ),
    "the bid it signed for is gone": Lie(
        goal="drawn",
        caught_by=frozenset({"bid still there"}),
        edit=instead("GET bid", 404, {"type": "no-bid", "detail": "no bid"}, when=bid_on),
    ),
    "an offer for another round": offered("offer round", put(round_id=OTHER_ROUND)),
    "an offer for other terms": offered("offer terms", put(terms_hash="0" * 64)),
    "an offer with another question": offered("offer question", question(text="Are you HIV positive?")),
    "an offer about another attribute": offered("offer question", question(attribute="illness")),
    "an offer with other answers": offered("offer question", domain(labels=["coffee", "tea", "neither"])),
    "an offer with fewer answers": offered("offer question", domain(labels=["tea", "coffee"], size=2)),
    "more privacy than the cap": offered("epsilon cap", pays_what_it_posts(9_000_000, q_numerator=2**32 - 2**26)),
    "the bare value": offered("epsilon cap", pays_what_it_posts(90_000_000, q_numerator=2**32 - 1)),
    "a payment one micro-unit short": offered("price", lambda o: pays_what_it_posts(o["payment_micros"] - 1)(o)),
    "no payment": offered("price", pays_what_it_posts(0)),
    "less time than the terms promise": Lie(goal="drawn", caught_by=frozenset({"time to report"}), edit=sooner),
    "an offer that ends later than the round": offered("same deadline", put(reports_close_at_ms=REPORTS_CLOSE + 1)),
    "a report of hers that she did not make": Lie(
        goal="drawn",
        caught_by=frozenset({"report elsewhere"}),
        edit=instead("GET report", 200, sign(OTHER_REPORT), when=lambda s: s.report is None),
    ),
}


OTHER_SECRET = bytes(range(100, 132))


def lots(check: str | set[str], goal: str = "drawn", **changes: Any) -> Lie:
    """The market goes by other lots than it should, and tells a story that holds together."""

    def edit(script: Script, told: str, status: int, body: Json) -> tuple[int, Json]:
        if told == "PUT bid":
            for name, value in changes.items():
                setattr(script, name, value)
        return status, body

    names = frozenset({check} if isinstance(check, str) else check)
    return Lie(goal=goal, caught_by=names, edit=edit)


def rooted(check: str, change: Callable[[Json], Any]) -> Lie:
    """Another root over the bids, in the notice."""
    edit = on("GET notice", lambda body: change(body["bids_root"]), when=bid_on)
    return Lie(goal="drawn", caught_by=frozenset({check}), edit=edit)


def leave_out(**more: Any) -> Callable[[Json], None]:
    return put(q_numerator=0, payment_micros=0, **more)


TOLD_BEFORE = {"asked": True, "draw": 5, "chance_numerator": 2**32, "posted_micros": None, "evidence": "{}"}

LOTS = {
    "another seed than the one promised": lots("seed", seed=OTHER_SECRET),
    "another nonce than the one promised": lots("nonce", nonce=OTHER_SECRET),
    "a seed and a nonce in each other's place": lots(
        {"seed", "nonce"}, seed=bytes(range(2, 34)), nonce=bytes(range(1, 33))
    ),
    "a root without her bid": lots({"bid counted", "draw"}, owner=BEN),
    "a root over a lower bid of hers": lots("bid counted", counted_bid=1),
    "a root over a higher bid of hers": lots("bid counted", counted_bid=BID + 1),
    "a bid counted in another's place": offered(
        "bid counted", lambda o: o["lots"].update(place=o["lots"]["place"] ^ 1)
    ),
    "a proof that is cut short": offered("bid counted", lambda o: o["lots"]["path"].pop()),
    "a proof with more than belongs to it": offered("bid counted", lambda o: o["lots"]["path"].append("00" * 32)),
    "a draw that does not follow": offered("draw", put(draw=5)),
    "a draw off by one": offered("draw", lambda o: o.update(draw=o["draw"] - 1)),
    "a draw without the secrets behind it": offered("lots told", put(lots=None)),
    "a draw without a root": Lie(
        goal="drawn", caught_by=frozenset({"lots told"}), edit=on("GET notice", put(bids_root=None), when=bid_on)
    ),
    "another round's root": rooted("root round", signed(round_id=OTHER_ROUND)),
    "a root for other terms": rooted("root round", signed(terms_hash="0" * 64)),
    "a root from before the bids closed": rooted("root time", signed(published_at_ms=CLOSES - 1)),
    "a root without a signature": rooted("root signature", put(signature="")),
    "a root that another key signed": rooted("root signature", signed(OTHER_KEY)),
    "a root that it does not stand by": rooted("root signature", put(published_at_ms=CLOSES + 1)),
    "she is asked against the lot": offered("lot", put(chance_numerator=0)),
    "she is left out though drawn": Lie(
        goal="lots", caught_by=frozenset({"lot"}), edit=on("GET offer", leave_out(posted_micros=0))
    ),
    "she is left out at a price above hers": Lie(
        goal="lots",
        caught_by=frozenset({"posted price"}),
        edit=on("GET offer", leave_out(posted_micros=BID * 3, chance_numerator=0)),
    ),
    "it pays less than the price it posted": offered(
        "posted price", lambda o: o.update(posted_micros=o["posted_micros"] + 1)
    ),
    "nothing is asked, and a report expected": Lie(
        goal="drawn",
        caught_by=frozenset({"asked"}),
        edit=on("GET offer", leave_out(posted_micros=0, chance_numerator=0)),
    ),
    "another root than it told before": Lie(
        goal="drawn", caught_by=frozenset({"lots stand"}), seed=({"kind": "lots", "round_id": ROUND, **TOLD_BEFORE},)
    ),
}


def earlier(attribute: str, text: str, round_id: str = OTHER_ROUND) -> tuple[Json, ...]:
    """A report that this device made before in this market, and the market signed for."""
    where = {"round_id": round_id}
    drawn = {"attribute": attribute, "text": text, "terms_hash": "0" * 64, "epsilon_nanos": 1, "payment_micros": 1}
    return (
        {"kind": "drawn", **where, **drawn, "drawn_at_ms": 1, "body": '{"code":0}'},
        {"kind": "accepted", **where, "at_ms": 2, "receipt": "{}"},
    )


ASKS = {
    "it forgets a report that it signed for": Lie(
        goal="drawn", caught_by=frozenset({"market forgets"}), seed=earlier("drink", "What did you drink?")
    ),
    "a fact she was never asked about": Lie(goal="drawn", agrees=(), persuaded=("new fact",)),
    "the same words under another name": Lie(
        goal="drawn",
        seed=earlier("beverage", "what do you drink"),
        edit=on("GET me", put(reports_made=1)),
        persuaded=("asked before",),
    ),
    "the same words under a name that she knows": Lie(
        goal="drawn",
        seed=(*earlier("beverage", "what do you drink"), *earlier("drink", "Do you like wine?", "rnd_" + "c3" * 12)),
        edit=on("GET me", put(reports_made=2)),
        persuaded=("asked before",),
    ),
    "words that look the same under another name": Lie(
        goal="drawn",
        seed=earlier("beverage", "Wh\u0430t d\u043e you dr\u0456nk?"),
        edit=on("GET me", put(reports_made=1)),
        persuaded=("asked before",),
    ),
    "words with an invisible letter under another name": Lie(
        goal="drawn",
        seed=earlier("beverage", "What do you drink\u3164 ?"),
        edit=on("GET me", put(reports_made=1)),
        persuaded=("asked before",),
    ),
    "a round that promises no signature for what it asks": Lie(
        goal="drawn", prepare=lambda s: s.document.pop("receipt_form"), persuaded=("unsigned asking",)
    ),
    "more reports of hers than she made": Lie(
        goal="drawn", edit=on("GET me", put(reports_made=5)), persuaded=("elsewhere",)
    ),
}


def again(check: str, change: Callable[[Json], Any]) -> Lie:
    """The offer changes between her looking at it and the draw."""
    late = on("GET offer", change, when=lambda script: script.offers_told > 1)
    return Lie(goal="drawn", caught_by=frozenset({check}), edit=late)


DRAWING = {
    "it pays less once she agreed": again("offer unchanged", put(payment_micros=1)),
    "another draw once she agreed": again("offer unchanged", put(draw=5)),
    "another chance once she agreed": again("offer unchanged", put(chance_numerator=2**32)),
    "another price posted once she agreed": again("offer unchanged", put(posted_micros=None)),
    "it asks for more once she agreed": again("offer unchanged", put(q_numerator=2**31)),
    "it asks something else once she agreed": again("offer unchanged", question(text="Are you HIV positive?")),
    "reports are closed": again("in time", put(now_ms=REPORTS_CLOSE + 1)),
    "reports close this second": again("in time", put(now_ms=REPORTS_CLOSE - 999)),
    "reports close within the margin": again("in time", put(now_ms=REPORTS_CLOSE - 5000)),
}


def receipt(check: str, change: Callable[[Json], Any]) -> Lie:
    return Lie(goal="accepted", caught_by=frozenset({check}), edit=on("PUT report", change))


def flip(body: Json) -> None:
    last = body["signature"][-1]
    body["signature"] = body["signature"][:-1] + ("0" if last != "0" else "1")


RECEIPTS = {
    "a receipt for another round": receipt("receipt round", signed(round_id=OTHER_ROUND)),
    "a receipt for other terms": receipt("receipt terms", signed(terms_hash="0" * 64)),
    "a receipt for another answer": receipt("receipt code", lambda r: signed(code=(r["code"] + 1) % 3)(r)),
    "a receipt that promises next to nothing": receipt("receipt payment", signed(payment_micros=1)),
    "a receipt one micro-unit short": receipt(
        "receipt payment", lambda r: signed(payment_micros=r["payment_micros"] - 1)(r)
    ),
    "a receipt that says more was asked": receipt("receipt asked", signed(q_numerator=2**31)),
    "a receipt that says less was asked": receipt("receipt asked", signed(q_numerator=2**29)),
    "a receipt that says less was asked by a hair": receipt("receipt asked", signed(q_numerator=2**30 - 1)),
    "a receipt for another stage": receipt("receipt asked", signed(stage=2)),
    "a receipt about a side where values were asked": receipt("receipt asked", signed(side=3)),
    "a receipt that says neither whose it is nor what was asked": Lie(
        goal="accepted", caught_by=frozenset({"receipt asked", "receipt owner"}), edit=on("PUT report", says_less)
    ),
    "a receipt that names another owner": receipt("receipt owner", signed(pseudonym=BENS)),
    "a receipt that says it came late": receipt("receipt time", signed(received_at_ms=REPORTS_CLOSE)),
    "a receipt from before the bids closed": receipt("receipt time", signed(received_at_ms=CLOSES - 1)),
    "a receipt that counts nothing": receipt("receipt count", signed(ordinal=0)),
    "a receipt that counts too many": receipt("receipt count", signed(ordinal=7)),
    "a receipt without a signature": receipt("receipt signature", put(signature="")),
    "a receipt that another key signed": receipt("receipt signature", signed(OTHER_KEY)),
    "a receipt with a broken signature": receipt("receipt signature", flip),
    "a receipt changed after it was signed": receipt("receipt signature", put(received_at_ms=CLOSES + 2001)),
}


def settled(script: Script) -> bool:
    return script.report is not None


def pays(change: Callable[[Json], Any]) -> Lie:
    return Lie(goal="paid", caught_by=frozenset({"payment"}), edit=on("GET statement", change))


PAYMENTS = {
    "it pays one micro-unit less": pays(
        lambda s: [item.update(amount_micros=item["amount_micros"] - 1) for item in s["items"]]
    ),
    "it pays nothing": pays(put(items=[])),
    "it pays another round": pays(lambda s: [item.update(round_id=OTHER_ROUND) for item in s["items"]]),
    "it calls a return a payment": pays(lambda s: [item.update(kind="return") for item in s["items"]]),
    "the report it signed for is gone": Lie(
        goal="paid",
        caught_by=frozenset({"report still there"}),
        edit=instead("GET report", 404, {"type": "no-report", "detail": "no report"}, when=settled),
    ),
}


def shape(change: Callable[[Json], Any], *also: str, what: str = "GET notice", goal: str = "bid") -> Lie:
    return Lie(goal=goal, caught_by=frozenset({"shape", *also}), edit=on(what, change))


def never(_script: Script, _told: str, status: int, body: Json) -> tuple[int, Json]:
    return closing(status, body, 10**15)


SHAPES = {
    "a field that no notice has": shape(put(coin=True)),
    "a cap that is a text": shape(put(epsilon_max="4.0"), "shown cap"),
    "a notice without a cap": shape(lambda body: body.pop("epsilon_max"), "shown cap"),
    "an attribute that is no name": Lie(
        goal="bid",
        caught_by=frozenset({"shape"}),
        prepare=lambda s: (s.document.update(attribute="Drink <b>"), s.question.update(attribute="Drink <b>")),  # type: ignore[arg-type]  # what it gives is not looked at
    ),
    "words that clear the terminal": written("shape", odd_words("Tea?\u001b[2J")),
    "words that run backwards": written({"shape", "one direction"}, odd_words("Tea?\u202egro.live")),
    "a state that no round has": shape(put(state="OPEN"), "open for bids"),
    "labels that are more than their size": shape(domain(size=2), "domain", "shown answers"),
    "a label twice": shape(domain(labels=["tea", "tea", "neither"]), "domain", "shown answers"),
    "a deadline in thirty thousand years": Lie(goal="drawn", caught_by=frozenset({"shape"}), edit=never),
    "a chance of more than one": shape(put(chance_numerator=2**32 + 1), what="GET offer", goal="drawn"),
    "a chance that is no whole number": shape(put(chance_numerator=0.5), "lot", what="GET offer", goal="drawn"),
    "a proof as long as a book": shape(
        lambda o: o["lots"].update(path=["00" * 32] * 41), "bid counted", what="GET offer", goal="drawn"
    ),
    "an offer that asks for the coin": shape(put(selected=True), what="GET offer", goal="drawn"),
}

LIES: dict[str, Lie] = {
    **NOTICE, **BIDDING, **BID_RECEIPTS, **OFFERS, **LOTS, **ASKS, **DRAWING, **RECEIPTS, **PAYMENTS, **SHAPES,
    **LOST_RECEIPTS, **STAGES, **BETWEEN, **FORMS, **WITHOUT_LOTS,
}  # fmt: skip
