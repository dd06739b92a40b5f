"""An operator with very many people: finding them, inviting them by the list, paying them by the file, who did what."""

from __future__ import annotations

import csv
import io
import zipfile
from collections.abc import Callable

import pytest
import segno.encoder
from sqlalchemy import func, select
from sqlalchemy.dialects import sqlite

from market.owing import confirmation, owe
from market.town import Town
from pdqs.market import access, own_data, payout_confirmations, payouts, people, reads, round_steps, transfers
from pdqs.market.deeds import deeds_page
from pdqs.market.invitation_files import Guest, guest_files, guests_in
from pdqs.market.invitations import register_many
from pdqs.market.looking_up import how_many_owed, journal_page, not_in_a_batch, owed, payables_like, people_like
from pdqs.market.store.schema import accounts, users
from pdqs.protocol.market_messages import NewUser, Transfer
from pdqs.protocol.operator_messages import MOST_AT_ONCE, NewUsers
from pdqs.protocol.problems import ConflictError, ForbiddenError, MarketError, UnprocessableError


def test_people_are_found_by_a_part_of_their_name_or_id_a_page_at_a_time(either_town: Town) -> None:
    town = either_town
    town.add_owners(7)
    found = people_like(town.market, town.operator, "OWNER", limit=5)
    assert len(found.items) == 5
    assert found.next is not None
    rest = people_like(town.market, town.operator, "OWNER", after=found.next, limit=5)
    assert {one.name for one in [*found.items, *rest.items]} == {f"owner {i}" for i in range(1, 8)}
    assert [one.name for one in people_like(town.market, town.operator, "owner 3").items] == ["owner 3"]
    assert [one.name for one in people_like(town.market, town.operator, town.owners[1].user_id).items] == ["owner 2"]
    assert people_like(town.market, town.operator, "100%").items == []
    assert people_like(town.market, town.operator, "_").items == [], "signs of the database are letters here"
    assert [one.role for one in people_like(town.market, town.operator, role="consumer").items] == ["consumer"]


@pytest.mark.parametrize(
    ("name", "typed"),
    [
        ("Émile Zola", ["Émile", "émile", "ÉMILE ZOLA", "e\u0301mile", "zola", "mile"]),
        ("Ева Мюллер", ["Ева", "ева мюллер", "ЕВА", "мюл", "юлл"]),
        ("İpek", ["İpek", "pek"]),
        ("ZOE\u0308 SMIT", ["Zoë", "zoe\u0308 smit", "ZOË"]),
    ],
)
def test_whoever_is_called_in_letters_beyond_english_is_found_by_them(
    either_town: Town, name: str, typed: list[str]
) -> None:
    new = NewUser(role="owner", name=name)
    found = people.register_user(either_town.market, either_town.operator, new, "the-one-who-is-looked-for").user
    for text in typed:
        listed = people_like(either_town.market, either_town.operator, text).items
        assert [one.user_id for one in listed] == [found.user_id], f"{text!r} finds {name!r}"


def test_what_is_owed_has_a_next_page_and_can_be_searched(either_town: Town) -> None:
    town = either_town
    owe(town, [10_000 * (i + 1) for i in range(12)])
    first = payables_like(town.market, town.operator, limit=10)
    rest = payables_like(town.market, town.operator, after=first.next, limit=10)
    assert (len(first.items), len(rest.items), rest.next) == (10, 2, None)
    assert how_many_owed(town.market, town.operator) == 12
    assert [one.balance_micros for one in payables_like(town.market, town.operator, "owner 12").items] == [120_000]


