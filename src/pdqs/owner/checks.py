"""Everything the device holds a market to, as named checks: each says in a sentence what is wrong, or nothing.

A check belongs to a stage, and all checks of a stage are made at once, in the order below. They are named so that each
can be shown to be what catches its lie: a device without it, and only that one, is taken in. The browser's twin,
``browser/checks.mjs``, has the same names.

What an owner is shown comes beside the frozen document; the two are compared field by field.
"""

from __future__ import annotations

import hashlib
from types import MappingProxyType

from pdqs.model.errors import TermsError
from pdqs.model.looks import fault_of_answers, is_turned
from pdqs.model.money import MICROS_PER_UNIT, exact_money
from pdqs.model.names import ContractName
from pdqs.owner.dealing import DEAL_CHECKS, asks_when_over, closing_ms, is_late, late_in_words
from pdqs.owner.errors import OfferRefused
from pdqs.owner.lots import LOT_CHECKS
from pdqs.owner.price import is_fair, least_payment_micros
from pdqs.owner.receipt_checks import RECEIPT_CHECKS
from pdqs.owner.told import MARGIN_MS, Checks, Stage, Told
from pdqs.present.text import quoted
from pdqs.privacy.loss import NANOS_PER_EPSILON, epsilon_nanos
from pdqs.protocol.device_messages import DomainMessage, Offer
from pdqs.protocol.receipts import is_weak

__all__ = ["CHECKS", "MARGIN_MS", "refuse", "without"]


def refuse(stage: Stage, told: Told, checks: Checks) -> None:
    """Make every check of a stage; the first that fails is the refusal."""
    for belongs, check in checks.values():
        if belongs == stage:
            wrong = check(told)
            if wrong is not None:
                raise OfferRefused(f"round {told.notice.round_id}: {wrong}")


def _offer(told: Told) -> Offer:
    if told.offer is None:
        raise OfferRefused(f"round {told.notice.round_id}: there is no offer to look at")
    return told.offer


def _differs(what: str, frozen: object, shown: object) -> str | None:
    if frozen == shown:
        return None
    return f"the {what} shown ({_as_said(shown)}) is not that of the terms ({_as_said(frozen)})"


def _as_said(what: object) -> str:
    """What the market said, inside a sentence that its words neither fill nor end."""
    return str(what) if isinstance(what, int | float | tuple) else quoted(str(what), 80)


def _hash(told: Told) -> str | None:
    found = hashlib.sha256(told.notice.terms.encode()).hexdigest()
    return None if found == told.notice.terms_hash else "the terms do not match their hash"


def _canonical(told: Told) -> str | None:
    return None if told.promise.is_canonical else "the terms are not written as their own reader would write them"


def _domain(told: Told) -> str | None:
    said = told.notice.question.domain
    try:
        same = DomainMessage.of(said.domain()) == said
    except TermsError:
        same = False
    return None if same else "the list of answers is not what its own domain would say"


def _bid_range(told: Told) -> str | None:
    low, high = (round(end * MICROS_PER_UNIT) for end in told.promise.terms.bid_range)
    return _differs("bid range", (low, high), (told.notice.bid_low_micros, told.notice.bid_high_micros))


def _contract(told: Told) -> str | None:
    contract = told.promise.terms.contract
    return None if contract == ContractName.ON_REPORT else f"contract {contract!r} would give the coin away"


def _key(told: Told) -> str | None:
    key = told.promise.receipt_key
    if len(key) != 64 or not all(c in "0123456789abcdef" for c in key):
        return "the terms name no key that receipts could be checked with"
    return "the terms name a key that anyone can sign with" if is_weak(key) else None


def _turned(told: Told) -> str | None:
    terms = told.promise.terms
    turned = any(is_turned(text) for text in (terms.asking.text, *map(str, terms.domain.labels)))
    return "the question or an answer holds a mark that turns the direction of writing" if turned else None


