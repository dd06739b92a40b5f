"""An offer as ``pdqs owner`` shows it to a person before she decides."""

from __future__ import annotations

import textwrap

from pdqs.model.domain import Domain
from pdqs.model.money import exact_money
from pdqs.owner.lots import lot_in_words
from pdqs.owner.price import NANOS_PER_EPSILON
from pdqs.owner.review import Review


def offer_in_words(review: Review) -> str:
    """All that the device found out about an offer, a line each."""
    question, spending, overall = review.offer.question, review.spending, review.overall
    return "\n".join(
        (
            f"Question   {review.said or '(no text)'}",
            f"Answers    {_answers(review)}",
            f"You asked  {exact_money(review.bid_micros)} per unit of epsilon",
            f"Payment    {exact_money(review.offer.payment_micros)} (your price comes to"
            f" {exact_money(review.least_payment_micros)}: checked)",
            f"Privacy    epsilon {review.epsilon:.6f} (recomputed here)",
            *(f"           {line}" for line in textwrap.wrap(review.meaning, 90)),
            f"Ledger     {question.attribute}: {spending.spent_nanos / NANOS_PER_EPSILON:.4f} spent,"
            f" {review.after_nanos / NANOS_PER_EPSILON:.4f} after, cap {spending.cap_nanos / NANOS_PER_EPSILON:.4f}",
            f"           all together: {overall.spent_nanos / NANOS_PER_EPSILON:.4f} spent, cap"
            f" {overall.cap_nanos / NANOS_PER_EPSILON:.4f}",
            f"Terms      {review.offer.terms_hash} (hash checked)",
            *([f"Lot        {lot_in_words(review.offer)} (draw and bid checked)"] if review.offer.lots else []),
        )
    )


def answers_in_words(domain: Domain) -> str:
    """What an owner may answer."""
    return "yes or no" if domain.kind == "binary" else str(domain)


def _answers(review: Review) -> str:
    if review.waits:
        return f"yes or no, in stage {review.offer.stage} of {review.told.promise.terms.asking.stages}"
    return answers_in_words(review.asking.domain)
