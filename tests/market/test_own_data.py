"""A person's own data: all of it is hers to take, and her name to have forgotten. The books stay whole."""

from __future__ import annotations

import dataclasses
import json
import re
import time
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from market.owing import earn, owe
from market.town import Town
from pdqs.market import access, offer_access, own_data, people, round_steps
from pdqs.market.context import Market
from pdqs.market.http.app import create_app
from pdqs.market.http.serving import served
from pdqs.market.made_once import MadeOnce
from pdqs.market.store.schema import users
from pdqs.protocol.market_messages import Round, Transfer, User
from pdqs.protocol.own_data import Erasure, Export
from pdqs.protocol.problems import ConflictError, TooManyRequestsError, UnauthorizedError


def _played(town: Town) -> Round:
    """A settled round in which all who were asked reported."""
    town.add_owners(4)
    found = town.cleared_round()
    for owner in town.asked(found):
        town.report(owner, found, 1)
    return round_steps.settle_round(town.market, town.consumer, found.round_id)


def test_an_export_holds_all_that_is_hers_and_nothing_of_anybody_else(either_town: Town) -> None:
    town = either_town
    found = _played(town)
    owner = town.asked(found)[0]
    access.issue_token(town.market, owner, "phone")
    people.renew_code(town.market, town.operator, owner.user_id)
    kept = own_data.export(town.market, owner)
    (part,) = kept.taken_part
    assert (part.round_id, part.code, part.bid_micros) == (
        found.round_id,
        1,
        offer_access.bid(town.market, owner, found.round_id).bid_micros,
    )
    assert part.payment_micros == kept.balance_micros == town.balance(owner)
    assert [line.kind for line in kept.postings] == ["settlement"]
    assert [event.what for event in kept.access] == ["code"]
    assert [token.name for token in kept.sign_ins.tokens] == ["phone"]
    assert kept.rounds == []
    others = [other.user_id for other in town.owners if other != owner]
    assert not [user_id for user_id in others if user_id in kept.model_dump_json()]
    consumers = own_data.export(town.market, town.consumer)
    assert [line.round_id for line in consumers.rounds] == [found.round_id]
    assert consumers.rounds[0].answer is not None
    assert consumers.taken_part == []


