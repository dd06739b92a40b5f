"""Which question of a round is hers, and what the device holds a market to about it; part of :mod:`pdqs.owner.checks`.

What is asked of a value stands in the terms that she bid on. Her stage and the seed of her buckets follow from the same
seed and nonce as her draw, by words of their own, so that nobody chose them. The one thing that a market tells later is
the side that she is asked about: it must lie in the promised domain and within what her stage was published to ask
about, and the first one stands. Whatever it is, a yes or a no costs her the same. The browser's twin: ``dealing.mjs``.
"""

from __future__ import annotations

from types import MappingProxyType

import numpy as np

from pdqs.model.domain import Domain
from pdqs.model.money import PLAIN
from pdqs.model.names import QuestionKind
from pdqs.model.questions import Asking, Bucket, Level, Side, Value
from pdqs.owner.account import StoredQuestion
from pdqs.owner.errors import OfferRefused
from pdqs.owner.lots import own_word
from pdqs.owner.told import Checks, Told
from pdqs.present.times import moment_text
from pdqs.privacy.draws import BUCKET_WORD, STAGE_WORD
from pdqs.protocol.device_messages import Offer, StageNotice
from pdqs.rounds.stages import parts_of, stages_of
from pdqs.rounds.terms import Terms


def asking_of(told: Told) -> Asking:
    """What the device asks its owner for, and randomises: a value, or "yes" or "no" where a side is asked about.

    Its kappa is what is priced, shown and charged, whatever the market says.
    """
    terms = told.promise.terms
    match terms.asking.kind:
        case QuestionKind.LEVEL:
            return Level(terms.domain, terms.kappa)
        case QuestionKind.SIDE:
            return Value(Domain.binary())
        case QuestionKind.BUCKET:
            return Bucket(terms.domain, terms.kappa, seed=own_word(told, BUCKET_WORD))
        case _:
            return Value(terms.domain)


def is_late(offer: Offer) -> bool:
    """Whether the time to report on it is over, by the market's own clock."""
    return offer.now_ms >= offer.reports_close_at_ms


def late_in_words(offer: Offer) -> str:
    """That she comes too late, what is lost by that, and what is not."""
    return (
        f"you are late: {PLAIN.owed(offer.payment_micros)} was offered for a report until"
        f" {moment_text(offer.reports_close_at_ms)}. Nothing was drawn, so you lose no privacy, and you are not paid"
    )


def asks_when_over(state: str) -> str:
    """That a round is over, by what the market says of it, and its offer asks all the same."""
    return f"the market says that it is {state}, and asks for a report all the same"


def asked_in_words(told: Told, offer: Offer) -> str:
    """The question as its owner reads it."""
    text = told.notice.question.text
    if offer.side is None:
        return text
    return Side(told.promise.terms.domain, offer.side).said_of(text)


def question_of(offer: Offer) -> StoredQuestion | None:
    """What the device binds the round to; nothing where all owners are asked the same, or her stage has not come."""
    if offer.side is None:
        return None
    return StoredQuestion(stage=offer.stage, side=offer.side, closes_at_ms=offer.reports_close_at_ms)


def stage_of(told: Told) -> StageNotice | None:
    """Her stage as the notice publishes it, once it has opened."""
    stage = 0 if told.offer is None else told.offer.stage
    return next((each for each in told.notice.stages if each.number == stage), None)


def closing_ms(told: Told) -> int | None:
    """When the notice says that her reports close; nothing while it does not say."""
    if told.promise.terms.asking.kind != QuestionKind.SIDE:
        return told.notice.reports_close_at_ms
    opened = stage_of(told)
    return None if opened is None else opened.closes_at_ms


def _offer(told: Told) -> Offer:
    if told.offer is None:
        raise OfferRefused(f"round {told.notice.round_id}: there is no offer to look at")
    return told.offer


def _by_sides(terms: Terms) -> bool:
    return terms.asking.kind == QuestionKind.SIDE


def _stage(told: Told) -> str | None:
    stages, right = told.promise.terms.asking.stages, 1
    if stages > 1:
        word = np.array([own_word(told, STAGE_WORD)], dtype=np.uint32)
        right = int(stages_of(word, parts_of(stages))[0])
    return None if _offer(told).stage == right else "your stage is not the one that follows from seed and nonce"


def _side(told: Told) -> str | None:
    side, terms = _offer(told).side, told.promise.terms
    if side is None:
        return None
    if not _by_sides(terms):
        return f"it asks about one side of a value, and the terms ask for a {terms.asking.kind}"
    inside = side <= terms.domain_size - 2
    return None if inside else "it asks about a side of a value that the question does not have"


def _published(told: Told) -> str | None:
    side, opened = _offer(told).side, stage_of(told)
    if side is None or not _by_sides(told.promise.terms):
        return None
    if opened is None:
        return "it asks in a stage that has not opened"
    inside = max(opened.low - 1, 0) <= side <= opened.high
    return None if inside else "it asks about another side than those that your stage was opened for"


def _first(told: Told) -> str | None:
    now, first = question_of(_offer(told)), told.asked
    good = first is None or now == first
    return None if good else "this is not the question that you were asked first, and no other is answered"


def _turn(told: Told) -> str | None:
    early = _by_sides(told.promise.terms) and _offer(told).side is None
    return "your question has not come yet: nothing was drawn and nothing is lost" if early else None


DEAL_CHECKS: Checks = MappingProxyType(
    {
        "stage": ("offer", _stage),
        "side": ("offer", _side),
        "stage opened": ("offer", _published),
        "first question": ("offer", _first),
        "turn": ("drawing", _turn),
    }
)
