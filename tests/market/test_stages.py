"""A median in stages on the clock: who is asked when and about what, what is published, and that nobody loses time."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from market.question_rounds import Played, start
from market.town import Town, found_town
from pdqs.market import own_data, reads, records, round_steps
from pdqs.privacy.draws import STAGE_WORD
from pdqs.protocol.device_messages import Offer
from pdqs.protocol.problems import ConflictError
from pdqs.rounds.stages import stages_of
from pdqs.verifying import RoundRecord, verify


def tick(played: Played) -> None:
    round_steps.advance_due(played.town.market)
    assert played.town.market.stuck == {}


def asked_offers(played: Played) -> list[Offer]:
    return [offer for offer in map(played.offer, played.town.owners) if offer.q_numerator]


@pytest.fixture(scope="module")
def median(tmp_path_factory: pytest.TempPathFactory) -> Played:
    """A whole round in four stages, of which one owner in each stays silent."""
    town = found_town(f"sqlite:///{tmp_path_factory.mktemp('stages')}/market.db")
    played = start(town, "median", owners=300, epsilon_max=2.0, bid_high_micros=200_000)
    played.through(silent=1)
    return played


def test_a_quantile_is_asked_by_sides_in_four_stages(median: Played) -> None:
    assert (median.found.asked.kind, median.found.asked.codes, median.found.asked.stages) == ("side", 2, 4)
    assert median.now().state == "settled"


def test_who_is_asked_when_follows_from_a_word_of_its_own(median: Played) -> None:
    expected = stages_of(median.town.draws(median.now(), STAGE_WORD)).tolist()
    assert [median.offer(owner).stage for owner in median.town.owners] == expected
    assert set(expected) == {1, 2, 3, 4}


def test_the_windows_narrow_down_to_the_median_and_every_side_lies_in_its_own(median: Played) -> None:
    seen = {stage.number: stage for stage in median.now().stages}
    assert (seen[1].low, seen[1].high) == (0, 99)
    widths = [seen[number].high - seen[number].low for number in (1, 2, 3, 4)]
    assert widths == sorted(widths, reverse=True)
    assert widths[3] < widths[0] / 2
    for offer in asked_offers(median):
        window = seen[offer.stage]
        assert offer.side is not None
        assert max(window.low - 1, 0) <= offer.side <= min(window.high, 98)


def test_the_answer_covers_the_median_and_those_who_reported_are_paid(median: Played) -> None:
    answer = reads.answer(median.town.market, median.town.consumer, median.found.round_id)
    low, high = answer.interval[0]
    assert low <= float(np.median(list(median.values.values()))) <= high
    assert answer.reports + 4 == len(median.sent) + 4 == answer.asked
    paid = {owner.user_id: median.offer(owner).payment_micros for owner in median.town.owners}
    assert answer.paid_micros == sum(paid[owner_id] for owner_id in median.sent)
    assert all(median.town.balance(o) == paid[o.user_id] * (o.user_id in median.sent) for o in median.town.owners)
    assert median.town.balanced()


def test_its_record_agrees_and_one_changed_question_or_stage_does_not(median: Played) -> None:
    record = records.record(median.town.market, median.town.consumer, median.found.round_id)
    assert '"format":"pdqs record 2"' in record.text()
    assert RoundRecord.read(record.text()) == record
    found = verify(record.text())
    assert found.agrees
    assert "through 4 stages" in next(each.told for each in found.findings if each.name == "questions")
    place = next(i for i, line in enumerate(record.owners) if line.side is not None)
    line = record.owners[place]
    for forged in (replace(line, side=(line.side or 0) + 1), replace(line, stage=line.stage % 4 + 1)):
        owners = (*record.owners[:place], forged, *record.owners[place + 1 :])
        wrong = verify(replace(record, owners=owners).text())
        assert [each.name for each in wrong.findings if each.verdict == "does not agree"] == ["questions"]


def test_an_owner_takes_away_what_she_was_asked_about_too(median: Played) -> None:
    place = next(i for i, owner in enumerate(median.town.owners) if owner.user_id in median.sent)
    owner = median.town.owners[place]
    part = own_data.export(median.town.market, owner).taken_part[0]
    assert (part.stage, part.side) == (median.offer(owner).stage, median.offer(owner).side)
    assert part.side is not None


def test_stages_open_one_after_the_other_each_with_its_own_time(town: Town) -> None:
    played = start(town, "median", owners=80)
    begun, each = town.clock(), 1000 * played.found.plan.report_seconds
    assert played.now().reports_close_at_ms == begun + 4 * each
    for number in (1, 2, 3, 4):
        opened = played.now().stages
        assert [stage.number for stage in opened] == list(range(1, number + 1))
        assert (opened[-1].opened_at_ms, opened[-1].closes_at_ms) == (town.clock(), town.clock() + each)
        for offer in asked_offers(played):
            assert (offer.side is not None) == (offer.stage <= number)
            assert offer.reports_close_at_ms == begun + offer.stage * each
        tick(played)
        assert len(played.now().stages) == number
        played.report(silent=1)
        town.clock.advance(each / 1000)
        tick(played)
    assert played.now().state == "settled"


def test_a_stage_that_has_reported_wholly_lets_the_next_one_come_early_and_takes_no_time_from_it(town: Town) -> None:
    played = start(town, "median", owners=80)
    begun, each = town.clock(), 1000 * played.found.plan.report_seconds
    played.report()
    town.clock.advance(1)
    tick(played)
    second = played.now().stages[1]
    assert (second.opened_at_ms, second.closes_at_ms) == (begun + 1000, begun + 2 * each)


def test_a_market_that_stood_still_gives_the_next_stage_its_whole_time(town: Town) -> None:
    played = start(town, "median", owners=80)
    played.report(silent=1)
    each = 1000 * played.found.plan.report_seconds
    town.clock.advance(100 * each / 1000)
    with pytest.raises(ConflictError, match="close"):
        round_steps.settle_round(town.market, town.consumer, played.found.round_id)
    tick(played)
    second = played.now().stages[1]
    assert second.closes_at_ms == town.clock() + each
    assert played.now().reports_close_at_ms == town.clock() + 3 * each


def test_a_report_before_its_stage_and_one_after_it_are_refused(town: Town) -> None:
    played = start(town, "median", owners=80)
    stages = {played.offer(owner).stage: owner for owner in town.owners if played.offer(owner).q_numerator}
    with pytest.raises(ConflictError, match="has not come yet"):
        town.report(stages[3], played.found, 1)
    town.clock.advance(played.found.plan.report_seconds)
    tick(played)
    with pytest.raises(ConflictError, match="closed"):
        town.report(stages[1], played.found, 1)


def test_no_report_to_a_stage_is_taken_once_the_next_has_opened_whatever_a_clock_says(town: Town) -> None:
    """The next one's sides follow from its reports: one more, by a server whose clock is behind that of the one which
    opened it, and the round's own record spoke against an honest market."""
    played = start(town, "median", owners=120, seed=0, epsilon_max=2.0, bid_high_micros=200_000)
    late = [owner for owner in town.owners if (offer := played.offer(owner)).q_numerator and offer.stage == 1][:6]
    played.report(silent=len(late))
    kept = next(owner for owner in town.owners if owner.user_id in played.sent)
    town.clock.advance(played.found.plan.report_seconds)
    tick(played)
    town.clock.advance(-5)
    for owner in late:
        with pytest.raises(ConflictError, match="closed"):
            town.report(owner, played.found, 1)
    town.report(kept, played.found, played.sent[kept.user_id])  # sent again, it has its receipt
    town.clock.advance(5)
    assert played.through(silent=1).state == "settled"
    assert verify(records.record(town.market, town.consumer, played.found.round_id).text()).agrees


def test_the_next_stage_is_not_asked_before_its_time_whoever_asks_for_it(town: Town) -> None:
    played = start(town, "median", owners=80)
    for who in (town.consumer, town.operator):
        with pytest.raises(ConflictError, match="reports of stage 1 close in"):
            round_steps.open_next_stage(town.market, who, played.found.round_id)
    town.clock.advance(played.found.plan.report_seconds)
    found = round_steps.open_next_stage(town.market, town.consumer, played.found.round_id)
    assert [stage.number for stage in found.stages] == [1, 2]


def test_one_stage_about_a_guess_is_asked_at_once(town: Town) -> None:
    played = start(town, "median", owners=80, question="side:30:50", stages=1)
    assert played.found.asked.stages == 1
    assert all(offer.side is not None and offer.stage == 1 for offer in asked_offers(played))
    assert played.through().state == "settled"
    assert verify(records.record(town.market, town.consumer, played.found.round_id).text()).agrees
