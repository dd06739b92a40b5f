"""Which question terms ask: named, or chosen when they are made, and part of what they promise."""

from __future__ import annotations

import dataclasses

import pytest

import pdqs
from pdqs.model.errors import TermsError
from pdqs.model.names import QueryKind
from pdqs.model.query import Query
from pdqs.model.questions import Bucket, Level, Side
from pdqs.privacy.loss import cap_q
from pdqs.rounds.choosing import SERVES, Given

SCORES = pdqs.Domain.grid(0, 100, 1)
TEN = pdqs.Domain.grid(0, 9, 1)


def terms(query: Query, question: Given = "auto", **more: object) -> pdqs.Terms:
    return pdqs.Terms(query=query, budget=100.0, question=question, **more)  # type: ignore[arg-type]  # what is tested


def test_every_query_has_its_questions() -> None:
    assert set(SERVES) == {kind.value for kind in QueryKind}


@pytest.mark.parametrize(
    ("query", "kind", "kappa", "stages"),
    [
        (pdqs.Mean(SCORES), "level", 3, 1),
        (pdqs.Median(SCORES), "side", 2, 4),
        (pdqs.Histogram(SCORES), "bucket", 8, 1),
        (pdqs.Count(), "value", 2, 1),
        (pdqs.Histogram(pdqs.Domain.categories(["a", "b", "c"])), "value", 3, 1),
    ],
)
def test_auto_asks_the_question_of_least_predicted_error_and_says_why(
    query: Query, kind: str, kappa: int, stages: int
) -> None:
    asked = terms(query).asking
    assert (asked.kind, asked.kappa, asked.stages) == (kind, kappa, stages)
    assert asked.reason
    assert asked.reason in str(terms(query)) or kind == "value"


def test_whole_values_are_kept_where_a_smaller_question_gains_little() -> None:
    assert terms(pdqs.Mean(TEN), epsilon_max=4.0).asking.whole
    ages = terms(pdqs.Median(pdqs.Domain.grid(14, 61, 1)), epsilon_max=4.0).asking
    assert ages.whole
    assert ages.reason.startswith("kept whole"), "its predicted error is not the least"
    assert terms(pdqs.Median(pdqs.Domain.grid(14, 61, 1)), epsilon_max=2.0).asking.kind == "side"
    assert terms(pdqs.Mean(TEN), epsilon_max=2.0).asking.kind == "level"


def test_kappa_takes_the_place_of_k_in_the_cap_the_price_and_the_loss() -> None:
    found = terms(pdqs.Mean(SCORES), "level:5")
    assert found.q_max == cap_q(2.0, 5)
    assert found.setting.domain_size == 5
    offers = pdqs.clear([0.1, 0.2, 0.3] * 100, found)
    assert offers.epsilon.max() == pytest.approx(2.0, rel=1e-6)
    assert offers.question == found.asking


@pytest.mark.parametrize(
    ("query", "question"),
    [
        (pdqs.Mean(SCORES), "auto"),
        (pdqs.Mean(SCORES), "level:7"),
        (pdqs.Median(SCORES), "side"),
        (pdqs.Histogram(SCORES), "bucket:5"),
        (pdqs.Quantile(SCORES, 0.9), pdqs.Question(domain=SCORES, kind="side", guess=(70, 90))),
        (pdqs.Histogram(SCORES), "value"),
    ],
)
def test_the_canonical_form_holds_the_question_that_was_chosen_and_gives_it_back(query: Query, question: Given) -> None:
    made = terms(query, question)
    again = pdqs.Terms.read(made.canonical())
    assert again == made
    assert again.hash == made.hash
    assert again.asking == made.asking


def test_terms_that_differ_in_their_question_promise_different_things() -> None:
    forms = {terms(pdqs.Mean(SCORES), asked).promise for asked in ("value", "level:3", "level:4")}
    assert len(forms) == 3


def test_a_form_without_a_question_is_of_whole_values_as_it_always_was() -> None:
    made = terms(pdqs.Median(SCORES), "value")
    assert "question" not in made.canonical()
    assert pdqs.Terms.read(made.canonical()).asking.whole


def test_a_choice_is_made_anew_when_terms_are_changed_and_a_named_question_is_kept() -> None:
    chosen, named = terms(pdqs.Mean(SCORES)), terms(pdqs.Mean(SCORES), "level:3")
    assert dataclasses.replace(chosen, epsilon_max=4.0).asking.codes == 5
    assert dataclasses.replace(named, epsilon_max=4.0).asking.codes == 3