@pytest.mark.parametrize("asked", ["how many", "the page", "a batch"])
def test_what_is_owed_is_found_without_going_through_everyone_for_each(town: Town, asked: str) -> None:
    """It took half a second of 3,000 owners, and grew with their square."""
    dear = owed().where(accounts.c.balance_micros >= 10_000)
    query = {
        "how many": select(func.count()).select_from(dear.subquery()),
        "the page": owed().order_by(users.c.user_id).limit(51),
        "a batch": dear.where(not_in_a_batch()).order_by(accounts.c.balance_micros.desc(), users.c.user_id).limit(2000),
    }[asked]
    text = query.compile(dialect=sqlite.dialect(), compile_kwargs={"literal_binds": True})
    with town.market.store.read() as connection:
        first, *others = [step.detail for step in connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {text}")]
    assert [step for step in others if step.startswith("SCAN")] == [], f"after {first}"


def test_a_list_of_names_becomes_invitations_that_work_once(either_town: Town) -> None:
    town = either_town
    new = NewUsers(role="owner", names=["Ann", "Bo", "Ann"])
    made = register_many(town.market, town.operator, new, "the-list-01")
    assert [one.user.name for one in made.items] == ["Ann", "Bo", "Ann"]
    assert len({one.user.user_id for one in made.items}) == 3
    again = register_many(town.market, town.operator, new, "the-list-01")
    assert [one.user for one in again.items] == [one.user for one in made.items], "the same people"
    with pytest.raises(MarketError):
        access.redeem(town.market, made.items[0].code)
    assert access.redeem(town.market, again.items[0].code).name == "Ann"
    for other in (["Ann", "Cy", "Ann"], ["Ann", "Bo"], ["Ann", "Bo", "Ann", "Di"]):
        with pytest.raises(ConflictError, match="used before"):
            register_many(town.market, town.operator, NewUsers(role="owner", names=other), "the-list-01")
    with pytest.raises(ForbiddenError):
        register_many(town.market, town.consumer, new, "the-list-02")


def test_the_files_of_a_list_hold_codes_links_and_pictures(town: Town) -> None:
    made = register_many(town.market, town.operator, NewUsers(role="owner", names=["=Ann", "Bo <b>"]), "the-list-01")
    guests = [Guest(invitation=one, address="https://town.example/market") for one in made.items]
    with zipfile.ZipFile(io.BytesIO(guest_files(guests))) as files:
        rows = list(csv.DictReader(io.StringIO(files.read("invitations.csv").decode())))
        cards = files.read("cards.html").decode()
    assert [row["name"] for row in rows] == ["'=Ann", "Bo <b>"], "no cell that a spreadsheet would run"
    assert [row["link"] for row in rows] == [f"https://town.example/market/enter#{one.code}" for one in made.items]
    assert cards.count("<svg") == 2
    assert "Bo &lt;b&gt;" in cards
    assert "http:" not in cards.replace("http://www.w3.org", "")


def test_pictures_of_a_long_list_are_drawn_without_trying_each_of_them_in_eight_ways(
    town: Town, monkeypatch: pytest.MonkeyPatch
) -> None:
    """That took two thirds of the time of a list of hundreds, with nothing to see meanwhile."""
    made = register_many(town.market, town.operator, NewUsers(role="owner", names=["Ann", "Bo"]), "the-list-01")
    guests = [Guest(invitation=one, address="https://town.example/market") for one in made.items]
    tried: list[int] = []
    evaluated: Callable[..., int] = segno.encoder.evaluate_mask

    def counted(*args: object) -> int:
        tried.append(1)
        return evaluated(*args)

    monkeypatch.setattr(segno.encoder, "evaluate_mask", counted)
    segno.make(guests[0].link, micro=False)
    assert len(tried) == 8, "what is counted here is what it tries"
    pictures = guest_files(guests)
    assert len(tried) == 8
    with zipfile.ZipFile(io.BytesIO(pictures)) as files:
        assert files.read("cards.html").decode().count("<svg") == 2


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        (b"", "it has 0 names"),
        (b"name,role\n\xff\n", "not UTF-8"),
        (b"name\n" + b"x" * 81, "row 2: a name has 1 to 80 letters"),
        (b"x\n" * (MOST_AT_ONCE + 1), "are let in at a time"),
        (b"name,role\nAnn,x,y\n", "row 2 has 3 cells"),
    ],
)
def test_a_list_that_cannot_be_meant_lets_nobody_in(raw: bytes, said: str) -> None:
    with pytest.raises(UnprocessableError, match="nobody was let in") as refused:
        guests_in(raw)
    assert said in str(refused.value)


def test_names_are_read_from_lists_as_people_save_them() -> None:
    assert guests_in("\ufeffName;Since\r\nÅsa;2020\r\n".encode()).names == ["Åsa"]
    assert guests_in(b"Ann Lee\nBo").names == ["Ann Lee", "Bo"]


def test_a_batch_is_paid_when_the_provider_says_so_and_once(either_town: Town) -> None:
    town = either_town
    owe(town, [4_000_000, 2_505_000, 9_000])  # the last is too little to pay, and half a cent stays owed
    batch = payouts.make_batch(town.market, town.operator, "the-batch-1")
    assert (batch.waiting, batch.waiting_micros, batch.paid) == (2, 6_500_000, 0)
    assert payouts.make_batch(town.market, town.operator, "the-batch-1") == batch, "the same key, the same batch"
    assert [town.balance(owner) for owner in town.owners] == [4_000_000, 2_505_000, 9_000], "nothing has moved"
    with pytest.raises(ConflictError, match="nobody is owed"):
        payouts.make_batch(town.market, town.operator, "the-batch-2")
    text = confirmation(town, batch.batch_id)
    done = payout_confirmations.confirm_batch(town.market, town.operator, batch.batch_id, text)
    assert (done.waiting, done.paid, done.paid_micros) == (0, 2, 6_500_000)
    assert [town.balance(owner) for owner in town.owners] == [0, 5_000, 9_000]
    hers = own_data.export(town.market, town.owners[0]).payouts
    assert [(one.amount_micros, one.state) for one in hers] == [(4_000_000, "paid")], "she takes away what is hers"
    assert payout_confirmations.confirm_batch(town.market, town.operator, batch.batch_id, text) == done, (
        "read again: nothing"
    )
    assert [town.balance(owner) for owner in town.owners] == [0, 5_000, 9_000]
    assert town.balanced()
    payout = transfers.journal(town.market, town.operator).items[0]
    transfers.reverse(town.market, town.operator, payout.transaction_id)
    assert town.balanced()


