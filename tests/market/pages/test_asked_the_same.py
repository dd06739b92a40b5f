"""Answers over time are of rounds that asked the same of the same, and a quantile says everywhere which one it is."""

from __future__ import annotations

import re
from html import unescape

import pytest

from market.town import Town, plan
from pdqs.market import groups, round_steps
from pdqs.market.pages import charts
from pdqs.protocol.device_messages import DomainMessage
from pdqs.protocol.forecasts import ForecastPoint
from pdqs.protocol.groups import GroupNames
from pdqs.protocol.market_messages import QueryMessage, RoundPlan

from .test_consumers_work import settled
from .test_how_it_stands import Look, look

__all__ = ["look"]  # the fixture

GRID = DomainMessage(kind="grid", start=0.0, step=1.0, size=3)


def quantile(p: float) -> RoundPlan:
    query = QueryMessage(kind="quantile", text="How many rooms?", domain=GRID, p=p)
    return plan(query=query, attribute="rooms", question="value", budget_micros=24_000_000)


def words_of(page: str) -> str:
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", page)).split())


def test_a_draft_and_an_answer_say_which_quantile(town: Town, look: Look) -> None:
    town.add_owners(60)
    draft = round_steps.draft_round(town.market, town.consumer, quantile(0.09), "a-mistyped-quantile")
    page = look(town.consumer, f"/consumer/rounds/{draft.round_id}")
    assert "The value that 9 in 100 do not exceed" in page, "who meant nine in ten sees it before she pays"
    sharp = quantile(0.9).model_copy(update={"budget_micros": 90_000_000, "epsilon_max": 4.0})
    answered = look(town.consumer, f"/consumer/rounds/{settled(town, 'a-settled-quantile', sharp)}")
    assert "the value that 90 in 100 do not exceed, among the 60 owners who bid" in words_of(answered)


def test_other_quantiles_of_the_same_are_no_answers_over_time(town: Town, look: Look) -> None:
    town.add_owners(24)
    tenth = settled(town, "a-tenth", quantile(0.1))
    first, second = (settled(town, f"a-ninth-{place}", quantile(0.9)) for place in range(2))
    page = look(town.consumer, f"/consumer/compare?like={first}")
    assert "The value that 90 in 100 do not exceed: over time" in page
    assert all(f"/consumer/rounds/{one}" in page for one in (first, second))
    assert tenth not in page


def test_rounds_for_other_owners_are_no_answers_over_time(town: Town, look: Look) -> None:
    for owner in town.add_owners(24):
        groups.put_in_groups(town.market, town.operator, owner.user_id, GroupNames(groups=["Nurses"]))
    nurses, everyone = (settled(town, f"a-round-for-{len(who)}", plan(groups=who)) for who in (["Nurses"], []))
    for like, other in ((nurses, everyone), (everyone, nurses)):
        page = look(town.consumer, f"/consumer/compare?like={like}")
        assert f"/consumer/rounds/{like}" in page
        assert other not in page
        assert ("for owners in: Nurses" in page) == (like == nurses)


def test_nobody_is_told_to_ask_again_for_a_comparison_that_there_is_not(town: Town, look: Look) -> None:
    town.add_owners(24)
    query = QueryMessage(kind="histogram", text="How many rooms?", domain=GRID)
    found = settled(town, "a-histogram", plan(query=query, attribute="rooms", question="value"))
    assert "Compare over time" not in look(town.consumer, f"/consumer/rounds/{found}")
    page = look(town.consumer, f"/consumer/compare?like={found}")
    assert "are not compared here" in page
    assert "Ask again later" not in page


def test_a_budget_that_gives_no_answer_is_given_no_precision_in_the_picture() -> None:
    widths = {1_000_000: None, 2_000_000: 0.4, 4_000_000: 0.3}
    curve = [ForecastPoint(budget_micros=budget, half_width=width) for budget, width in widths.items()]
    assert "±" not in re.findall(r'class="strong"[^>]*>([^<]*)', charts.precision(curve, 1_000_000))
    assert 'class="dot"' not in charts.precision(curve, 1_000_000)
    assert re.findall(r'class="strong"[^>]*>([^<]*)', charts.precision(curve, 2_000_000)) == ["± 40"]


@pytest.mark.parametrize("value", [0.0, 42.0, 30_000_000.0])
def test_answers_that_are_all_one_value_have_a_picture(value: float) -> None:
    drawn = charts.over_time([1.0, 2.0], [value, value], [(value, value)] * 2)
    ticks = re.findall(r'text-anchor="end">([^<]*)', drawn)
    assert len(set(ticks)) == len(ticks) > 1, "no two ticks say the same"
    assert not any("e+" in tick for tick in ticks)
