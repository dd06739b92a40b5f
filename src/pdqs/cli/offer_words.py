"""A round's terms and an offer as ``pdqs owner`` shows them to a person before she decides."""

from __future__ import annotations

import shutil
import textwrap
import unicodedata
from collections.abc import Iterable

from pdqs.model.domain import Domain
from pdqs.model.money import exact_money
from pdqs.model.names import QuestionKind
from pdqs.owner.lifetime_cap import Spending
from pdqs.owner.lots import lot_in_words
from pdqs.owner.price import odds_in_words
from pdqs.owner.prospect import Prospect
from pdqs.owner.review import Review
from pdqs.present.times import left, moment_text
from pdqs.privacy.loss import NANOS_PER_EPSILON

_NAMES = 11
_WIDTH = 90
_SENT_INSTEAD: dict[str, str] = {
    QuestionKind.LEVEL: "; only a rounded figure, and that randomised, is sent",
    QuestionKind.BUCKET: "; only a group of answers that holds yours, and that randomised, is sent",
}


def terms_in_words(prospect: Prospect, now_ms: int) -> str:
    """What she can know before she bids, a line each."""
    notice, standing = prospect.told.notice, prospect.told.bid
    before = standing.bid_micros if standing and standing.accepted else None
    return _lines(
        ("Who asks", prospect.asked_by or "They did not say."),
        ("Why", prospect.purpose or "They did not say."),
        ("What for", prospect.use or "They did not say."),
        *([("For groups", prospect.groups)] if prospect.groups else []),
        ("Question", notice.question.text or "(no text)"),
        ("Answers", _answers_to_come(prospect)),
        *([("", _NOT_AMONG)] if _leaves_some_out(prospect) else []),
        ("Privacy", _most_in_words(prospect.epsilon)),
        ("Payment", _least_in_words(prospect)),
        *([("You bid", f"{exact_money(before)} so far; another price takes its place")] if before is not None else []),
        ("Bids close", _closing(notice.bids_close_at_ms, now_ms)),
        *_ledger(prospect.spending, prospect.overall, prospect.epsilon_nanos, "at most "),
        *([] if prospect.within_cap else [("Note", _BEYOND)]),
        ("Terms", f"{notice.terms_hash} (hash checked)"),
    )


_NOT_AMONG = (
    "If yours is not among them, decide now whether you would give the nearest: whoever bids and then does not answer"
    " tells the market something, and is paid nothing."
)
_BEYOND = "This could pass your own lifetime cap: then nothing would be drawn, and you would not be paid."


def offer_in_words(review: Review) -> str:
    """All that the device found out about an offer, a line each."""
    paid, least = exact_money(review.offer.payment_micros), exact_money(review.least_payment_micros)
    return _lines(
        ("Question", review.said or "(no text)"),
        ("Answers", _answers(review)),
        ("You asked", f"{exact_money(review.bid_micros)} per unit of epsilon"),
        ("Payment", f"{paid} (your price comes to {least}: checked)"),
        ("Privacy", f"epsilon {review.epsilon:.6f} (recomputed here)"),
        ("", review.meaning),
        *_ledger(review.spending, review.overall, review.epsilon_nanos),
        ("Terms", f"{review.offer.terms_hash} (hash checked)"),
        *([("Lot", f"{lot_in_words(review.offer)} (draw and bid checked)")] if review.told.promise.by_lot else []),
    )


def answers_in_words(domain: Domain) -> str:
    """All that an owner may answer: what is not shown could be anything.

    >>> answers_in_words(Domain.categories(list("abcdefg")))
    "'a', 'b', 'c', 'd', 'e', 'f', 'g'"
    """
    if domain.kind == "categories":
        return ", ".join(repr(label) for label in domain.labels)
    return "yes or no" if domain.kind == "binary" else str(domain)


def _lines(*named: tuple[str, str]) -> str:
    """Names to the left, what they say beside them, long sentences over several lines."""
    return "\n".join(line for name, said in named for line in folded(name, said))


def folded(name: str, said: str) -> Iterable[str]:
    """Nobody's words begin a line: were a terminal to fold them, they could pass for one of the device's own."""
    first, *more = textwrap.wrap(" ".join(said.split()), _room(said)) or [""]
    yield f"{name:<{_NAMES}}{first}"
    yield from (f"{'':<{_NAMES}}{line}" for line in more)


def _room(said: str) -> int:
    """How many letters of this fit beside the names; some scripts take two places each."""
    columns = shutil.get_terminal_size((_NAMES + _WIDTH, 0)).columns
    return max(10, min(_WIDTH, columns - _NAMES) // (2 if is_wide(said) else 1))


def is_wide(said: str) -> bool:
    """Whether some of its letters take two places each."""
    return any(unicodedata.east_asian_width(letter) in "WF" for letter in said)


def _ledger(spending: Spending, overall: Spending, nanos: int, most: str = "") -> list[tuple[str, str]]:
    """Where her accounts stand, and would stand after so much more."""
    return [
        (name, f"{now.attribute or 'all together'}: {_epsilon(now.spent_nanos)} spent,"
         f" {most}{_epsilon(now.spent_nanos + nanos)} after, cap {_epsilon(now.cap_nanos)}")
        for name, now in (("Ledger", spending), ("", overall))
    ]  # fmt: skip


def _epsilon(nanos: int) -> str:
    return f"{nanos / NANOS_PER_EPSILON:.4f}"


def _most_in_words(epsilon: float) -> str:
    sure = odds_in_words(epsilon)
    return f"Someone who guessed 50:50 before could be at most {sure} sure after (epsilon {epsilon:g} at most)."


def _least_in_words(prospect: Prospect) -> str:
    least, price = exact_money(prospect.least_payment_micros), exact_money(prospect.bid_micros)
    return (
        f"At least {least} for that much ({price} per unit of epsilon). Less is paid only if less is asked, and nothing"
        " if you are not asked."
    )


def _closing(closes_ms: int, now_ms: int) -> str:
    when = moment_text(closes_ms)
    return f"in {left(closes_ms, now_ms)}, at {when}" if now_ms < closes_ms else f"at {when}, which is over here"


def _answers_to_come(prospect: Prospect) -> str:
    terms = prospect.told.promise.terms
    if terms.asking.kind == QuestionKind.SIDE:
        return f"yes or no: whether yours, {answers_in_words(terms.domain)}, is at most a certain value"
    return answers_in_words(terms.domain) + _SENT_INSTEAD.get(terms.asking.kind, "")


def _leaves_some_out(prospect: Prospect) -> bool:
    """Whether her answer may be none of those that are listed: of a yes or no it is one."""
    terms = prospect.told.promise.terms
    return terms.asking.kind != QuestionKind.SIDE and terms.domain.kind != "binary"


def _answers(review: Review) -> str:
    if review.waits:
        return f"yes or no, in stage {review.offer.stage} of {review.told.promise.terms.asking.stages}"
    return answers_in_words(review.asking.domain)
