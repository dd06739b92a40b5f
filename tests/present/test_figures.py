"""Pictures: what they show is the data, labels have units, nothing is clipped or overlaps, no state is left."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pdqs
from pdqs.model.errors import FileError, MissingExtraError, PlanError
from pdqs.present import figures
from pdqs.present.drawing import BLUE, ORANGE

matplotlib = pytest.importorskip("matplotlib")


def assert_legible(figure: Any) -> None:
    """Every text at least 9 points and within the page; none runs into another of its kind."""
    figure.canvas.draw()
    page = figure.bbox
    for axes in figure.axes:
        names = [axes.title, axes._left_title, axes.xaxis.label, axes.yaxis.label]
        named = [name for name in names if name.get_text()]
        legend = axes.get_legend()
        ticks = [_tick_labels(axis) for axis in (axes.xaxis, axes.yaxis)]
        texts = [*named, *axes.texts, *figure.texts, *(legend.get_texts() if legend else []), *ticks[0], *ticks[1]]
        assert axes.get_xlabel()
        for text in texts:
            box = text.get_window_extent()
            assert text.get_fontsize() >= 9, text.get_text()
            assert page.x0 <= box.x0 <= box.x1 <= page.x1, text.get_text()
            assert page.y0 <= box.y0 <= box.y1 <= page.y1, text.get_text()
        for kin in (named + ([legend] if legend else []), *ticks):
            assert not any(a.get_window_extent().overlaps(b.get_window_extent()) for a, b in combinations(kin, 2))


def _tick_labels(axis: Any) -> list[Any]:
    """The labels that are drawn: those of ticks within view."""
    low, high = sorted(axis.get_view_interval())
    return [tick.label1 for tick in axis.get_major_ticks() if low <= tick.get_loc() <= high and tick.label1.get_text()]


def test_a_clipped_label_is_caught() -> None:
    terms = pdqs.presets.sound(query=pdqs.Count(), budget=5.0)
    figure = figures.offers_figure(pdqs.clear([0.1, 0.2, 0.3], terms), terms)
    figure.text(0.99, 0.5, "far out")
    with pytest.raises(AssertionError, match="far out"):
        assert_legible(figure)


@pytest.fixture(scope="module")
def curve() -> Any:
    return pdqs.plan(pdqs.presets.sound(query=pdqs.Count(), budget=40.0), owners=300).curve(points=6)


def test_a_plan_is_drawn_as_it_was_computed(curve: Any) -> None:
    figure = curve.figure()
    line, dots, diamond = figure.axes[0].lines
    assert np.array_equal(dots.get_xdata(), curve.budgets)
    assert np.allclose(dots.get_ydata(), 100 * curve.half_widths)
    assert diamond.get_xdata()[0] == curve.plan.budget
    assert (*diamond.get_xydata()[0],) in {(*point,) for point in line.get_xydata()}  # the curve goes through it
    assert "budget (units of money)" in figure.axes[0].get_xlabel()
    assert "percentage points" in figure.axes[0].get_ylabel()
    assert_legible(figure)


@pytest.mark.parametrize("part", [0.02, 1.0, 60.0])
def test_what_a_plan_buys_is_written_inside_its_picture_wherever_the_point_lies(curve: Any, part: float) -> None:
    plan = dataclasses.replace(curve.plan, budget=1e7 * part)
    figure = dataclasses.replace(curve, plan=plan, budgets=1e7 * np.geomspace(0.02, 60.0, 6)).figure()
    figure.draw_without_rendering()
    (words,) = (text for text in figure.axes[0].texts if "buys" in text.get_text())
    box, frame = words.get_window_extent(), figure.axes[0].get_window_extent()
    assert frame.x0 <= box.x0 < box.x1 <= frame.x1


def test_a_plan_of_nothing_has_no_picture() -> None:
    nothing = pdqs.plan(pdqs.presets.sound(query=pdqs.Count(), budget=0.0), owners=300)
    with pytest.raises(PlanError, match="buys nothing: there is no curve to draw"):
        nothing.curve(points=2).figure()


@pytest.mark.parametrize("budget", [0.0, 20.0, 1e4])
def test_offers_are_drawn_one_mark_each(budget: float) -> None:
    terms = pdqs.presets.sound(query=pdqs.Count(), budget=budget)
    offers = pdqs.clear(np.random.default_rng(0).random(80), terms)
    figure = figures.offers_figure(offers, terms)
    bought, rest = figure.axes[0].collections
    drawn, others = np.shape(bought.get_offsets())[0], np.shape(rest.get_offsets())[0]
    assert drawn == offers.bought
    assert drawn + others == 80
    assert_legible(figure)


def strips(names: list[str], scale: float) -> list[figures.Strip]:
    rng = np.random.default_rng(0)
    return [
        figures.Strip(
            name=name,
            answers=scale * rng.random(20),
            interval=(0.2 * scale, 0.8 * scale),
            level=0.95,
            held=20 - i,
            broken=() if i % 2 == 0 else ("IC", "BF", "LDP", "COV"),
            drawn=i >= len(names) - 3,
            bids=np.linspace(0, 1, 50),
            heard=np.linspace(0.9 - 0.2 * (i % 3), 0, 50),
        )
        for i, name in enumerate(names)
    ]


PROMISES = {
    "IC": "no lie gains",
    "IR": "nobody loses",
    "BF": "it holds",
    "LDP": "no more is learned",
    "COV": "it covers",
}


def drawn(shown: list[figures.Strip], scale: float = 1.0, unit: str = "u") -> Any:
    return figures.demo_figure(shown, title="How many?", truth=scale / 2, unit=unit, promises=PROMISES)


@pytest.mark.parametrize("scale", [1.0, 1000.0, 450_000.0])
def test_a_demonstration_is_legible_at_any_size_of_answer(scale: float) -> None:
    names = ["GPQM linear", "GPQM exponential", "GPQM logarithmic", "FairQuery", "sound", "honest"]
    figure = drawn(strips(names, scale), scale, "owners")
    left, right = figure.axes
    assert [label.get_text() for label in left.get_yticklabels()] == names[::-1]
    assert "owners" in left.get_xlabel()
    named, spelled = right.texts[:-1], right.texts[-1].get_text().splitlines()
    assert [text.get_text() for text in named] == names[-3:], "named on the line, in the order of the rows"
    assert spelled == ["broken promises:", *(f"{name}: {PROMISES[name]}" for name in ("IC", "BF", "LDP", "COV"))]
    assert [text.get_text().split("\n")[0] for text in left.texts] == [f"right {20 - i} of 20" for i in range(6)][::-1]
    assert_legible(figure)


def test_kept_and_broken_promises_differ_in_colour_and_in_mark_and_no_two_lines_look_alike() -> None:
    figure = drawn(strips(list("abcd"), 1.0))
    lines: list[Any] = list(figure.axes[1].lines)  # matplotlib tells the dashes of a line in a private place only
    looks = [(line.get_color(), line.get_marker(), str(line._unscaled_dash_pattern)) for line in lines]
    assert len(set(looks)) == len(looks) == 3
    assert {(colour, mark) for colour, mark, _ in looks} == {
        (BLUE, "o"),
        (ORANGE, "s"),
        (ORANGE, "^"),
    }, "not by dashes alone"


def test_no_more_than_four_curves_are_drawn() -> None:
    shown = [dataclasses.replace(strip, drawn=True, broken=()) for strip in strips(list("abcdef"), 1.0)]
    figure = drawn(shown)
    assert [text.get_text() for text in figure.axes[1].texts] == list("abcd")


@pytest.mark.parametrize(("kind", "magic"), [(".png", b"\x89PNG"), (".svg", b"<?xml"), (".pdf", b"%PDF")])
def test_pictures_are_written_by_kind(tmp_path: Path, curve: Any, kind: str, magic: bytes) -> None:
    figures.save(curve.figure(), tmp_path / f"plan{kind}")
    assert (tmp_path / f"plan{kind}").read_bytes().startswith(magic)
    assert len(list(tmp_path.iterdir())) == 1


def test_a_picture_that_cannot_be_written_leaves_nothing(tmp_path: Path, curve: Any) -> None:
    with pytest.raises(FileError, match="cannot write"):
        figures.save(curve.figure(), tmp_path / "none" / "plan.png")
    assert list(tmp_path.iterdir()) == []


def test_without_matplotlib_the_extra_is_named(curve: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'pdqs\[cli\]'"):
        curve.figure()


def test_drawing_touches_no_global_state(curve: Any) -> None:
    before = dict(matplotlib.rcParams)
    curve.figure()
    assert dict(matplotlib.rcParams) == before
    script = (
        "import sys, pdqs; t = pdqs.presets.sound(query=pdqs.Count(), budget=5.0);"
        "o = pdqs.clear([0.1, 0.2, 0.3], t); import pdqs.present.figures as f; print('matplotlib' in sys.modules);"
        "f.offers_figure(o, t); print('matplotlib.pyplot' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]
