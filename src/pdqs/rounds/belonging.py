"""Whether offers, reports and terms are of one round."""

from __future__ import annotations

import numpy as np

from pdqs.model.checks import made
from pdqs.model.errors import PdqsError
from pdqs.rounds.offers import Offers
from pdqs.rounds.reports import Reports
from pdqs.rounds.terms import Terms


def refuse_strangers(reports: Reports, offers: Offers, terms: Terms, error: type[PdqsError]) -> None:
    """Refuse what is not reports, offers and terms, or not of the same owners, question and promise."""
    made(reports, Reports, "reports", error)
    made(offers, Offers, "offers", error)
    made(terms, Terms, "terms", error)
    if len(reports) != len(offers):
        raise error(f"{len(reports):,} reports for {len(offers):,} offers")
    answers = terms.asking.answers
    for what, domain, asked in (("reports", reports.domain, answers), ("offers", offers.domain, terms.domain)):
        if domain != asked:
            raise error(f"the {what} are of another domain ({domain}) than the terms ask about ({asked})")
    if offers.question.kind != terms.asking.kind or offers.question.kappa != terms.kappa:
        raise error(f"the offers ask another question ({offers.question}) than the terms ({terms.asking})")
    wrong = reports.arrived & ((reports.codes < 0) | (reports.codes >= terms.kappa))
    if wrong.any():
        raise error(f"row {int(np.argmax(wrong)) + 1}: the report is none of the {terms.kappa:,} answers asked for")
    if offers.promise not in ("", terms.promise):
        raise error("the offers were made under other terms: only the budget, statistic and estimator may differ")
