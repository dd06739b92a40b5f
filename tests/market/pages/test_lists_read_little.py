"""A list of rounds reads no round whole: what its cards say of the frozen terms is read once for everyone."""

from __future__ import annotations

import httpx
import pytest

from market.town import Town, plan
from pdqs.market import Settings, reads, round_steps
from pdqs.market.http.app import create_app
from pdqs.market.http.serving import served
from pdqs.protocol.device_messages import DomainMessage
from pdqs.protocol.market_messages import QueryMessage
from pdqs.rounds.terms import Terms

from .test_pages import enter

AGES = QueryMessage(kind="median", text="How old?", domain=DomainMessage(kind="grid", start=0.0, step=1.0, size=101))
MEAN = AGES.model_copy(update={"kind": "mean"})


def test_an_owners_list_reads_the_terms_of_a_round_once(town: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    (owner,) = town.add_owners(1)
    for key, query in (("by-sides-01", AGES), ("by-numbers-01", MEAN)):
        made = round_steps.draft_round(town.market, town.consumer, plan(query=query), key)
        round_steps.open_round(town.market, town.consumer, made.round_id)
    read, whole = [], Terms.read

    def counted(document: dict[str, object]) -> Terms:
        read.append(1)
        return whole(document)

    monkeypatch.setattr(Terms, "read", staticmethod(counted))
    monkeypatch.setattr(reads, "notice", None)
    app = create_app(Settings(database_url=town.market.settings.database_url), town.clock, ticking=False)
    code = round_steps.renew_code(town.market, owner, owner.user_id).code
    with served(app) as address, httpx.Client(base_url=address, timeout=60) as browser:
        enter(browser, code)
        shown = [browser.get("/owner").text for _ in range(3)]
    assert all("one yes or no, not the number itself" in page and "one of 101 numbers" in page for page in shown)
    assert len(read) == 2, "once for each round, and not for each look"
