"""A draft says what stands against its groups before she presses Open, in the words in which it would be refused."""

from __future__ import annotations

import re
from html import unescape

import httpx
import pytest

from market.town import Town, plan
from pdqs.market import Settings, drafts, groups, round_steps
from pdqs.market.http.app import create_app
from pdqs.market.http.serving import served
from pdqs.protocol.groups import GroupNames
from pdqs.protocol.problems import ConflictError

from .test_pages import enter


def page_of(town: Town, round_id: str) -> str:
    """The words of a draft's page, with single spaces."""
    app = create_app(Settings(database_url=town.market.settings.database_url), town.clock, ticking=False)
    code = round_steps.renew_code(town.market, town.consumer, town.consumer.user_id).code
    with served(app) as address, httpx.Client(base_url=address, timeout=60) as browser:
        enter(browser, code)
        found = browser.get(f"/consumer/rounds/{round_id}")
        assert found.status_code == 200
        return " ".join(unescape(re.sub(r"<[^>]+>", " ", found.text)).split())


@pytest.mark.parametrize("fewest", [5, 9])
@pytest.mark.parametrize("names", [["Board"], ["Nurses", "Board"]])
def test_a_draft_for_a_group_that_no_round_may_be_for_says_so(town: Town, fewest: int, names: list[str]) -> None:
    owners = town.add_owners(7)
    for owner in owners:
        wanted = GroupNames(groups=["Board"] if owner is owners[0] else ["Nurses"])
        groups.put_in_groups(town.market, town.operator, owner.user_id, wanted)
    wanted_plan = plan(groups=names, minimum_owners=fewest)
    draft = drafts.draft_round(town.market, town.consumer, wanted_plan, "a-draft-for-the-board")
    shown = page_of(town, draft.round_id)
    assert "It cannot be opened like this: there are fewer than 5 owners in Board" in shown
    assert "could bid in it now" not in shown, "how many they are is not for her to know"
    with pytest.raises(ConflictError, match="there are fewer than 5 owners in Board"):
        round_steps.open_round(town.market, town.consumer, draft.round_id)


def test_a_draft_for_groups_of_too_few_together_says_that_it_would_be_refused(town: Town) -> None:
    for owner in town.add_owners(6):
        groups.put_in_groups(town.market, town.operator, owner.user_id, GroupNames(groups=["Nurses"]))
    few = drafts.draft_round(town.market, town.consumer, plan(groups=["Nurses"], minimum_owners=8), "a-draft-for-few")
    assert "there are 6 owners in Nurses, and an answer needs at least 8" in page_of(town, few.round_id)
    enough = drafts.draft_round(town.market, town.consumer, plan(groups=["Nurses"], minimum_owners=6), "one-for-six")
    everyone = drafts.draft_round(town.market, town.consumer, plan(minimum_owners=8), "a-draft-for-everyone")
    assert "cannot be opened" not in page_of(town, enough.round_id)
    assert "6 owners could bid in it now, and it needs 8" in page_of(town, everyone.round_id)


def test_a_forecast_for_more_owners_than_there_are_is_not_said_to_be_for_those_there_are(town: Town) -> None:
    """It is made for as many as the round needs: with fewer nobody is asked."""
    town.add_owners(6)
    few = drafts.draft_round(town.market, town.consumer, plan(minimum_owners=60), "a-draft-that-needs-more")
    shown = page_of(town, few.round_id)
    assert "If as many owners bid as it needs, which is 60." in shown
    assert "If every owner of this market bids" not in shown
    enough = drafts.draft_round(town.market, town.consumer, plan(minimum_owners=6), "a-draft-for-those-there-are")
    assert "If every owner of this market bids" in page_of(town, enough.round_id)