def test_what_people_take_away_is_made_for_one_at_a_time_and_kept_for_nobody(
    town: Town, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[int] = []
    whole = own_data.export

    def counted(market: Market, actor: User) -> Export:
        made.append(1)
        time.sleep(0.2)
        assert len(made) == 1, "another is being made"
        made.pop()
        return whole(market, actor)

    monkeypatch.setattr(own_data, "export", counted)
    asking = [town.consumer, town.operator, *town.add_owners(2)]
    with ThreadPoolExecutor(4) as pool:
        files = list(pool.map(lambda who: own_data.export_text(town.market, who), asking))
    assert [json.loads(file)["user"]["user_id"] for file in files] == [who.user_id for who in asking]
    impatient = dataclasses.replace(town.market, exports=MadeOnce(most=0, patience=0.01))
    with ThreadPoolExecutor(2) as pool:
        slow = pool.submit(own_data.export_text, impatient, town.consumer)
        while not made and not slow.done():
            time.sleep(0.001)
        with pytest.raises(TooManyRequestsError, match="ask again in a moment"):
            own_data.export_text(impatient, town.operator)
        assert slow.result()


def test_every_table_that_names_an_owner_is_in_her_export() -> None:
    """A table added later that names users must be added to the export, or here with its reason."""
    naming = {
        table.name
        for table in users.metadata.tables.values()
        for key in table.foreign_keys
        if key.column.table is users
    }
    exported = {"bids", "rounds", "access_events", "sessions", "tokens", "passkeys", "letter_choices", "payout_lines"}
    exported |= {"group_members", "withdrawals"}
    secrets_only = {"codes"}  # hashes and times
    on_their_way = {"outbox"}  # which letters go to her, each of which she gets
    assert naming == exported | secrets_only | on_their_way


def test_an_erased_name_is_gone_from_the_database_and_the_books_still_balance(town: Town) -> None:
    found = _played(town)
    owner = town.asked(found)[0]
    with town.market.store.write() as connection:
        connection.execute(users.update().where(users.c.user_id == owner.user_id).values(name="Wilhelmina Quux"))
    token = access.issue_token(town.market, owner)
    with pytest.raises(ConflictError, match="still yours"):
        own_data.erase(town.market, owner, Erasure())
    owed = town.balance(owner)
    round_steps.pay_out(
        town.market, town.operator, Transfer(user_id=owner.user_id, amount_micros=owed), "pay-her-first"
    )
    gone = own_data.erase(town.market, owner, Erasure())
    assert (gone.name, gone.erased_at_ms) == ("erased", town.clock())
    with town.market.store.read() as connection:
        rows = [tuple(row) for table in users.metadata.sorted_tables for row in connection.execute(table.select())]
    assert "Quux" not in str(rows)
    assert owner.user_id in str(rows)  # the ledger has its lines
    assert town.balanced()
    with pytest.raises(UnauthorizedError):
        access.user_of_token(town.market, token)
    for again in (people.enable_user, people.renew_code):
        with pytest.raises(ConflictError):
            again(town.market, town.operator, owner.user_id)


def test_nobody_is_erased_in_the_middle_of_a_round_nor_the_first_operator_at_all(town: Town) -> None:
    town.add_owners(3)
    found = town.open_round()
    town.bid_all(found)
    for user in (town.owners[0], town.consumer, town.operator):
        with pytest.raises(ConflictError):
            own_data.erase(town.market, user, Erasure(forgo_balance=True))
    round_steps.cancel_round(town.market, town.consumer, found.round_id)
    assert own_data.erase(town.market, town.owners[0], Erasure()).erased_at_ms
    assert own_data.erase(town.market, town.consumer, Erasure(forgo_balance=True)).erased_at_ms


def test_her_page_gives_the_file_and_erases_her_name(town: Town) -> None:
    (owner,) = town.add_owners(1)
    session = access.start_session(town.market, owner)
    with (
        served(create_app(town.market.settings, town.clock, ticking=False)) as address,
        httpx.Client(base_url=address) as browser,
    ):
        cookie = {"Cookie": f"{access.COOKIE}={session.cookie}"}
        file = browser.get("/account/export.json", headers=cookie)
        assert file.json()["user"]["user_id"] == owner.user_id
        assert "attachment" in file.headers["content-disposition"]
        assert browser.post("/account/erase", headers=cookie).status_code == 403
        form = {"csrf_token": session.csrf_token}
        asked = browser.post("/account/erase", data=form, headers=cookie)
        assert "Erase your name?" in asked.text
        assert browser.get("/account", headers=cookie).status_code == 200, "nothing was done yet"
        form |= {"confirmed": "yes"}
        assert browser.post("/account/erase", data=form, headers=cookie).status_code == 303
        assert browser.get("/account", headers=cookie).status_code == 303


def test_her_page_says_how_much_she_gives_up_and_no_more_than_that_is_given_up(town: Town) -> None:
    (owner,) = owe(town, [2_345_000])
    session = access.start_session(town.market, owner)
    settings = dataclasses.replace(town.market.settings, currency="EUR", decimal_mark=",")
    with (
        served(create_app(settings, town.clock, ticking=False)) as address,
        httpx.Client(base_url=address, headers={"Cookie": f"{access.COOKIE}={session.cookie}"}) as browser,
    ):

        def sent(**fields: str) -> httpx.Response:
            return browser.post("/account/erase", data={"csrf_token": session.csrf_token, **fields})

        assert "2,345" not in sent().text, "who gives nothing up is asked as before"
        asked = sent(forgo="yes").text
        assert "You give up" in asked
        assert "2,345 EUR" in asked
        kept = dict(re.findall(r'type="hidden" name="(\w+)" value="(\w+)"', asked))
        kept.pop("csrf_token")
        earn(town, {owner.user_id: 1_000_000}, "meanwhile")
        refused = sent(**kept)
        assert refused.status_code == 409
        assert "3,345 EUR is still yours" in refused.text
        assert sent(confirmed="yes", forgo="yes").status_code == 409, "nobody told her how much that is"
        assert town.balance(owner) == 3_345_000
        again = dict(re.findall(r'type="hidden" name="(\w+)" value="(\w+)"', sent(forgo="yes").text))
        assert sent(**again).status_code == 303
    assert town.balance(owner) == 0
