"""Groups of owners: who is in one, and who may see and bid in a round that is for some groups alone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from sqlalchemy import select

from market.test_bids_together import said_to_the_database
from market.town import Town, plan
from pdqs.cli.commands import market as market_commands
from pdqs.market import groups, invitations, letter_choices, own_data, reads, records, round_steps
from pdqs.market.group_files import add_from
from pdqs.market.invitation_files import guests_in
from pdqs.market.price_outlook import owners_able
from pdqs.market.round_terms import frozen
from pdqs.market.store.schema import outbox
from pdqs.model.errors import InputError
from pdqs.protocol.groups import GroupNames
from pdqs.protocol.letters import LetterChoices
from pdqs.protocol.market_messages import User
from pdqs.protocol.operator_messages import NewUsers
from pdqs.protocol.own_data import Erasure
from pdqs.protocol.problems import ConflictError, ForbiddenError, NotFoundError, UnprocessableError
from pdqs.verifying import verify


def test_what_is_told_of_a_group_counts_nobody_in_others(either_town: Town) -> None:
    """Where 200,000 are in groups, a page about one of 4,000 took half a second."""
    town = either_town
    for place, owner in enumerate(town.add_owners(12)):
        put(town, owner, "Nurses" if place % 2 else "Drivers")
    draft = round_steps.draft_round(town.market, town.consumer, plan(groups=["Nurses"]), "for-nurses-02")
    with said_to_the_database(town) as said:
        assert owners_able(town.market, draft.plan) == 6
        round_steps.open_round(town.market, town.consumer, draft.round_id)
    counting = [statement for statement in said if "count(" in statement and "group_members" in statement]
    assert len(counting) == 2
    assert all("group_members.name IN" in statement for statement in counting)


def put(town: Town, owner: User, *names: str) -> None:
    groups.put_in_groups(town.market, town.operator, owner.user_id, GroupNames(groups=list(names)))


def seen(town: Town, owner: User) -> set[str]:
    return {one.round_id for one in reads.notices(town.market, owner).items}


def test_a_round_for_a_group_is_there_for_its_owners_alone(either_town: Town) -> None:
    town = either_town
    *nurses, both, other = town.add_owners(8)
    for owner in nurses:
        put(town, owner, "Nurses", *(["Drivers"] if owner != nurses[0] else []))
    put(town, both, "Night shift", "Drivers")
    wide = town.open_round("for-everyone-01")
    narrow = town.open_round("for-nurses-01", groups=["Nurses", "Drivers"])
    assert seen(town, other) == {wide.round_id}
    assert seen(town, both) == seen(town, nurses[0]) == {wide.round_id, narrow.round_id}
    with pytest.raises(NotFoundError, match="that you can see"):
        reads.notice(town.market, other, narrow.round_id)
    with pytest.raises(NotFoundError, match="that you can see"):
        town.bid(other, narrow, 1000)
    for owner in (*nurses, both):
        town.bid(owner, narrow, 1000)
    put(town, both)  # taken out of every group, she keeps what she has done
    assert narrow.round_id in seen(town, both)
    assert reads.notice(town.market, both, narrow.round_id).state == "open"
    assert json.loads(reads.notice(town.market, both, narrow.round_id).terms)["groups"] == ["Drivers", "Nurses"]
    town.clock.advance(60)
    round_steps.clear_round(town.market, town.consumer, narrow.round_id)
    for owner in (*nurses, both):
        town.report(owner, narrow, 1)
    town.clock.advance(60)
    round_steps.settle_round(town.market, town.consumer, narrow.round_id)
    record = records.record(town.market, both, narrow.round_id).text()
    assert json.loads(json.loads(record)["terms"])["groups"] == ["Drivers", "Nurses"]
    assert verify(record).agrees


def test_terms_for_everyone_are_frozen_as_before_there_were_groups() -> None:
    document = frozen("r_1", plan(), 1, "", {}).document
    assert "groups" not in json.loads(document)
    assert json.loads(frozen("r_1", plan(groups=["B", "A", "B"]), 1, "", {}).document)["groups"] == ["A", "B"]


def test_groups_without_enough_owners_for_an_answer_are_refused_in_a_sentence_and_nothing_is_paid(town: Town) -> None:
    for owner in town.add_owners(4):
        put(town, owner, "Nurses")
    with pytest.raises(UnprocessableError, match="no group called Doctors"):
        town.open_round("for-doctors-01", groups=["Doctors"])
    with pytest.raises(ConflictError, match="there are fewer than 5 owners in Nurses, and no round is for so few"):
        town.open_round("for-nurses-01", groups=["Nurses"])
    assert town.balance(town.consumer) == 100_000_000
    put(town, town.add_owners(1)[0], "Nurses")
    assert town.open_round("for-nurses-01", groups=["Nurses"]).state == "open"


def test_nobody_is_singled_out_by_a_group_of_one_beside_a_group_of_the_consumers_friends(either_town: Town) -> None:
    town = either_town
    director, *friends = town.add_owners(6)
    put(town, director, "Board")
    for owner in friends:
        put(town, owner, "Chess club")
    with pytest.raises(ConflictError, match="fewer than 5 owners in Board, and no round is for so few, be it beside"):
        town.open_round("for-both-of-them", groups=["Board", "Chess club"])
    assert town.balance(town.consumer) == 100_000_000
    assert town.open_round("for-the-friends", groups=["Chess club"]).state == "open"
    told = [(one.name, one.owners, one.fewer_than) for one in groups.all_groups(town.market, town.consumer).items]
    assert told == [("Board", None, 5), ("Chess club", 5, None)]
    assert [one.owners for one in groups.all_groups(town.market, town.operator).items] == [1, 5]
    assert owners_able(town.market, plan(groups=["Board", "Chess club"])) == 5  # nor by what is left of a sum
    assert owners_able(town.market, plan(groups=["Board"])) == 5


@pytest.mark.parametrize("needed", [5, 11, 12, 13, 1000])
def test_how_far_groups_overlap_is_told_to_no_consumer(either_town: Town, needed: int) -> None:
    """Of two pairs of groups of six she is told the same, though one person is in both of the first pair."""
    town = either_town
    for place, owner in enumerate(town.add_owners(23)):
        put(
            town,
            owner,
            *(["A"] * (place < 6) + ["B"] * (5 <= place < 11) + ["C"] * (11 <= place < 17) + ["D"] * (place >= 17)),
        )

    def told(*names: str) -> tuple[int, str]:
        wanted = plan(groups=list(names), minimum_owners=needed)
        try:
            found = town.open_round(f"for-{'-and-'.join(names)}", groups=list(names), minimum_owners=needed)
            said = f"it is {found.state}"
        except ConflictError as refused:
            said = str(refused).replace(" and ".join(names), "them")
        return owners_able(town.market, wanted), said

    assert told("A", "B") == told("C", "D")


def test_what_is_forecast_and_who_is_written_to_follow_the_group(town: Town) -> None:
    *nurses, other = town.add_owners(6)
    for owner in nurses:
        put(town, owner, "Nurses")
    for owner in (nurses[0], other):
        letter_choices.choose(town.market, owner, LetterChoices(kinds=["opened"], webhook="https://a.example/x"))
    assert owners_able(town.market, plan(groups=["Nurses"])) == 5
    assert owners_able(town.market, plan()) == 6
    found = town.open_round("for-nurses-01", groups=["Nurses"])
    with town.market.store.read() as connection:
        told = connection.scalars(select(outbox.c.user_id).where(outbox.c.round_id == found.round_id)).all()
    assert told == [nurses[0].user_id]


def test_only_operators_change_groups_only_owners_are_in_them_and_leaving_leaves_them(town: Town) -> None:
    owner, other = town.add_owners(2)
    put(town, owner, "Nurses")
    put(town, other, "nurses")  # in a hurry: the same group
    assert groups.groups_of(town.market, other, other.user_id).groups == ["Nurses"]
    put(town, other)
    with pytest.raises(ForbiddenError):
        groups.put_in_groups(town.market, owner, owner.user_id, GroupNames(groups=["Doctors"]))
    with pytest.raises(NotFoundError):
        groups.groups_of(town.market, other, owner.user_id)
    with pytest.raises(ConflictError, match="only owners"):
        put(town, town.consumer, "Nurses")
    assert groups.groups_of(town.market, owner, owner.user_id).groups == ["Nurses"]
    assert own_data.export(town.market, owner).groups == ["Nurses"]
    own_data.erase(town.market, owner, Erasure())
    assert groups.all_groups(town.market, town.consumer).items == []
    with pytest.raises(ConflictError, match="was erased"):
        put(town, owner, "Nurses")
    assert groups.groups_of(town.market, town.operator, owner.user_id).groups == []


def test_a_group_is_one_however_its_accents_are_kept(town: Town) -> None:
    """As it was kept by a program, and as the operator's form and her lists say it."""
    first, second = town.add_owners(2)
    put(town, first, "Cafe\u0301")
    for owner in (first, second):
        groups.put_in_groups(town.market, town.operator, owner.user_id, groups.group_names(["Cafe\u0301"]))
    assert {groups.groups_of(town.market, town.operator, each.user_id).groups[0] for each in (first, second)} == {
        "Cafe\u0301"
    }


