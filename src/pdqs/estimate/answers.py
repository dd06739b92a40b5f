"""Reports in, an answer with an honest interval out."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np

from pdqs.estimate.buckets import read_buckets
from pdqs.estimate.by_price import PriceBand, bands_by_price
from pdqs.estimate.chances import sampled
from pdqs.estimate.count import read_count
from pdqs.estimate.dishonest import USUAL_CHEATS, checked_share
from pdqs.estimate.evidence import Evidence, gathered, of_tally
from pdqs.estimate.functionals import Shares
from pdqs.estimate.histogram import read_histogram
from pdqs.estimate.level import z_of
from pdqs.estimate.levels import read_levels
from pdqs.estimate.mean import read_mean
from pdqs.estimate.missing_reports import missing_note
from pdqs.estimate.quantile import read_quantile
from pdqs.estimate.readings import Cdf, Cumulative, Reading, Widening
from pdqs.estimate.remarks import reason_for_silence, sensitivity_of, warnings_of
from pdqs.estimate.staged import StageSeen, read_sides, share_asked, stages_seen, up_to_stage
from pdqs.estimate.tallies import Tally
from pdqs.model.arrays import Figure
from pdqs.model.errors import EstimateError
from pdqs.model.names import EstimatorName, QueryKind, QuestionKind
from pdqs.model.query import Query
from pdqs.model.question import Question
from pdqs.present.frames import plain
from pdqs.present.text import Shown, in_digits
from pdqs.pricing.rules import Asks
from pdqs.rounds.belonging import refuse_strangers
from pdqs.rounds.offers import Offers
from pdqs.rounds.reports import Reports
from pdqs.rounds.terms import Terms

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawn


@final
@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Answer(Shown):
    """What the consumer learns.

    ``value`` is kept to what is possible (a count between 0 and n, a value of the domain), ``raw`` is the figure before
    that. ``interval`` covers the truth among these owners with probability ``level``; ``simultaneous`` does so for all
    rows of a histogram at once (and is the interval otherwise). For a histogram they are arrays, a row for each value.
    All are None when the reports say too little, and ``warnings`` gives the reason.

    ``asked`` counts owners who were asked, ``reports`` those who reported, ``heard`` those of them whose report says
    anything (q > 0): unless the estimator is `unbiased`, the others are taken to be like them, and no test on the
    reports can tell if they are not; ``sensitivity`` says how far they would have to differ. ``by_price`` is what
    cheaper and dearer owners say, for `unbiased`. ``question`` is what owners were asked, with the reason for it, and
    ``stages`` what each stage of it has excluded. A histogram from smaller questions shows the nearest shares that can
    be; its intervals are those of the raw ones.
    """

    value: Figure
    raw: Figure
    interval: Figure
    simultaneous: Figure
    standard_error: Figure
    level: float
    estimator: str
    query: Query
    owners: int
    asked: int
    reports: int
    heard: int
    information: float
    warnings: tuple[str, ...]
    sensitivity: str
    by_price: tuple[PriceBand, ...]
    widening: Widening | None
    question: Question
    stages: tuple[StageSeen, ...] = ()

    def interval_if_dishonest(self, share: float = USUAL_CHEATS) -> Figure:
        """The interval that still holds when this share of the reports' weight is arbitrary.

        Nobody can tell an owner who sends noise from one who does not: she is paid the same (section 11 of
        docs/theory). None without an answer.
        """
        checked_share(share)
        if self.widening is None:
            return None
        ends = self.widening.at(share)
        return ends if ends.ndim > 1 else (float(ends[0]), float(ends[1]))

    def to_dict(self) -> dict[str, object]:
        """The answer as plain values that JSON takes; a histogram has a figure for each of its ``labels``."""
        shown = {
            "query": self.query.kind,
            "value": self.value,
            "interval": self.interval,
            "simultaneous": self.simultaneous,
            "interval_if_dishonest": self.interval_if_dishonest(),
            "standard_error": self.standard_error,
            "level": self.level,
            "raw": self.raw,
            "estimator": self.estimator,
            "owners": self.owners,
            "asked": self.asked,
            "reports": self.reports,
            "information": self.information,
            "question": {
                "kind": self.question.kind,
                "answers": self.question.kappa,
                "reason": "" if self.question.whole else self.question.reason,
            },
            "stages": [dataclasses.asdict(stage) for stage in self.stages],
            "warnings": self.warnings,
        }
        if isinstance(self.value, np.ndarray):
            shown["labels"] = self.query.question.domain.decode(np.arange(self.value.size))
        return {name: plain(held) for name, held in shown.items()}

    def cdf(self) -> Cdf | None:
        """The cumulative shares that a quantile was read off; None for other queries, and without an answer."""
        return self.widening.cdf() if isinstance(self.widening, Cumulative) else None

    def figure(self) -> Drawn:
        """The answer as a picture: a matplotlib figure, with both intervals, on the scale of the population or domain.

        >>> import pdqs
        >>> terms, rng = pdqs.Terms(query=pdqs.Count("Have you been ill?"), budget=60.0), np.random.default_rng(7)
        >>> found = pdqs.trade(rng.random(200) < 0.3, rng.random(200), terms, rng).answer
        >>> found.figure().savefig("ill.png")  # doctest: +SKIP
        """
        from pdqs.present.answer_figures import answer_figure

        return answer_figure(self)

    def title(self) -> str:
        kind = self.query.kind.capitalize()
        if self.value is None:
            return f"{kind}: no answer"
        if isinstance(self.value, np.ndarray):
            return f"{kind} over {self.value.size} values"
        return f"{kind}: {in_digits(self.value)}"

    def rows(self) -> list[tuple[str, str]]:
        told = self._cells() if isinstance(self.value, np.ndarray) else self._ends()
        more = [("those not heard", self.sensitivity)] if self.sensitivity else []
        return [*told, *more, *self._asked(), ("estimator", self.estimator), ("stands on", self._standing())]

    def _asked(self) -> list[tuple[str, str]]:
        """A question other than the value, why it was asked, and what its stages have excluded."""
        if self.question.whole:
            return []
        why = f"; {self.question.reason}" if self.question.reason else ""
        return [("question", f"{self.question}{why}"), *((f"stage {seen.stage}", str(seen)) for seen in self.stages)]

    def _ends(self) -> list[tuple[str, str]]:
        if self.value is None:
            return []
        (low, high), (least, most) = self.interval, self.interval_if_dishonest()
        return [
            (f"{self.level:.4g} interval", f"{in_digits(low)} to {in_digits(high)}"),
            (f"if {USUAL_CHEATS:.0%} cheat", f"{in_digits(least)} to {in_digits(most)}"),
            ("before clipping", in_digits(self.raw)),
        ]

    def _cells(self) -> list[tuple[str, str]]:
        labels = self.query.question.domain.decode(np.arange(self.value.size))
        columns = self.value, self.interval, self.simultaneous, self.interval_if_dishonest()
        shown = [
            (
                str(label),
                f"{value:,.1f}  ({_span(own)}; all at once {_span(joint)}; if {USUAL_CHEATS:.0%} cheat {_span(bad)})",
            )
            for label, value, own, joint, bad in zip(labels, *columns, strict=True)
        ]
        return shown if len(shown) <= 12 else [*shown[:6], ("...", f"{len(shown)} in all"), *shown[-5:]]

    def _standing(self) -> str:
        heard = f"{self.heard:,} of {self.owners:,} owners, information {self.information:,.1f}"
        if self.heard == self.owners or self.value is None:
            return heard
        if self.estimator == EstimatorName.UNBIASED:
            return f"{heard}; drawn by lot from owners of every price"
        return f"{heard}; the others are taken to be like them"

    def notes(self) -> tuple[str, ...]:
        return self.warnings


def _span(ends: Figure) -> str:
    return f"{ends[0]:,.1f} to {ends[1]:,.1f}"


def answer(reports: Reports, offers: Offers, terms: Terms, *, level: float = 0.95, stage: int | None = None) -> Answer:
    """The answer to the terms' query from the reports that arrived; with ``stage``, from those up to that stage.

    >>> import pdqs
    >>> terms = pdqs.Terms(query=pdqs.Count(), budget=60.0)
    >>> rng = np.random.default_rng(7)
    >>> values, bids = rng.random(200) < 0.3, rng.random(200)
    >>> offers = pdqs.clear(bids, terms)
    >>> found = pdqs.answer(pdqs.randomise(values, offers, rng), offers, terms)
    >>> bool(found.interval[0] <= values.sum() <= found.interval[1])
    True
    """
    refuse_strangers(reports, offers, terms, EstimateError)
    offers, reports = up_to_stage(offers, reports, terms, stage)
    return answer_from_evidence(evidence_for(reports, offers, terms), terms, level=level)


def evidence_for(reports: Reports, offers: Offers, terms: Terms) -> Evidence:
    """What the reports add up to, by strata where the estimator needs the chances of a lottery."""
    by_price = stands_on_chances(terms, by_lottery=offers.by_lottery)
    bid_range = terms.setting.low, terms.setting.high
    return gathered(reports, offers, by_price=by_price, bid_range=bid_range, p=share_asked(terms.query))


def stands_on_chances(terms: Terms, *, by_lottery: bool) -> bool:
    """Whether chances count, and so strata by price: `unbiased`, where a draw left owners out or could have, or where
    the question was not the value itself."""
    drawn = by_lottery or isinstance(terms.bound_rule, Asks) or not terms.asking.whole
    return terms.estimator == EstimatorName.UNBIASED and drawn


def answer_from_evidence(evidence: Evidence, terms: Terms, *, level: float = 0.95) -> Answer:
    """The answer from sums alone: reports need never be collected in one place."""
    z_of(level)
    information = information_of(evidence, terms)
    silence = reason_for_silence(evidence, terms, information)
    found = None if silence else read_evidence(evidence, terms, level)
    return Answer(
        value=found and found.value,
        raw=found and found.raw,
        interval=found and found.interval,
        simultaneous=found and found.simultaneous,
        standard_error=found and found.standard_error,
        level=level,
        estimator=terms.estimator,
        query=terms.query,
        owners=evidence.owners,
        asked=evidence.asked,
        reports=evidence.tally.reports,
        heard=evidence.tally.heard,
        information=information,
        warnings=tuple(
            warnings_of(evidence, terms, found) if found else [silence, *missing_note(evidence, answered=False)]
        ),
        sensitivity=sensitivity_of(evidence, terms, found) if found else "",
        by_price=bands_by_price(evidence, terms, found.value) if found else (),
        widening=found and found.widening,
        question=terms.asking,
        stages=stages_seen(evidence, terms),
    )


def answer_from_tally(sums: Tally, terms: Terms, *, level: float = 0.95) -> Answer:
    """The answer from a plain tally, for estimators without chances; weights are q itself."""
    return answer_from_evidence(of_tally(sums), terms, level=level)


def information_of(evidence: Evidence, terms: Terms) -> float:
    """sum q^2 over the reports, or with chances n_eff q^2: as much as that many equal weights say."""
    if evidence.by_price is not None:
        return sampled(Shares(terms.kappa), evidence.drawn).information
    return evidence.tally.power(2)


def read_evidence(evidence: Evidence, terms: Terms, level: float) -> Reading:
    """What the query makes of the evidence, be it ever so little."""
    read = READINGS[terms.query.kind] if terms.asking.whole else SMALLER[terms.asking.kind]
    return read(evidence, terms, level)


Read = Callable[[Evidence, Terms, float], Reading]

SMALLER: Mapping[str, Read] = {
    QuestionKind.LEVEL: read_levels,
    QuestionKind.SIDE: read_sides,
    QuestionKind.BUCKET: read_buckets,
}
"""How reports to a smaller question are read; each serves one kind of query."""

READINGS: Mapping[str, Read] = {
    QueryKind.COUNT: read_count,
    QueryKind.MEAN: read_mean,
    QueryKind.HISTOGRAM: read_histogram,
    QueryKind.MEDIAN: read_quantile,
    QueryKind.QUANTILE: read_quantile,
}
