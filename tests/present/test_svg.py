"""Pictures in a page: well formed whatever is written in them, and apart from their neighbours."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdqs.market.pages import charts
from pdqs.present.svg import Svg, element, inlined, picture
from pdqs.protocol.forecasts import ForecastPoint

texts = st.text(st.characters(exclude_categories=("Cs", "Cc"), exclude_characters="\ufffe\uffff"))
HOSTILE = "</text><script>alert('\"&')</script>"


@given(inside=texts, attribute=texts)
def test_what_is_written_comes_back_as_it_was(inside: str, attribute: str) -> None:
    found = ElementTree.fromstring(element("g", element("text", inside, id=attribute), class_="x"))[0]
    assert (found.text or "", found.get("id")) == (inside, attribute)


def test_markup_is_trusted_only_as_it_was_made() -> None:
    made = element("circle", r=1)
    assert element("g", made) == '<g><circle r="1"/></g>'
    assert element("g", made + "<b>") == "<g>&lt;circle r=&quot;1&quot;/&gt;&lt;b&gt;</g>", "a joined string is text"


def test_a_picture_is_named_and_described() -> None:
    drawn = ElementTree.fromstring(
        picture("p", 10.5, 20, element("circle", r=1), title=HOSTILE, text=HOSTILE, class_="c")
    )
    parts = {part.get("id"): part.text for part in drawn if part.get("id")}
    assert drawn.get("viewBox") == "0 0 10.5 20"
    assert parts[drawn.get("aria-labelledby")] == parts[drawn.get("aria-describedby")] == HOSTILE


@pytest.mark.parametrize(
    "chart",
    [
        charts.bars([HOSTILE], [3.0], [(1.0, 5.0)]),
        charts.interval(0.5, 0.4, 0.6, 0.0, 1.0),
        charts.split(1, 2, 4),
        charts.precision([], 1),
    ],
    ids=["bars", "interval", "split", "nothing"],
)
def test_every_chart_is_well_formed_and_holds_no_script(chart: Svg) -> None:
    tags = {part.tag for part in ElementTree.fromstring(chart).iter()}
    assert tags <= {"svg", "title", "desc", "text", "rect", "line", "circle", "p"}


def words_of(chart: Svg) -> list[str]:
    return [str(part.text) for part in ElementTree.fromstring(chart).iter() if part.tag == "text"]


def test_answers_that_begin_alike_are_told_apart_in_the_picture() -> None:
    labels = ["Less than once a week", "Less than once a month", "Never"]
    drawn = charts.bars(labels, [3.0, 2.0, 1.0], [(1.0, 5.0), (0.0, 4.0), (0.0, 3.0)])
    assert [word for word in words_of(drawn) if word in labels] == labels
    spots = [(part.get("x"), part.get("y")) for part in ElementTree.fromstring(drawn).iter() if part.tag == "text"]
    assert len(set(spots)) == len(spots) == 6, "no word on another"


@pytest.mark.parametrize(("label", "shown"), [("x" * 90, 52), ("\u5bb6" * 90, 26)])
def test_what_is_too_long_for_the_picture_is_cut_and_says_so(label: str, shown: int) -> None:
    (word,) = [word for word in words_of(charts.bars([label], [3.0], [(1.0, 5.0)])) if word != "3"]
    assert (len(word), word[-1]) == (shown, "\u2026")


def test_a_forecast_without_a_curve_says_why() -> None:
    here = ForecastPoint(budget_micros=1, half_width=0.25)
    assert "no time to try other budgets" in charts.precision([here], 1)
    poorer = [ForecastPoint(budget_micros=budget, half_width=None) for budget in (2, 3)]
    assert "Other budgets would give no answer" in charts.precision([here, *poorer], 1)


def test_two_pictures_of_a_library_share_no_name_on_a_page() -> None:
    file = '<?xml version="1.0"?>\n<svg ><defs><path id="a"/></defs><use href="#a" clip-path="url(#a)"/></svg>'
    page = inlined(file, name="one", label="1") + inlined(file, name="two", label="2")
    assert re.findall(r'id="([^"]+)"', page) == ["one-a", "two-a"]
    assert re.findall(r"#([^\")]+)", page) == ["one-a", "one-a", "two-a", "two-a"]
    assert "<?xml" not in page


def test_a_label_cannot_break_out_of_its_attribute() -> None:
    drawn = ElementTree.fromstring(inlined("<svg ></svg>", name="x", label=HOSTILE))
    assert (drawn.get("aria-label"), len(drawn)) == (HOSTILE, 0)
