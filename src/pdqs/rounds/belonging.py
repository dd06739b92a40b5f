"""Whether offers, reports and terms are of one round."""

from __future__ import annotations

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
    asked = terms.domain
    for what, domain in (("reports", reports.domain), ("offers", offers.domain)):
        if domain != asked:
            raise error(f"the {what} are of another domain ({domain}) than the terms ask about ({asked})")
    if offers.promise not in ("", terms.promise):
        raise error("the offers were made under other terms: only the budget, statistic and estimator may differ")