def test_a_list_of_invitations_may_have_a_column_of_groups(town: Town) -> None:
    listed = guests_in(b"name,group\nAnn,Nurses | Night shift\nBea,\nCid,Nurses\n")
    new = NewUsers(role="owner", names=listed.names, groups=listed.groups)
    made = invitations.register_many(town.market, town.operator, new, "a-list-of-three")
    ann = made.items[0].user
    assert groups.groups_of(town.market, ann, ann.user_id).groups == ["Night shift", "Nurses"]
    found = groups.all_groups(town.market, town.operator).items
    assert [(one.name, one.owners) for one in found] == [("Night shift", 1), ("Nurses", 2)]
    with pytest.raises(UnprocessableError, match="only owners"):
        invitations.register_many(
            town.market, town.operator, new.model_copy(update={"role": "consumer"}), "another-one"
        )
    with pytest.raises(UnprocessableError, match="row 2: a group's name has 1 to 40 letters"):
        guests_in(b"name,group\nAnn," + b"x" * 41 + b"\n")


def test_a_file_puts_owners_into_groups_all_or_none(town: Town, tmp_path: Path) -> None:
    first, second = town.add_owners(2)
    path = tmp_path / "groups.csv"
    path.write_text(f"user_id,group\n{first.user_id},Nurses\nu_nobody,Nurses\n")
    with pytest.raises(InputError, match="there is no owner u_nobody; nobody was put into a group"):
        add_from(town.market, town.operator, path)
    assert groups.all_groups(town.market, town.operator).items == []
    path.write_text(f"user_id;group\n{first.user_id};Nurses | Drivers\n{second.user_id};Nurses\n")
    assert add_from(town.market, town.operator, path) == 2
    found = groups.all_groups(town.market, town.operator).items
    assert [(one.name, one.owners) for one in found] == [("Drivers", 1), ("Nurses", 2)]


