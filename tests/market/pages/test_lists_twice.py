"""Lists of invitations that would let somebody in twice, or that are not read as they were meant, say so first."""

from __future__ import annotations

import html
import io
import re
import zipfile

import httpx

from pdqs.market import access
from pdqs.market.looking_up import people_like

from .site import Site
from .test_money_pages import fields, operator

__all__ = ["operator"]  # the fixture

LISTS = "/operator/invitations"


def _read(office: httpx.Client, text: str, role: str = "owner") -> str:
    """How a list is said back."""
    form = fields(office.get(LISTS).text, LISTS)
    answer = office.post(LISTS, data={**form, "role": role}, files={"file": ("names.csv", text.encode())})
    return html.unescape(answer.text)


def _said_yes(office: httpx.Client, asked: str, text: str, **more: str) -> httpx.Response:
    left_empty = {name: value for name, value in fields(asked, LISTS).items() if name != "all_the_same"}
    return office.post(LISTS, data={**left_empty, "text": text, **more})


def _names_in(answer: httpx.Response) -> list[str]:
    with zipfile.ZipFile(io.BytesIO(answer.content)) as files:
        return [line.split(",")[1] for line in files.read("invitations.csv").decode().splitlines()[1:]]


def _how_many(site: Site, text: str) -> int:
    return len(people_like(site.market, site.operator, text).items)


def test_a_list_read_a_second_time_lets_nobody_in_unless_that_is_ticked(site: Site, operator: httpx.Client) -> None:
    text = "name\n" + "".join(f"Again {i}\n" for i in range(14))
    first = _read(operator, text)
    assert "here already" not in first
    assert len(_names_in(_said_yes(operator, first, text))) == 14
    second = _read(operator, text)
    assert "14 of 14 names are here already: Again 0, Again 1, Again 2, Again 3, Again 4 and 9 more." in second
    asked_again = _said_yes(operator, second, text)
    assert "14 of 14 names are here already" in asked_again.text, "nobody is left to let in: it asks again"
    assert _how_many(site, "Again") == 14
    assert len(_names_in(_said_yes(operator, second, text, all_the_same="yes"))) == 14
    assert _how_many(site, "Again") == 28


def test_a_name_that_a_list_has_twice_is_told_by_its_rows_and_let_in_once(operator: httpx.Client) -> None:
    text = "name,group\nNora Once,\nTwyla,North\n twyla,North\n"
    asked = _read(operator, text)
    assert "Rows 3 and 4 have one name: Twyla." in asked
    assert "Let 2 owners in?" in asked
    assert _names_in(_said_yes(operator, asked, text)) == ["Nora Once", "Twyla"]


def test_pressed_twice_the_button_lets_the_same_people_in_and_names_nobody_here(
    site: Site, operator: httpx.Client
) -> None:
    text = "name\nPressed twice\nPressed as well\n"
    asked = _read(operator, text)
    answers = [_said_yes(operator, asked, text) for _ in range(2)]
    assert [_names_in(answer) for answer in answers] == [["Pressed twice", "Pressed as well"]] * 2
    assert _how_many(site, "Pressed") == 2


def test_whoever_comes_in_by_another_hand_meanwhile_is_asked_about(site: Site, operator: httpx.Client) -> None:
    text = "name\nMeanwhile\nStill to come\n"
    asked = _read(operator, text)
    site.invite("owner", "Meanwhile")
    answer = _said_yes(operator, asked, text)
    assert "1 of 2 names is here already: Meanwhile." in answer.text
    assert _how_many(site, "Still to come") == 0
    assert _names_in(_said_yes(operator, html.unescape(answer.text), text)) == ["Still to come"]


def test_a_consumer_of_an_owners_name_is_no_second_account(site: Site, operator: httpx.Client) -> None:
    site.invite("owner", "Both Roles")
    assert "here already" not in _read(operator, "name\nBoth Roles\n", role="consumer")
    assert "here already" in _read(operator, "name\nBoth Roles\n", role="owner")


def test_columns_that_are_not_read_are_named_with_what_may_be_meant(operator: httpx.Client) -> None:
    asked = _read(operator, "name,groups,since\nColumn One,North,2020\n")
    assert "The column 'groups' is not read: did you mean 'group'?" in asked
    assert "The column 'since' is not read." in asked
    assert "is not read" not in _read(operator, "name,group\nColumn One,North\n")


def test_groups_that_differ_by_large_letters_alone_are_told(operator: httpx.Client) -> None:
    asked = _read(operator, "name,group\nCase One,west\nCase Two,West\nCase Three,East\n")
    told = re.findall(r"The groups [^.]*\.", asked)
    assert told == ["The groups West and west are one group: only large letters or how accents are kept differ."]
    text = "name,group\nCase Four,Harbour\n"
    _said_yes(operator, _read(operator, text), text)
    assert "The groups HARBOUR and Harbour are one group" in _read(operator, "name,group\nCase Five,HARBOUR\n")


def test_fresh_codes_for_a_group_are_asked_back_and_come_as_a_file(site: Site, operator: httpx.Client) -> None:
    text = "name,group\nFresh One,Renewed\nFresh Two,Renewed\n"
    _said_yes(operator, _read(operator, text), text)
    assert "has never come in" in operator.get("/operator/people?text=Fresh").text
    address = "/operator/codes"
    assert address in operator.get("/operator/people").text
    asked = operator.get(address, params={"whom": "group:Renewed"}).text
    assert "Fresh codes for 2 people?" in asked
    assert "None of them is signed in with a browser." in asked
    answer = operator.post(f"{address}/file", data=fields(asked, f"{address}/file"))
    assert _names_in(answer) == ["Fresh One", "Fresh Two"]
    with zipfile.ZipFile(io.BytesIO(answer.content)) as files:
        (code, _) = re.findall(r"/enter#([\w-]+)", files.read("invitations.csv").decode())
    access.redeem_for_session(site.market, code)
    assert "1 of them is signed in with a browser" in operator.get(address, params={"whom": "group:Renewed"}).text
    assert operator.get("/operator/people?text=Fresh").text.count("has never come in") == 1
    told = operator.get("/operator/deeds").text
    assert "made a fresh code for 2 people" in re.sub(r"\s+", " ", told)
    nobody = {**fields(asked, f"{address}/file"), "whom": "nobody"}
    assert operator.post(f"{address}/file", data=nobody).status_code == 404
