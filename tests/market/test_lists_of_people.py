"""Lists as spreadsheets save them: all three kinds are read alike, and a bad row is called by its number."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from market.owing import asked_for, owe
from market.town import Town
from pdqs.market import groups, payout_confirmations, payouts, round_steps
from pdqs.market.group_files import add_from
from pdqs.market.invitation_files import guests_in
from pdqs.market.list_remarks import remarks_on
from pdqs.model.errors import PdqsError
from pdqs.protocol.market_messages import NewUser
from pdqs.protocol.problems import UnprocessableError

KINDS = ("names", "groups", "confirmation")
HEADERS = {
    "names": ["name", "group"],
    "groups": ["user_id", "group"],
    "confirmation": ["reference", "status", "amount"],
}
ROWS = {
    "names": [["Ann", "Nurses"], ["Bo", "Drivers"]],
    "groups": [["u_000000000000000000000001", "Nurses"], ["u_000000000000000000000002", "Drivers"]],
    "confirmation": [["p_1", "paid", "1.00"], ["p_2", "failed", "2.00"]],
}
SAVED: dict[str, Callable[[list[list[str]]], str]] = {
    "plain": lambda rows: "".join(",".join(row) + "\n" for row in rows),
    "with a mark": lambda rows: "\ufeff" + "".join(",".join(row) + "\n" for row in rows),
    "semicolons and CRLF": lambda rows: "".join(";".join(row) + "\r\n" for row in rows),
    "tabs": lambda rows: "".join("\t".join(row) + "\n" for row in rows),
    "old Mac": lambda rows: "".join(",".join(row) + "\r" for row in rows),
    "all in quotation marks": lambda rows: "".join(",".join(f'"{cell}"' for cell in row) + "\n" for row in rows),
    "trailing commas": lambda rows: "".join(",".join(row) + ",,,\n" for row in rows),
    "blank rows between": lambda rows: "\n".join(",".join(row) + "\n" for row in rows),
    "rows of spaces": lambda rows: "   \n".join(",".join(row) + "\n" for row in rows),
    "rows of commas": lambda rows: ",,\n , ,\n".join(",".join(row) + "\n" for row in rows),
    "a blank row first": lambda rows: "\r\n,,\r\n" + "".join(",".join(row) + "\r\n" for row in rows),
    "blank rows last": lambda rows: "".join(",".join(row) + "\n" for row in rows) + ",\n\n  \n",
    "a large first letter": lambda rows: "".join(
        ",".join(cell.capitalize() if place == 0 else cell for cell in row) + "\n" for place, row in enumerate(rows)
    ),
}


def _read(town: Town, folder: Path, kind: str, text: str) -> object:
    """What a list of a kind says, by whichever door it comes."""
    if kind == "names":
        listed = guests_in(text.encode())
        return [[name, *of] for name, of in zip(listed.names, listed.groups, strict=True)]
    if kind == "confirmation":
        return [(one.reference, one.paid, one.amount_micros) for one in payout_confirmations.read_confirmation(text)]
    path = folder / "groups.csv"
    path.write_text(text, newline="")
    add_from(town.market, town.operator, path)
    return [(one.name, one.owners) for one in groups.all_groups(town.market, town.operator).items]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("saved", SAVED)
def test_a_list_is_read_however_it_was_saved(town: Town, tmp_path: Path, kind: str, saved: str) -> None:
    town.add_owners(2)
    rows = [HEADERS[kind], *ROWS[kind]]
    expected = {
        "names": ROWS["names"],
        "groups": [("Drivers", 1), ("Nurses", 1)],
        "confirmation": [("p_1", True, 1_000_000), ("p_2", False, 2_000_000)],
    }
    assert _read(town, tmp_path, kind, SAVED[saved](rows)) == expected[kind]


BAD = {
    "names": ["n" * 81, ""],
    "groups": ["u_nobody", "Nurses"],
    "confirmation": ["p_3", "sent", "1.00"],
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_bad_row_is_called_by_the_number_that_a_spreadsheet_shows(town: Town, tmp_path: Path, kind: str) -> None:
    """Row 1 names the columns, row 3 is blank, and row 4 has a cell of two lines."""
    town.add_owners(2)
    first, second = ROWS[kind]
    two_lines = [*(f'"{cell}\n"' for cell in second[:-1]), second[-1]]
    rows = [HEADERS[kind], first, [""], two_lines, BAD[kind]]
    with pytest.raises(PdqsError, match=r"\brow 5\b"):
        _read(town, tmp_path, kind, SAVED["plain"](rows))
    with pytest.raises(PdqsError, match=r"row 2 has \d cells, but the first line names \d columns"):
        _read(town, tmp_path, kind, SAVED["plain"]([HEADERS[kind], [*first, "more", "and more"]]))


def test_names_without_a_header_are_numbered_from_the_first_and_blank_lines_are_passed_over() -> None:
    assert guests_in(b"\n  \nAnn Lee\n\nBo;;\n").names == ["Ann Lee", "Bo;;"]
    assert guests_in(b"Ann,,\n,,\nBo,,\n").names == ["Ann", "Bo"]
    with pytest.raises(UnprocessableError, match="row 3: a name has 1 to 80 letters"):
        guests_in(b"Ann\n\n" + b"x" * 81)


@pytest.mark.parametrize("row", ["u_000000000000000000000001,", "u_000000000000000000000001, | ", ",Nurses"])
def test_a_row_of_groups_with_half_of_it_missing_is_named(town: Town, tmp_path: Path, row: str) -> None:
    town.add_owners(1)
    with pytest.raises(PdqsError, match=r"row 2: there is no (user_id|group); nobody was put into a group"):
        _read(town, tmp_path, "groups", f"user_id,group\n{row}\n")


def test_a_confirmation_is_never_guessed_at() -> None:
    header = "reference,status,amount\n"
    for text, why in (
        (header, "no rows under its first line"),
        (header + "p_1,paid,1.00\n\np_1,paid,1.00\n", "the same reference stands in rows 2 and 4"),
        ("reference,status,amount,amount\np_1,paid,1.00,2.00\n", "two of its columns are called amount"),
        (header + "p_1,paid\n", "row 2"),
    ):
        with pytest.raises(UnprocessableError, match=why):
            payout_confirmations.read_confirmation(text)
    for raw, why in ((b"PK\x03\x04...", "save it as CSV first"), (header.encode("utf-16"), "UTF-8")):
        with pytest.raises(UnprocessableError, match=why):
            payout_confirmations.confirmation_text(raw)


def test_a_list_that_says_what_somebody_is_lets_her_in_as_nothing_else() -> None:
    listed = guests_in(b"name,role\nAnn,Owner\nZed,consumer\nBo,\n")
    with pytest.raises(UnprocessableError, match="nobody was let in: row 3 says 'consumer'"):
        listed.refuse_other_than("owner")
    guests_in(b"name,role\nAnn,Owner\nBo,\n").refuse_other_than("owner")
    guests_in(b"Ann\nBo\n").refuse_other_than("consumer")


@pytest.mark.parametrize(("asked", "written"), [("6.00", "6,00"), ("1250.50", "1.250,50")])
def test_a_confirmation_with_commas_before_the_decimals_is_read_by_what_was_asked_for(
    town: Town, asked: str, written: str
) -> None:
    owe(town, [round(float(asked) * 1_000_000)])
    batch = payouts.make_batch(town.market, town.operator, "a-batch-of-commas")
    (line,) = asked_for(town, batch.batch_id)
    assert line["amount"] == asked
    text = f"reference;status;amount\n{line['reference']};paid;{written}\n"
    seen = payout_confirmations.preview(town.market, town.operator, batch.batch_id, text)
    assert seen.paid_micros == round(float(asked) * 1_000_000)
    for other in ("60,00", "0,60"):
        wrong = text.replace(written, other)
        with pytest.raises(UnprocessableError, match="and another amount is told"):
            payout_confirmations.confirm_batch(town.market, town.operator, batch.batch_id, wrong)
    assert payout_confirmations.confirm_batch(town.market, town.operator, batch.batch_id, text).paid == 1


@pytest.mark.parametrize("name", ["\u0645\u0647\u062f\u06cc\u200c\u0632", "Ann\u00a0Lee", "\u0915\u094d\u200d\u0937"])
def test_a_name_that_one_person_may_have_may_stand_in_a_list(name: str) -> None:
    """A zero-width joiner, one that parts, a no-break space: refused before as if the name were too long."""
    assert NewUser(role="owner", name=name).name == name
    assert guests_in(f"name\n{name}\n".encode()).names == [name]


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(90), "this is a spreadsheet, not a CSV file"),
        (b'name\n"Ann Lee\nBo\n', r'row 2 is not CSV: a quotation mark \("\) is not closed'),
        (b"name\nLee, Ann\n", "row 2 has 2 cells, but the first line names 1 column: .* stands in quotation marks"),
    ],
)
def test_a_list_that_was_saved_wrongly_is_told_what_to_mend(raw: bytes, said: str) -> None:
    with pytest.raises(UnprocessableError, match=said):
        guests_in(raw)


def test_a_name_that_turns_the_writing_is_refused_for_that() -> None:
    with pytest.raises(UnprocessableError, match="row 2: the name holds a sign that is not shown"):
        guests_in("name\nAnn\u202eeel\n".encode())


@pytest.mark.parametrize("heading", ["Full name", "Names", "NAME ", "Participants", "full  name:", "Fullname"])
def test_what_stands_above_a_column_of_names_is_nobody(heading: str) -> None:
    assert guests_in(f"{heading}\nAnn\nBo\n".encode()).names == ["Ann", "Bo"]
    assert guests_in(f"group;{heading}\nNurses;Ann\n".encode()).names == ["Ann"]


@pytest.mark.parametrize(
    "text", ["member,name\n17,Ann\n18,Bo\n", "name,member\nAnn,yes\nBo,no\n", "Participant;Name:\nP-01;Ann\nP-02;Bo\n"]
)
def test_other_words_for_a_name_are_other_columns_where_one_is_called_name(text: str) -> None:
    assert guests_in(text.encode()).names == ["Ann", "Bo"]


@pytest.mark.parametrize("written", ["Zoe\u0308 Lee", "Zoë  Lee"])
def test_names_that_look_the_same_are_one_name_however_their_signs_are_put_together(town: Town, written: str) -> None:
    """They stand on a page as one, so they are told apart by a mark, and are on a list twice."""
    listed = guests_in(f"name\n{written}\n".encode())
    assert listed.names == ["Zoë Lee"]
    before = NewUser(role="owner", name=written)  # by a program, or by an earlier version
    round_steps.register_user(town.market, town.operator, before, "somebody-who-is-here")
    remarks = remarks_on(town.market, town.operator, "owner", listed, "a-key-for-this-list")
    assert remarks.doubted == {0}
