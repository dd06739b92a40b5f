"""Pictures of answers show the answer's own figures, on a scale that says how much they are."""

from __future__ import annotations

import dataclasses
from pathlib import Path
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


def test_the_window_of_a_quantile_reaches_half_a_value_beyond_what_the_legend_says() -> None:
    """Few points of the cumulative shares are known from sides; the window is wide by the values all the same."""
    answer = traded(pdqs.Median(AGES, "How old are you?"), question="side").answer
    axes: Any = answer.figure().axes[0]
    half, (low, high) = 0.5 * AGES.step, answer.interval
    (window,) = axes.patches
    assert (window.get_x(), window.get_x() + window.get_width()) == pytest.approx((low - half, high + half))


def test_what_a_quantile_would_be_if_some_cheat_is_a_bar_of_its_own_within_view() -> None:
    answer = traded(pdqs.Median(AGES), question="side").answer
    axes: Any = answer.figure().axes[0]
    (bar,) = (line for line in axes.lines if str(line.get_label()).startswith("if 5% cheat"))
    assert tuple(bar.get_xdata()) == answer.interval_if_dishonest()
    low, high = axes.get_xlim()
    assert low < bar.get_xdata()[0] <= bar.get_xdata()[1] < high
    assert bar.get_marker() == "s"


def test_both_intervals_of_a_mean_have_equally_many_decimals() -> None:
    answer = dataclasses.replace(traded(pdqs.Mean(AGES)).answer, interval=(34.5, 37.2))
    said = [text.get_text() for text in answer.figure().axes[0].texts]
    decimals = {len(number.partition(".")[2]) for words in said for number in words.split(" to ")}
    assert len(decimals) == 1, said


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


def test_long_questions_and_names_keep_their_beginning_and_stay_on_the_page() -> None:
    asked = "What do you like best in the whole wide world, and would you be so kind as to tell us why that is so? " * 2
    words = ["b" * 60, "a name that goes on and on and on and on"]
    figure = traded(pdqs.Histogram(pdqs.Domain.categories([*words, "c"]), asked)).answer.figure()
    assert_legible(figure)
    assert [name.get_text()[:9] for name in figure.axes[0].get_yticklabels()] == [*(word[:9] for word in words), "c"]


def test_signs_that_the_font_lacks_are_noted_and_no_warning(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    figure = traded(pdqs.Count("\u65e5\u672c?")).answer.figure()
    with caplog.at_level("INFO", logger="pdqs.present"):
        figures.save(figure, tmp_path / "a.png")
    (note,) = caplog.messages
    assert note.endswith("a.png: the letters of some names are not in its font, and are drawn as boxes")


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