def test_what_failed_stays_owed_and_can_be_asked_for_again(either_town: Town) -> None:
    town = either_town
    owe(town, [1_000_000])
    first = payouts.make_batch(town.market, town.operator, "the-batch-1")
    done = payout_confirmations.confirm_batch(
        town.market, town.operator, first.batch_id, confirmation(town, first.batch_id, "failed")
    )
    assert (done.failed, town.balance(town.owners[0])) == (1, 1_000_000)
    second = payouts.make_batch(town.market, town.operator, "the-batch-2")
    assert second.waiting == 1
    assert [one.batch_id for one in payouts.batches_page(town.market, town.operator).items] == sorted(
        [first.batch_id, second.batch_id], reverse=True
    )


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda text: text.replace("1.00", "1.01"), "another amount"),
        (lambda text: text.replace("paid", "sent"), "must be paid or failed"),
        (lambda text: text.replace("p_", "q_"), "there is no payout"),
        (lambda text: text + text.splitlines()[1], "stands in rows 2 and 4"),
        (lambda text: text.replace("amount", "sum"), "there is no column 'amount'"),
        (lambda text: text.replace("1.00", "1,5"), "row 2"),
        (lambda _: "", "empty"),
    ],
)
def test_a_confirmation_that_does_not_fit_is_refused_whole(town: Town, change: object, said: str) -> None:
    owe(town, [1_000_000, 1_000_000])
    batch = payouts.make_batch(town.market, town.operator, "the-batch-1")
    assert callable(change)
    text = change(confirmation(town, batch.batch_id))
    with pytest.raises(UnprocessableError, match="nothing was entered") as refused:
        payout_confirmations.confirm_batch(town.market, town.operator, batch.batch_id, text)
    assert said in str(refused.value)
    assert payouts.batches_page(town.market, town.operator).items == [batch]
    assert [town.balance(owner) for owner in town.owners] == [1_000_000, 1_000_000]


def test_the_journal_has_every_entry_and_its_sums(either_town: Town) -> None:
    town = either_town
    owe(town, [3, 4])
    found = town.open_round()
    round_steps.cancel_round(town.market, town.operator, found.round_id)
    lines = {line.kind: line for line in journal_page(town.market, town.operator).items}
    assert set(lines) == {"deposit", "settlement", "escrow", "return"}
    assert (lines["settlement"].lines, lines["settlement"].moved_micros) == (3, 7)
    assert (lines["escrow"].round_id, lines["escrow"].moved_micros) == (found.round_id, 20_000_000)


def test_every_deed_of_an_operator_is_told_once_with_who_did_it(either_town: Town) -> None:
    town = either_town
    second = people.register_user(
        town.market, town.operator, NewUser(role="operator", name="second"), "second-operator"
    ).user
    owner = town.add_owners(1)[0]
    people.disable_user(town.market, second, owner.user_id)
    people.disable_user(town.market, second, owner.user_id)
    people.enable_user(town.market, second, owner.user_id)
    gift = Transfer(user_id=town.consumer.user_id, amount_micros=5)
    for _ in range(2):
        entered = round_steps.deposit(town.market, second, gift, "a-deposit-1")
    for _ in range(2):
        transfers.reverse(town.market, town.operator, entered.transaction_id)
    round_steps.cancel_round(town.market, second, town.open_round().round_id)
    told = [(deed.actor_id, deed.what) for deed in deeds_page(town.market, town.operator).items]
    mine = [what for who, what in told if who == second.user_id]
    assert sorted(mine) == ["cancelled", "deposit", "disabled", "enabled"]
    assert told.count((town.operator.user_id, "reversal")) == 1
    with pytest.raises(ForbiddenError):
        deeds_page(town.market, town.consumer)
    assert reads.trial_balance(town.market, town.operator).balanced


@pytest.mark.parametrize(
    ("text", "names"),
    [
        (b'"name"\n"Ann"\n', ["Ann"]),
        (b'"name","group"\r\n"Ann","x"\r\n', ["Ann"]),
        (b'"Name";"group"\n"Ann";"x"\n', ["Ann"]),
        (b"name\rAnn\rBo\r", ["Ann", "Bo"]),
    ],
)
def test_a_header_in_quotation_marks_or_with_odd_ends_of_lines_is_nobody(text: bytes, names: list[str]) -> None:
    """Spreadsheets and R write headers so: a person called name was let in."""
    assert guests_in(text).names == names


def test_a_list_of_groups_alone_lets_nobody_in_and_says_so_once() -> None:
    for text, why in ((b"group\nx\n", "none of names"), (b"a,b\nAnn,x\n", "none is called name")):
        with pytest.raises(UnprocessableError, match=why) as refused:
            guests_in(text)
        assert str(refused.value).count("nobody was let in") == 1


def test_rests_that_cannot_be_paid_are_not_counted_as_money_to_come(town: Town) -> None:
    owe(town, [9_999, 10_000, 2_500_000])
    assert how_many_owed(town.market, town.operator) == 2
