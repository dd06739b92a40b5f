"""Pictures of answers show the answer's own figures, on a scale that says how much they are."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

import pdqs
from pdqs.estimate.readings import Cdf
from pdqs.present import answer_figures, figures

from .test_figures import assert_legible

pytest.importorskip("matplotlib")

OWNERS = 600
AGES = pdqs.Domain.grid(14, 60, 1)
MARKS = pdqs.Domain.grid(0, 6, 1)
HABITS = pdqs.Domain.categories(["never", "sometimes, when the weather is fine", "always"])


def traded(query: Any, seed: int = 3, **terms: Any) -> pdqs.Trade:
    rng = np.random.default_rng(seed)
    domain = query.question.domain
    values = domain.decode(np.sort(rng.integers(0, domain.size, OWNERS)))
    made = {"rule": "optimal", "estimator": "weighted", "epsilon_max": 5.0, "budget": 900.0, **terms}
    return pdqs.trade(values, rng.random(OWNERS), pdqs.Terms(query=query, **made), rng)


QUERIES = {
    "count": pdqs.Count("Have you been ill this winter?"),
    "mean": pdqs.Mean(AGES),
    "median": pdqs.Median(AGES, "How old are you?"),
    "quantile": pdqs.Quantile(AGES, 0.9),
    "histogram of numbers": pdqs.Histogram(MARKS),
    "histogram of many numbers": pdqs.Histogram(AGES),
    "histogram of categories": pdqs.Histogram(HABITS),
}


@pytest.mark.parametrize("query", QUERIES.values(), ids=QUERIES)
@pytest.mark.parametrize("whole_round", [False, True])
def test_every_answer_is_legible_alone_and_above_its_offers(query: Any, whole_round: bool) -> None:
    done = traded(query)
    assert_legible(figures.trade_figure(done) if whole_round else done.answer.figure())


def test_a_count_shows_both_intervals_on_the_scale_of_the_population() -> None:
    answer = traded(QUERIES["count"]).answer
    axes: Any = answer.figure().axes[0]
    own, cheated, dot = axes.lines
    assert tuple(own.get_xdata()) == answer.interval
    assert tuple(cheated.get_xdata()) == answer.interval_if_dishonest()
    assert dot.get_xdata()[0] == answer.value
    low, high = axes.get_xlim()
    assert low <= 0
    assert high >= OWNERS
    assert own.get_color() != cheated.get_color()
    assert own.get_marker() != cheated.get_marker()
    assert "Have you been ill this winter?" in axes.get_title(loc="left")


def test_a_quantile_is_shown_on_its_cumulative_shares() -> None:
    answer = traded(QUERIES["median"]).answer
    cdf = answer.cdf()
    assert cdf is not None
    assert (np.diff(cdf.share) >= 0).all()
    assert (cdf.low <= cdf.share).all()
    assert (cdf.share <= cdf.high).all()
    at = int(np.flatnonzero(cdf.numbers == answer.value)[0])
    assert cdf.share[at - 1] < cdf.p <= cdf.share[at], "where the curve reaches p is the answer"
    axes: Any = answer.figure().axes[0]
    assert np.array_equal(axes.lines[0].get_ydata(), cdf.share)
    assert traded(QUERIES["count"]).answer.cdf() is None


def test_the_windows_of_a_quantile_reach_half_a_value_beyond_what_the_legend_says() -> None:
    """Few points of the cumulative shares are known from sides; the windows are wide by the values all the same."""
    answer = traded(pdqs.Median(AGES, "How old are you?"), question="side").answer
    axes = answer.figure().axes[0]
    half = 0.5 * AGES.step
    spans = sorted(patch.get_extents().width for patch in axes.patches)
    ends = [answer.interval, answer.interval_if_dishonest()]
    across = axes.transData.transform([(high + half, 0.0) for _, high in ends])[:, 0]
    across -= axes.transData.transform([(low - half, 0.0) for low, _ in ends])[:, 0]
    assert spans == pytest.approx(sorted(across))


def test_the_stages_of_a_quantile_are_drawn_below_it_where_there_are_any() -> None:
    answer = traded(QUERIES["median"]).answer
    found = answer.cdf()
    assert found is not None
    plain: Cdf = found

    class Staged:
        def cdf(self) -> Cdf:
            return dataclasses.replace(plain, windows=((8.0, 75.0), (28.0, 44.0), (33.0, 40.0)))

        def at(self, share: float) -> Any:
            return np.array(answer.interval_if_dishonest(share))

    figure = dataclasses.replace(answer, widening=Staged()).figure()
    assert_legible(figure)
    said = [text.get_text() for text in figure.axes[0].texts]
    assert [words for words in said if words.startswith("stage")] == ["stage 1", "stage 2", "stage 3"]
    axes = figure.axes[0]
    frame, legend = axes.get_window_extent(), axes.get_legend()
    assert legend is not None
    assert legend.get_window_extent().y1 <= frame.y0  # over no line and no bar
    for text in axes.texts:
        box = text.get_window_extent()
        assert frame.x0 <= box.x0 < box.x1 <= frame.x1


def test_a_histogram_shows_the_intervals_of_each_and_of_all_at_once() -> None:
    answer = traded(QUERIES["histogram of categories"]).answer
    axes: Any = answer.figure().axes[0]
    assert [bar.get_width() for bar in axes.patches] == pytest.approx(answer.value.tolist())
    own, joint = ([segment[:, 0] for segment in lines.get_segments()] for lines in axes.collections)
    assert np.allclose(own, answer.interval)
    assert np.allclose(joint, answer.simultaneous)


def test_no_answer_is_drawn_as_the_reason_why() -> None:
    answer = traded(pdqs.Count(), budget=0.01).answer
    assert answer.value is None
    axes: Any = answer.figure().axes[0]
    assert answer.warnings[0][:30] in axes.texts[0].get_text()


def test_the_axis_of_offers_fits_the_bids_and_not_the_range_they_might_have_had() -> None:
    rng = np.random.default_rng(1)
    terms = pdqs.Terms(query=pdqs.Count(), budget=5000.0, bid_range=(0.0, 1000.0))
    done = pdqs.trade(rng.random(300) < 0.4, 4.0 + rng.random(300), terms, rng)
    for figure in (figures.trade_figure(done), figures.offers_figure(done.offers, terms)):
        assert_legible(figure)
        for axes in figure.axes[-2:]:
            low, high = axes.get_xlim()
            assert 3.9 < low < 4.1
            assert 4.9 < high < 5.1


def test_large_figures_are_written_out_with_thousands_apart() -> None:
    big = dataclasses.replace(
        traded(pdqs.Count()).answer, value=1309444.0, interval=(1200000.0, 1400000.0), owners=4_000_000
    )
    axes: Any = big.figure().axes[0]
    assert "1,309,444 of 4,000,000" in axes.get_title(loc="left")
    assert "1,200,000 to 1,400,000" in [text.get_text() for text in axes.texts]
    assert "1,309,444" in big.title()
    assert "e+0" not in repr(big)
    assert answer_figures.height_of(big) < 4
