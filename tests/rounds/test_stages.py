"""Who is asked when, and about what: by public words alone, even over what is left open."""

from __future__ import annotations

import numpy as np
import pytest

import pdqs
from pdqs.model.arrays import Words
from pdqs.model.errors import EstimateError, InputError
from pdqs.privacy.draws import BUCKET_WORD, JITTER_WORD, LOTTERY_WORD, SIDE_WORD, STAGE_WORD, draw_key, words_of_owners
from pdqs.privacy.owner_entropy import OwnerEntropy, number_ids
from pdqs.rounds.stages import (
    FOUR_STAGES,
    Window,
    parts_of,
    place_counts,
    places,
    sides_at,
    stages_of,
)

SCORES = pdqs.Domain.grid(0, 100, 1)


def words(count: int, seed: int = 1) -> Words:
    return np.random.default_rng(seed).integers(0, 2**32, count, dtype=np.uint32)


def test_stages_take_their_parts_of_the_owners() -> None:
    """Six standard deviations each: a false alarm in 1 of 100 million seeds."""
    counts = np.bincount(stages_of(words(20_000)), minlength=5)[1:] / 20_000
    assert np.abs(counts - FOUR_STAGES).max() < 6 * 0.5 / 20_000**0.5


@pytest.mark.parametrize("stages", range(1, 9))
def test_the_parts_of_all_stages_are_the_whole(stages: int) -> None:
    parts = parts_of(stages)
    assert len(parts) == stages
    assert sum(parts) == pytest.approx(1.0)


def test_places_are_even_each_owner_in_her_own_stretch() -> None:
    """With fewer owners than bins nearly all stretches hold one place; chance alone would leave a third empty."""
    dealt = words(500)
    where = places(dealt, place_counts(dealt))
    assert np.unique(np.floor(500 * where)).size > 490
    assert ((where >= 0) & (where < 1)).all()


def test_places_are_those_of_the_whole_however_owners_are_split() -> None:
    dealt = words(3000)
    counts = place_counts(dealt[:1000]) + place_counts(dealt[1000:])
    parts = np.concatenate([places(dealt[:1000], counts), places(dealt[1000:], counts)])
    assert (parts == places(dealt, place_counts(dealt))).all()


def test_sides_are_even_over_the_window_and_one_below_it() -> None:
    even = sides_at((np.arange(33) + 0.5) / 33, Window(10, 19), 100)
    assert np.bincount(even)[9:20].tolist() == [3] * 11
    few = sides_at((np.arange(4) + 0.5) / 4, Window(0, 999_999), 1_000_000)
    assert few.tolist() == [124_999, 374_999, 624_999, 874_999]


def test_a_window_at_either_end_asks_within_the_domain() -> None:
    where = np.array([0.0, 0.5, 0.99])
    assert sides_at(where, Window(0, 0), 10).tolist() == [0, 0, 0]
    assert sides_at(where, Window(9, 9), 10).tolist() == [8, 8, 8]


def test_a_guess_takes_three_of_four_and_leaves_a_quarter_even() -> None:
    given = sides_at((np.arange(400) + 0.5) / 400, Window(0, 999), 1000, Window(40, 49))
    assert np.count_nonzero((given >= 39) & (given <= 49)) in range(300, 306)
    assert given.min() < 20
    assert given.max() > 980


def test_stage_side_and_bucket_have_words_of_their_own() -> None:
    assert len({LOTTERY_WORD, JITTER_WORD, STAGE_WORD, SIDE_WORD, BUCKET_WORD}) == 5
    terms = pdqs.Terms(query=pdqs.Median(SCORES), budget=100.0)
    offers = pdqs.clear(np.linspace(0, 1, 400), terms, draws=7)
    numbers, key = number_ids(np.arange(400)), draw_key(7)
    assert (offers.draw == words_of_owners(numbers, key, LOTTERY_WORD)).all()
    assert (offers.stage == stages_of(words_of_owners(numbers, key, STAGE_WORD))).all()
    assert (offers.deal == words_of_owners(numbers, key, SIDE_WORD)).all()
    buckets = pdqs.clear(np.linspace(0, 1, 400), pdqs.Terms(query=pdqs.Histogram(SCORES), budget=100.0), draws=7)
    assert (buckets.deal == words_of_owners(numbers, key, BUCKET_WORD)).all()


def test_words_that_were_given_for_the_lottery_deal_no_questions() -> None:
    terms, given = pdqs.Terms(query=pdqs.Median(SCORES), budget=100.0), words(400)
    offers = pdqs.clear(np.linspace(0, 1, 400), terms, draws=given)
    assert (offers.draw == given).all()
    assert not (offers.deal == given).any()


def test_who_is_asked_what_does_not_hang_on_what_is_bid() -> None:
    terms = pdqs.presets.sound(query=pdqs.Median(SCORES), budget=1000.0)
    cheap, dear = (pdqs.clear(np.full(300, bid), terms, draws=3) for bid in (0.1, 0.2))
    assert (cheap.side == dear.side).all()
    assert (cheap.stage == dear.stage).all()


def test_a_report_before_its_stage_and_a_second_one_are_refused() -> None:
    terms = pdqs.Terms(query=pdqs.Median(SCORES), budget=100.0)
    rng = np.random.default_rng(5)
    offers = pdqs.clear(rng.random(400), terms)
    reports = pdqs.randomise(rng.integers(0, 101, 400), offers, rng)
    assert (reports.arrived == offers.of_stage(1)).all()
    with pytest.raises(InputError, match="a second report"):
        reports.joined(reports)
    early = pdqs.Reports(
        codes=reports.codes, arrived=offers.asked, selected=reports.selected, domain=pdqs.Domain.binary()
    )
    with pytest.raises(EstimateError, match="has not come yet"):
        pdqs.answer(early, offers, terms)


def test_an_answer_can_be_had_after_any_stage_and_only_from_the_stages_so_far() -> None:
    terms = pdqs.presets.sound(query=pdqs.Median(SCORES), budget=400.0)
    rng = np.random.default_rng(6)
    done = pdqs.trade(rng.integers(20, 61, 800), rng.random(800), terms, rng)
    for stage in (1, 2, 3, 4):
        found = pdqs.answer(done.reports, done.offers, terms, stage=stage)
        assert [seen.stage for seen in found.stages] == list(range(1, stage + 1))
        assert found.reports == int((done.reports.arrived & (done.offers.stage <= stage)).sum())
        assert not any("missing" in said for said in found.warnings)
    assert found.interval == done.answer.interval
    with pytest.raises(EstimateError, match="stages 1 to 4"):
        pdqs.answer(done.reports, done.offers, terms, stage=5)


def test_each_owners_words_are_her_own_whichever_stage_she_is_in() -> None:
    numbers = number_ids(np.arange(6))
    some = OwnerEntropy(7, numbers)
    first, second = some.words_of(np.array([0, 2])), some.words_of(np.array([1, 2]))
    alone = OwnerEntropy(7, numbers[2:3])
    assert [first[1], second[1]] == [alone.words(1)[0], alone.words(1)[0]]
    assert second[0] == OwnerEntropy(7, numbers[1:2]).words(1)[0]
