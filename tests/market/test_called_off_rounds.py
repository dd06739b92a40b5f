"""Rounds that are opened and called off again cost their consumer nothing, so a day has only so many of them."""

from __future__ import annotations

import dataclasses

import pytest

from market.town import Town, plan
from pdqs.market import round_steps
from pdqs.protocol.problems import ConflictError

DAY = 86_400


def test_rounds_that_are_opened_and_called_off_again_count_among_the_drafts_of_a_day(either_town: Town) -> None:
    town = either_town
    market = dataclasses.replace(town.market, settings=dataclasses.replace(town.market.settings, most_drafts=3))

    def opened(place: int) -> str:
        made = round_steps.draft_round(market, town.consumer, plan(), f"a-round-of-many-{place}")
        return round_steps.open_round(market, town.consumer, made.round_id).round_id

    for place in range(3):
        round_steps.cancel_round(market, town.consumer, opened(place))
    with pytest.raises(ConflictError, match="called off since yesterday"):
        opened(3)
    town.clock.advance(DAY + 1)
    stay = [opened(place) for place in range(4, 8)]  # what stays open is paid for
    assert len(set(stay)) == 4
