"""Rounds that are opened and called off again cost their consumer nothing, so a day has only so many of them."""

from __future__ import annotations

import dataclasses
import re

import httpx
import pytest

from market.town import Town, plan
from pdqs.market import access, reads, round_steps
from pdqs.market.http.app import create_app
from pdqs.market.http.serving import served
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


@pytest.mark.parametrize("role", ["consumer", "operator"])
def test_whoever_says_that_a_draft_is_discarded_calls_no_round_off_that_was_opened_meanwhile(
    town: Town, role: str
) -> None:
    who = town.consumer if role == "consumer" else town.operator
    session, (owner,) = access.start_session(town.market, who), town.add_owners(1)
    found = round_steps.draft_round(town.market, town.consumer, plan(), "the-draft-of-this")
    with (
        served(create_app(town.market.settings, town.clock, ticking=False)) as address,
        httpx.Client(base_url=address, headers={"Cookie": f"{access.COOKIE}={session.cookie}"}) as browser,
    ):

        def sent(fields: dict[str, str]) -> httpx.Response:
            path = f"/{role}/rounds/{found.round_id}/cancel"
            return browser.post(path, data={**fields, "csrf_token": session.csrf_token})

        def asked(about: str) -> dict[str, str]:
            page = sent({}).text
            assert about in page
            return dict(re.findall(r'type="hidden" name="(\w+)" value="(\w+)"', page))

        discarding = asked("Discard this draft?")
        opened = round_steps.open_round(town.market, town.consumer, found.round_id)
        town.bid(owner, opened, 500_000)
        refused = sent(discarding)
        assert refused.status_code == 409
        assert "opened since you looked" in refused.text
        assert reads.round_by_id(town.market, town.operator, found.round_id).state == "open"
        assert sent(asked("Cancel this round?")).status_code == 303
    assert reads.round_by_id(town.market, town.operator, found.round_id).state == "cancelled"
