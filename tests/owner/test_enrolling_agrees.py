"""Both devices read a market's address and a one-time code alike: one market has one account on each."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import pytest

from pdqs.cli.owner_typed import address_of, invitation_of
from pdqs.owner.errors import DeviceError

from .node import BROWSER, mutant, twin

T = TypeVar("T")
CODE = "c" * 30
ADDRESSES = {
    " http://127.0.0.1:8000/ ": "http://127.0.0.1:8000",
    "HTTPS://Market.Example:443/": "https://market.example",
    "https://town.example/market": "https://town.example/market",
    "https://town.example/Market/north//": "https://town.example/Market/north",
    "https://town.example/a/../market": "https://town.example/market",
    "https://b\u00fccher.example": "https://xn--bcher-kva.example",
    "http://[2001:DB8::1]:8000": "http://[2001:db8::1]:8000",
    "http://town.example:443": "http://town.example:443",
    "https://her:secret@town.example": None,
    "https://her@town.example": None,
    "https://town.example/market?round=1": None,
    "https://town.example/#market": None,
    "https://town.example//market": None,
    "https://town.example:0": None,
    "https://town.example:99999": None,
    "https://to wn.example": None,
    "town.example": None,
    "ftp://town.example": None,
    "http:town.example": None,
    "http://": None,
    "http://[": None,
    "": None,
}
INVITATIONS = {
    ("https://town.example/market", f" {CODE} "): ("https://town.example/market", CODE),
    (f"https://town.example/market/enter#{CODE}", ""): ("https://town.example/market", CODE),
    (f"https://town.example/market/enter#{CODE}.", ""): ("https://town.example/market", CODE),
    ("https://town.example/market", f"{CODE}\u201d)."): ("https://town.example/market", CODE),
    ("https://town.example/market", "..."): None,
    ("https://town.example/market", ""): None,
    ("https://town.example/market", "c" * 19): None,
    ("https://town.example/market", "c" * 81): None,
    ("https://town.example/market", "c c" * 10): None,
}


def or_nothing(read: Callable[..., T], *given: str) -> T | None:
    try:
        return read(*given)
    except DeviceError:
        return None


def of_the_browser(modules: Path = BROWSER, **more: object) -> dict[str, object]:
    asked = {"addresses": list(ADDRESSES), "invitations": list(INVITATIONS), **more}
    return twin(modules, script="enrolling_twin.mjs", **asked)


def test_both_spell_an_address_alike_its_path_too() -> None:
    assert {text: or_nothing(address_of, text) for text in ADDRESSES} == ADDRESSES
    assert of_the_browser()["addresses"] == list(ADDRESSES.values())


def test_both_take_the_link_that_was_handed_out() -> None:
    assert {given: or_nothing(invitation_of, *given) for given in INVITATIONS} == INVITATIONS
    assert of_the_browser()["invitations"] == [given and list(given) for given in INVITATIONS.values()]
    linked = (f"https://town.example/market/enter#{CODE}",)
    told = of_the_browser(invitations=[("", *linked), ("https://town.example/market", *linked)])["invitations"]
    assert told == [["https://town.example/market", CODE]] * 2, "in a page it may be put in either place"


@pytest.mark.parametrize(
    ("was", "becomes"), [("${url.origin}${path}", "${url.origin}"), ("!url.username && ", ""), ("!url.search && ", "")]
)
def test_a_browser_that_reads_addresses_otherwise_is_caught(tmp_path: Path, was: str, becomes: str) -> None:
    assert of_the_browser(mutant(tmp_path, "enrolling.mjs", was, becomes))["addresses"] != list(ADDRESSES.values())
