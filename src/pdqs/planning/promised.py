"""What offers promise before any report arrives, whatever is asked of owners."""

from __future__ import annotations

import math

from pdqs.estimate.enough import why_no_answer
from pdqs.estimate.level import z_of
from pdqs.estimate.quantile import rank_of
from pdqs.model.names import EstimatorName, QuestionKind
from pdqs.planning.forecasts import forecast_half_width
from pdqs.rounds.offers import Offers
from pdqs.rounds.predicted import Bought, side_half_width
from pdqs.rounds.terms import Terms


def promised_half_width(offers: Offers, terms: Terms, level: float = 0.95) -> float:
    """The half-width of the answer if everyone reports, as a share of the owners (of the range, for a mean).

    Of a quantile by sides it is that of its rank (section 10 of docs/theory), one half at most, and infinite where what
    is asked for is too little for an answer; of all others that of a share of one half (:func:`forecast_half_width`).
    """
    information = offers.information_for(terms.estimator)
    if offers.question.kind != QuestionKind.SIDE:
        return forecast_half_width(information, len(offers), level)
    if why_no_answer(offers.bought, information):
        return math.inf
    some = offers.asked
    chances = offers.chance[some] if terms.estimator == EstimatorName.UNBIASED else None
    bought = Bought(q=offers.q[some], chances=chances, owners=len(offers))
    return min(side_half_width(bought, rank_of(terms), z_of(level), stages=offers.question.stages), 0.5)