def _no_time(told: Told) -> str | None:
    if 1000 * told.promise.report_seconds > MARGIN_MS:
        return None
    return "it takes reports for so short a time that none could surely arrive: it would have your bid alone"


def _hashes_before(told: Told) -> set[str]:
    """Of the terms that she looked at, and of those of the bid that she changes."""
    return {told.seen_hash, "" if told.bid is None else told.bid.terms_hash} - {""}


def _same_owner(told: Told) -> str | None:
    same = not told.owner_id or not told.known_as or told.owner_id in told.known_as
    return (
        None
        if same
        else (
            "the market takes you for somebody else than when you enrolled or bid before, and with a name it would"
            " choose your draw (for a second name of yours, use a file of its own)"
        )
    )


def _other_bid(told: Told) -> str | None:
    there, ours = told.bid_there, told.bid
    if there is None:
        return None
    if ours is None:
        return "the market has a bid of yours that this device did not make (another device, or an older file here)"
    same = (there.bid_micros, there.terms_hash) == (ours.bid_micros, ours.terms_hash)
    return None if same else "the market has another bid of yours than the one this device made"


def _lost_bid(told: Told) -> str | None:
    gone = told.bid is not None and told.bid.accepted and told.bid_there is None
    return "the market signed for your bid and now says that there is none" if gone else None


def _is_over(told: Told) -> str | None:
    """Whoever was not drawn may look at that for ever; whoever is asked is asked while reports are taken."""
    offer, state = _offer(told), told.notice.state
    if offer.q_numerator == 0 or told.report is not None or state == "reporting":
        return None
    return late_in_words(offer) if state == "settled" and is_late(offer) else asks_when_over(state)


def _bid_terms(told: Told) -> str | None:
    same = told.bid is not None and told.bid.terms_hash == told.notice.terms_hash
    return None if same else "these are not the terms you bid on"


def _bid_question(told: Told) -> str | None:
    same = told.bid is not None and told.bid.question == told.notice.question.model_dump_json()
    return None if same else "this is not the question you bid on"


def _cap(told: Told) -> str | None:
    offer = _offer(told)
    nanos = epsilon_nanos(offer.q_numerator, told.promise.terms.kappa)
    most = round(told.promise.terms.epsilon_max * NANOS_PER_EPSILON) + 1  # the cap itself, rounded up, is allowed
    return None if nanos <= most else f"the offer's epsilon {nanos / NANOS_PER_EPSILON:.6f} is above the round's cap"


def _price(told: Told) -> str | None:
    offer, kappa = _offer(told), told.promise.terms.kappa
    bid_micros = told.bid.bid_micros if told.bid else 0
    if is_fair(bid_micros, offer.q_numerator, kappa, offer.payment_micros):
        return None
    least = least_payment_micros(bid_micros, offer.q_numerator, kappa)
    return f"the offer pays {exact_money(offer.payment_micros)} where your price comes to {exact_money(least)}"


def _short_time(told: Told) -> str | None:
    offer = _offer(told)
    promised = told.notice.bids_close_at_ms + 1000 * told.promise.report_seconds * offer.stage
    return None if offer.reports_close_at_ms >= promised else "the offer leaves less time than the terms promise"


def _two_deadlines(told: Told) -> str | None:
    waits = _offer(told).side is None and told.promise.terms.asking.stages > 1  # for a stage, whose end may come later
    good = waits or _offer(told).reports_close_at_ms == closing_ms(told)
    return None if good else "the offer and the round name two deadlines"


def _too_late(told: Told) -> str | None:
    offer = _offer(told)
    in_time = offer.now_ms + MARGIN_MS < offer.reports_close_at_ms
    late = (
        "reports close before yours could surely arrive:"
        " nothing was drawn, so you lose no privacy, and you are not paid"
    )
    return None if in_time else late


def _clock(told: Told) -> str | None:
    back = told.shown is not None and _offer(told).now_ms + MARGIN_MS < told.shown.now_ms
    return "the market's clock has gone back since you looked" if back else None


