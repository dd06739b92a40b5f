"""The report and its figures, from a small run."""

from __future__ import annotations

import dataclasses
import re
import xml.etree.ElementTree as ElementTree
from html import escape
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure

from pdqs.experiments import figures, report
from pdqs.experiments.cells import run_cell
from pdqs.experiments.claims import CLAIMS
from pdqs.experiments.mechanisms import MECHANISMS
from pdqs.experiments.released_figures import compare_medians
from pdqs.experiments.results import Results, Sample
from pdqs.experiments.setups import Plan

from .conftest import made_up_results


@pytest.fixture(scope="module")
def results(small_plan: Plan) -> Results:
    return Results(small_plan, {cell: Sample(run_cell(cell, small_plan, {})) for cell in small_plan.cells()})


@pytest.fixture(scope="module")
def directory(results: Results, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the report of the small run was written."""
    directory = tmp_path_factory.mktemp("report")
    report.write(results, directory, command="pdqs reproduce --quick")
    return directory


@pytest.fixture(scope="module")
def page(directory: Path) -> str:
    return (directory / "report.html").read_text(encoding="utf-8")


def test_the_report_stands_alone(page: str) -> None:
    assert "<script" not in page
    assert re.findall(r"(?:src|href)\s*=\s*['\"](?!#)[^'\"]*", page) == []
    assert "@import" not in page
    assert "url(http" not in page


def test_the_report_has_every_claim_with_a_verdict_and_every_figure_with_its_table(results: Results, page: str) -> None:
    for claim in CLAIMS:
        row = re.search(rf"<td>{re.escape(escape(claim.text))}</td><td>(.*?)</td><td>(.*?)</td>", page)
        assert row is not None, claim.text
        assert re.search("holds|does not hold|not run", row[1])
    drawn = figures.draw_all(results)
    assert set(drawn) == {"count-error", "count-band", "domain-size-epsilon"}
    assert page.count("<figure>") == len(drawn)
    assert page.count("The table behind it") == 2


def test_names_inside_one_drawing_do_not_reach_into_another(page: str) -> None:
    identities = re.findall(r'\bid="([^"]+)"', page)
    assert len(set(identities)) == len(identities)
    assert set(re.findall(r'xlink:href="#([^"]+)"', page)) <= set(identities)


def test_the_same_results_give_the_same_bytes(results: Results, directory: Path, tmp_path: Path) -> None:
    report.write(results, tmp_path, command="pdqs reproduce --quick")
    once, again = (
        {path.relative_to(root): path.read_bytes() for path in root.rglob("*") if path.is_file()}
        for root in (directory, tmp_path)
    )
    assert len(once) == 3 * 3 + 2
    assert once == again


@pytest.fixture(scope="module")
def drawn() -> dict[str, Figure]:
    """Every figure of the full plan, of errors of 50 around a truth of 100."""
    return figures.draw_all(made_up_results(lambda _: 0.5, lambda _: {"unit": 1.0}))


def test_figures_are_drawn_in_three_rows_of_two_and_are_well_formed(drawn: dict[str, Figure], tmp_path: Path) -> None:
    for name in ("count-error", "count-band", "median-error", "median-band"):
        place = drawn[name].axes[0].get_subplotspec()
        assert place is not None
        assert place.get_gridspec().get_geometry() == (3, 2)
        titles = [axes.get_title() for axes in drawn[name].axes]
        kind = name.split("-")[0]
        order = ("Obesity", "Maternal", "Exam", "Students", "Salaries", "Customers")
        assert titles == [f"{population}, {kind}" for population in order]
    figures.save_all({"count-error": drawn["count-error"]}, tmp_path)
    assert sorted(path.suffix for path in tmp_path.iterdir()) == [".pdf", ".png", ".svg"]
    ElementTree.parse(tmp_path / "count-error.svg")


def test_the_honest_lottery_is_in_every_panel_of_every_figure(drawn: dict[str, Figure]) -> None:
    assert len(drawn) == 13
    for name, figure in drawn.items():
        for axes in figure.axes:
            assert MECHANISMS["honest"].label in axes.get_legend_handles_labels()[1], (name, axes.get_title())


def test_shift_figures_have_obesity_left_and_exam_right_and_relative_errors(drawn: dict[str, Figure]) -> None:
    axes = drawn["shift-3-error"].axes
    assert [each.get_title() for each in axes] == ["Obesity, count", "Exam, count", "Obesity, median", "Exam, median"]
    assert {each.get_ylabel() for each in axes} == {"mean relative error"}
    heights = np.concatenate([np.asarray(line.get_ydata()) for line in axes[2].get_lines()])
    assert heights == pytest.approx(np.full(heights.size, 0.5))  # 50 of 100, not 50


def test_the_tables_behind_a_shift_figure_are_relative_as_it_is_and_in_the_medians_own_unit() -> None:
    results = made_up_results(lambda _: 0.5, lambda cell: {"unit": 1.0 if cell.kind == "median" else 100.0})
    page = report.html(results, {"shift-3-error": Figure()}, "pdqs reproduce")
    relative, own = re.findall(r"<summary>(.*?)</summary>(.*?)</table>", page)
    assert "mean relative errors" in relative[0]
    assert set(re.findall(r"<td class=n>(.*?)</td>", relative[1])) == {"0.5"}
    assert "mean absolute errors" in own[0]
    assert set(re.findall(r"<td class=n>(.*?)</td>", own[1])) == {"50"}


def test_a_released_median_that_ours_misses_is_said_to_differ() -> None:
    """GPQM log at 0.7n was released as .82, linear as .54."""
    results = made_up_results(lambda _: 0.9)
    said = {(each.mechanism, each.budget): each.agrees for each in compare_medians(results)}
    assert said["gpqm-log", 0.7]
    assert not said["gpqm-linear", 0.7]
    page = report.html(results, {}, "pdqs reproduce")
    assert re.search(r"GPQM linear</td><td><span class='v not'>differs</span></td><td class=n>0.7n</td>", page)


def counts_alone(error: float) -> Results:
    """Made-up results of the first experiment and no other."""
    whole = made_up_results(lambda _: error)
    return dataclasses.replace(
        whole, plan=dataclasses.replace(whole.plan, experiments=(whole.plan.experiment("count"),))
    )


def test_figures_carry_the_papers_numbers_and_come_before_the_gains() -> None:
    results = counts_alone(0.5)
    page = report.html(results, {"count-error": figures.draw_all(results)["count-error"]}, "pdqs reproduce")
    assert "Count queries (figure 2)" in page
    assert page.index("<figure>") < page.index("How much smaller")
    assert "inf" not in re.sub("<svg.*?</svg>", "", page, flags=re.DOTALL).replace("information", "").replace(
        "infinite", ""
    )


def test_the_least_error_of_a_naive_count_is_drawn_where_it_matters() -> None:
    customers = figures.draw_all(counts_alone(20.0))["count-error"].axes[-1]
    assert customers.get_title() == "Customers, count"
    (line,) = [line for line in customers.get_lines() if line.get_label() == figures.BOUND]
    assert np.asarray(line.get_ydata())[[0, 4, 8]] == pytest.approx([36.9, 23.2, 16.5], abs=0.06)


def test_the_summary_has_a_line_for_each_cell(results: Results) -> None:
    lines = report.summary_csv(results).splitlines()
    assert len(lines) == 1 + len(results.samples)
    head = lines[0].split(",")
    first = dict(zip(head, lines[1].split(","), strict=True))
    sample = next(iter(results.samples.values()))
    assert float(first["error"]) == pytest.approx(sample.mean_error, rel=1e-5)