def test_a_question_named_without_a_figure_follows_the_cap_when_terms_are_changed() -> None:
    """A figure that was chosen for another cap would be stale; one that was given is kept."""
    for query, name, codes in ((pdqs.Mean(SCORES), "level", (2, 5)), (pdqs.Histogram(SCORES), "bucket", (4, 56))):
        made = terms(query, name, epsilon_max=1.0)
        changed = dataclasses.replace(made, epsilon_max=4.0)
        assert (made.asking.codes, changed.asking.codes) == codes
        assert changed.asking.reason == made.asking.reason == "as many as the cap makes best"
        assert pdqs.Terms.read(made.canonical()) == made
        given = terms(query, f"{name}:3", epsilon_max=1.0)
        assert dataclasses.replace(given, epsilon_max=4.0).asking.codes == 3


def test_a_question_may_be_given_as_a_device_meets_it() -> None:
    assert terms(pdqs.Mean(SCORES), Level(SCORES, 4)).asking.kappa == 4
    assert terms(pdqs.Histogram(SCORES), Bucket(SCORES, 6, seed=1)).asking.kappa == 6


@pytest.mark.parametrize("question", ["auto", "side", "value"])
@pytest.mark.parametrize("stages", [0, -1])
def test_no_round_has_fewer_than_one_stage(question: str, stages: int) -> None:
    with pytest.raises(TermsError, match="stages must be at least 1"):
        terms(pdqs.Median(SCORES), question, stages=stages)


def test_only_quantiles_take_stages_and_only_one_stage_a_guess() -> None:
    assert terms(pdqs.Median(SCORES), "side", stages=2).asking.stages == 2
    with pytest.raises(TermsError, match="only sides are asked in stages"):
        terms(pdqs.Mean(SCORES), "level:3", stages=2)
    with pytest.raises(TermsError, match="one stage"):
        pdqs.Question(domain=SCORES, kind="side", stages=3, guess=(1, 2))
    with pytest.raises(TermsError, match="from a low value to a high one"):
        pdqs.Question(domain=SCORES, kind="side", guess=(9, 2))
    with pytest.raises(TermsError, match="two values of the domain"):
        pdqs.Question(domain=SCORES, kind="side", guess=(0.5, 2))


@pytest.mark.parametrize(
    ("query", "question", "fault"),
    [
        (pdqs.Count(), "level:2", "a count cannot be had from levels"),
        (pdqs.Count(), "side", "a count cannot be had from sides"),
        (pdqs.Mean(SCORES), "side", "a mean cannot be had from sides"),
        (pdqs.Histogram(SCORES), "level", "a histogram cannot be had from levels"),
        (pdqs.Median(SCORES), "bucket:4", "a median cannot be had from buckets"),
        (pdqs.Mean(SCORES), "level:102", "from 2 to 101 levels"),
        (pdqs.Histogram(SCORES), "bucket:1", "from 2 to 101 buckets"),
        (pdqs.Mean(SCORES), "level:many", "level:5 or bucket:8"),
        (pdqs.Median(SCORES), "side:3", "side:LOW:HIGH"),
        (pdqs.Median(SCORES), "value:3", "level:5 or bucket:8"),
        (pdqs.Mean(SCORES), "magic", "unknown question 'magic'"),
        (pdqs.Mean(SCORES), 3, "question must be one of"),
        (pdqs.Mean(SCORES), Level(TEN, 3), "another domain"),
        (pdqs.Median(SCORES), Side(SCORES, 3), "many sides"),
        (pdqs.Histogram(pdqs.Domain.categories(["a", "b"])), "level:2", "categories have no order"),
    ],
)
def test_a_question_that_cannot_serve_is_refused_in_a_sentence(query: Query, question: Given, fault: str) -> None:
    with pytest.raises(TermsError, match=fault):
        terms(query, question)


def test_reports_that_are_taken_as_they_are_can_only_be_whole_values() -> None:
    assert terms(pdqs.Mean(SCORES), estimator="naive", rule="optimal").asking.whole
    with pytest.raises(TermsError, match="needs estimator 'unbiased' or 'weighted'"):
        terms(pdqs.Mean(SCORES), "level:3", estimator="naive", rule="optimal")


@pytest.mark.parametrize("query", [pdqs.Mean, pdqs.Median])
def test_a_billion_values_cost_no_more_than_ten_unless_they_are_asked_for_whole(query: type[pdqs.Mean]) -> None:
    wide = pdqs.Domain.grid(0, 1e9, 1)
    assert terms(query(wide)).kappa <= 3
    with pytest.raises(TermsError, match=r"whole values among 1,000,000,001 is too much: at most 65,536"):
        terms(query(wide), "value")


def test_a_histogram_of_more_cells_than_can_be_kept_is_refused() -> None:
    with pytest.raises(TermsError, match="too large"):
        terms(pdqs.Histogram(pdqs.Domain.grid(0, 1e8, 1)))


def test_presets_of_the_paper_ask_for_whole_values_and_ours_choose() -> None:
    assert pdqs.presets.gpqm_linear(query=pdqs.Median(SCORES), budget=1.0).asking.whole
    assert pdqs.presets.fairquery(query=pdqs.Median(SCORES), budget=1.0).asking.whole