def _changed(told: Told) -> str | None:
    if told.shown is None:
        return "the offer was not looked at"
    same = told.shown.model_copy(update={"now_ms": 0}) == _offer(told).model_copy(update={"now_ms": 0})
    return None if same else "the offer is no longer the one you looked at"


def _other_report(told: Told) -> str | None:
    made_here = told.report_there is None or told.report is not None
    return (
        None
        if made_here
        else (
            "the market has a report of yours that this device did not make (another device, or an older file here):"
            " drawing again would spend again"
        )
    )


def _forgets(told: Told) -> str | None:
    return (
        None
        if told.counted >= told.accepted
        else (f"the market signed for {told.accepted} reports of yours and now counts {told.counted}")
    )


CHECKS: Checks = MappingProxyType(
    {
        "asked round": (
            "answer",
            lambda t: None if t.notice.round_id == t.asked_for else "the market answered about another round",
        ),
        "terms hash": ("notice", _hash),
        "terms canonical": ("notice", _canonical),
        "shown round": ("notice", lambda t: _differs("round", t.promise.round_id, t.notice.round_id)),
        "shown attribute": (
            "notice",
            lambda t: _differs("attribute", t.promise.attribute, t.notice.question.attribute),
        ),
        "shown text": ("notice", lambda t: _differs("text", t.promise.terms.asking.text, t.notice.question.text)),
        "domain": ("notice", _domain),
        "shown answers": (
            "notice",
            lambda t: _differs(
                "list of answers", DomainMessage.of(t.promise.terms.domain), t.notice.question.domain
            ),
        ),
        "answers apart": ("looks", lambda t: fault_of_answers(t.promise.terms.domain) or None),
        "one direction": ("looks", _turned),
        "shown bid range": ("notice", _bid_range),
        "shown cap": ("notice", lambda t: _differs("cap", t.promise.terms.epsilon_max, t.notice.epsilon_max)),
        "shown closing time": (
            "notice",
            lambda t: _differs("closing time", t.promise.bids_close_at_ms, t.notice.bids_close_at_ms),
        ),
        "contract": ("notice", _contract),
        "receipt key": ("notice", _key),
        "open for bids": (
            "bidding",
            lambda t: None if t.notice.state == "open" else f"it is {t.notice.state} and takes no bids",
        ),
        "time to draw": ("bidding", _no_time),
        "terms seen": (
            "bidding",
            lambda t: None if _hashes_before(t) <= {t.notice.terms_hash} else "these are not the terms you looked at",
        ),
        "same owner": ("bidding", _same_owner),
        "bid elsewhere": ("bidding", _other_bid),
        "still asking": ("offer", _is_over),
        "bid terms": ("offer", _bid_terms),
        "bid question": ("offer", _bid_question),
        "bid still there": ("offer", _lost_bid),
        "bid there": ("offer", _other_bid),
        "offer round": (
            "offer",
            lambda t: None if _offer(t).round_id == t.notice.round_id else "the offer is for another round",
        ),
        "offer terms": (
            "offer",
            lambda t: None if _offer(t).terms_hash == t.notice.terms_hash else "the offer is for other terms",
        ),
        "offer question": (
            "offer",
            lambda t: None if _offer(t).question == t.notice.question else "the offer asks another question",
        ),
        "epsilon cap": ("offer", _cap),
        "price": ("offer", _price),
        "time to report": ("offer", _short_time),
        "same deadline": ("offer", _two_deadlines),
        "report elsewhere": ("offer", _other_report),
        "market forgets": ("offer", _forgets),
        "offer unchanged": ("drawing", _changed),
        "clock": ("drawing", _clock),
        "in time": ("drawing", _too_late),
        **LOT_CHECKS,
        **DEAL_CHECKS,
        **RECEIPT_CHECKS,
    }
)  # fmt: skip


def without(*names: str) -> Checks:
    """The checks less some: a weakened device, to show that it is they which catch a lie."""
    return MappingProxyType({name: check for name, check in CHECKS.items() if name not in names})