def test_two_lists_of_the_same_people_are_written_in_one_order(town: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each waits for rows that the other has written and not yet kept: in two orders each would wait for the other."""
    written: list[list[tuple[str, str]]] = []
    monkeypatch.setattr(
        groups, "insert_missing", lambda _c, _t, rows: written.append([(one["user_id"], one["name"]) for one in rows])
    )
    town.add_owners(3)
    ids = [owner.user_id for owner in town.owners]
    lists = [{one: ["Nurses", "Night shift"] for one in ids}, {one: ["Night shift", "Nurses"] for one in ids[::-1]}]
    with town.market.store.write() as connection:
        for wanted in lists:
            groups.add_members(connection, wanted, 1)
    assert written[0] == written[1] == sorted(written[0])
    assert len(written[0]) == 6


def test_a_file_of_groups_names_nobody_who_was_erased(town: Town, tmp_path: Path) -> None:
    here, gone = town.add_owners(2)
    own_data.erase(town.market, gone, Erasure())
    path = tmp_path / "groups.csv"
    path.write_text(f"user_id,group\n{here.user_id},Nurses\n{gone.user_id},Nurses\n")
    with pytest.raises(InputError, match=f"row 3: there is no owner {gone.user_id}"):
        add_from(town.market, town.operator, path)
    assert groups.groups_of(town.market, town.operator, gone.user_id).groups == []


def test_a_file_of_groups_may_name_more_owners_than_a_statement_takes(
    town: Town, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """PostgreSQL takes 65,535 at most; a file of more was called a database that does not answer."""
    path = tmp_path / "groups.csv"
    path.write_text("user_id,group\n" + "".join(f"{owner.user_id},Nurses\n" for owner in town.add_owners(5)))
    monkeypatch.setattr(groups, "_AT_ONCE", 2)
    with said_to_the_database(town) as said:
        assert add_from(town.market, town.operator, path) == 5
    assert sum("users.role = " in statement for statement in said) == 3
    assert [group.owners for group in groups.all_groups(town.market, town.operator).items] == [5]


def test_the_command_shows_groups_and_takes_a_file(
    town: Town, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (owner,) = town.add_owners(1)
    path = tmp_path / "groups.csv"
    path.write_text(f"user_id,group\n{owner.user_id},Nurses\n")
    url = town.market.settings.database_url
    market_commands.groups(add=path, database=url)
    market_commands.groups(database=url)
    told = capsys.readouterr()
    assert told.err == "1 owner was put into groups.\n"
    assert told.out == 2 * "       1  Nurses\n"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("user_id\nu_1\n", "no column 'group'"),
        ("userid,group\nu_1,x\n", "no column 'user_id'"),
        ("user_id,group\n", "it names nobody"),
    ],
)
def test_a_file_of_groups_that_lacks_a_column_is_refused_in_a_sentence(
    town: Town, tmp_path: Path, text: str, why: str
) -> None:
    path = tmp_path / "groups.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=why):
        add_from(town.market, town.operator, path)
