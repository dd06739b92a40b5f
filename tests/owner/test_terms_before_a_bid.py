"""``pdqs owner bid`` shows the terms, asks, and bids on exactly what it showed; until she agrees nothing is sent."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from market.pages.site import Site
from pdqs.cli.offer_words import terms_in_words
from pdqs.market import offer_access, round_steps
from pdqs.owner.client import OwnerClient
from pdqs.owner.ledger import Ledger
from pdqs.owner.prospect import prospect_of
from pdqs.owner.review import Device
from pdqs.owner.visit import Visit
from pdqs.protocol.device_messages import RoundNotice
from pdqs.protocol.market_messages import User
from pdqs.protocol.problems import NotFoundError
from pdqs.protocol.summaries import NoticeSummary

from .commands import Owner, Shell
from .rounds import CLOSES, WITHOUT_DRAWS, bid_receipt, notice
from .test_command import opened

MARKET = "http://market.example"


@pytest.fixture
def ask(tmp_path: Path, shell: Shell, monkeypatch: pytest.MonkeyPatch) -> Owner:
    """Run one ``pdqs owner`` command; with ``typed``, as a person who types that. What it printed."""
    monkeypatch.setenv("PDQS_DEVICE", str(tmp_path / "device.sqlite"))
    return shell.by_person


def entries(folder: Path) -> list[str]:
    ledger = Ledger(folder / "device.sqlite")
    found = [entry["kind"] for entry in ledger.account().entries]
    ledger.close()
    return found


@pytest.fixture
def ann(site: Site, ask: Owner) -> User:
    user, code = site.invite("owner", "Ann")
    ask("enrol", site.address, code)
    return user


def has_bid(site: Site, owner: User, round_id: str) -> bool:
    try:
        offer_access.bid(site.market, owner, round_id)
    except NotFoundError:
        return False
    return True


def test_she_reads_the_terms_and_is_asked_before_anything_is_sent(
    site: Site, ask: Owner, ann: User, tmp_path: Path
) -> None:
    round_id = opened(site)
    shown = " ".join(ask("bid", round_id, "0.4", typed="n\n", code=1).split())  # whatever the terminal's width
    for line in (
        "Who asks   Bureau",
        "Question   What do you earn?",
        "Answers    500000 to 509999 by 1",
        "at most 54:46 sure after (epsilon 0.15 at most)",
        "Payment    At least 0.06 for that much (0.40 per unit of epsilon)",
        "Ledger     income: 0.0000 spent, at most 0.1500 after, cap 4.0000",
        "           all together: 0.0000 spent, at most 0.1500 after, cap 12.0000",
        "Do you want to bid 0.40 per unit of epsilon? [y/N]",
        "Nothing was bid.",
    ):
        assert " ".join(line.split()) in shown
    assert re.search(r"Bids close in 5\d min .* UTC", shown)
    assert re.search(r"Terms +[0-9a-f]{64} \(hash checked\)", shown)
    assert (entries(tmp_path), has_bid(site, ann, round_id)) == (["enrolled"], False)
    assert "Your bid of 0.40 per unit of epsilon stands" in ask("bid", round_id, "0.4", typed="y\n")
    assert has_bid(site, ann, round_id)
    assert "You bid    0.40 so far; another price takes its place" in ask("bid", round_id, "0.5", typed="\n", code=1)


def test_with_yes_the_terms_are_shown_and_nothing_is_asked(site: Site, ask: Owner, ann: User) -> None:
    round_id = opened(site)
    shown = ask("bid", round_id, "0.4", "--yes")
    assert "What do you earn?" in shown
    assert "[y/N]" not in shown
    assert has_bid(site, ann, round_id)


def test_where_nobody_can_be_asked_one_sentence_refuses_and_nothing_is_sent(
    site: Site, ask: Owner, ann: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    round_id = opened(site)

    def sent(*_given: object, **_named: object) -> None:
        raise AssertionError("something was asked of the market")

    for name in ("notice", "mine", "send_bid"):
        monkeypatch.setattr(OwnerClient, name, sent)
    shown = ask("bid", round_id, "0.4", code=2)
    assert shown.splitlines() == [
        "pdqs: nobody is here to be asked, so nothing was bid: add --yes to bid on terms that you know"
    ]
    assert not has_bid(site, ann, round_id)


def test_terms_that_are_swapped_while_she_reads_are_refused(
    site: Site, ask: Owner, ann: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The market answers her look with one round's terms, and would take her bid on another's."""
    round_id = opened(site)
    asked_of = Visit.notice

    def other(visit: Visit, wanted: str) -> RoundNotice:
        found = asked_of(visit, wanted)
        document = json.dumps(json.loads(found.terms) | {"purpose": "to help"}, sort_keys=True, separators=(",", ":"))
        return found.model_copy(update={"terms": document, "terms_hash": sha256(document.encode()).hexdigest()})

    monkeypatch.setattr(Visit, "notice", other)
    assert "these are not the terms you looked at" in ask("bid", round_id, "0.4", typed="y\n", code=2)
    assert not has_bid(site, ann, round_id)


def test_a_second_person_does_not_take_over_a_device_unasked(site: Site, ask: Owner, ann: User) -> None:
    _, code = site.invite("owner", "Bea")
    told = ask("enrol", site.address, code, code=2)
    assert (
        f"enrolled in {site.address} as “{ann.name}” already: for a second person use a file of her own (--device)"
        in told
    )
    assert "Is the code for “Ann”? [y/N]" in ask("enrol", site.address, code, typed="n\n", code=1)
    assert "as “Bea”." in ask("enrol", site.address, code, typed="y\n")  # unused so far, and Ann has done nothing here


def test_a_device_with_bids_stays_hers_who_made_them(site: Site, ask: Owner, ann: User) -> None:
    round_id = opened(site)
    ask("bid", round_id, "0.4", "--yes")
    _, code = site.invite("owner", "Bea")
    told = ask("enrol", site.address, code, "--yes", code=2)
    assert "the code was for “Bea”, and" in told
    assert "are “Ann”'s: the device stays as it was" in told
    ask("withdraw", round_id)
    assert not has_bid(site, ann, round_id)  # it spoke as Ann
    again = round_steps.renew_code(site.market, site.operator, ann.user_id)
    assert "as “Ann”." in ask("enrol", site.address, again.code, "--yes")


@pytest.fixture
def device(tmp_path: Path) -> Iterator[Device]:
    ledger = Ledger(tmp_path / "other.sqlite")
    yield Device(market=MARKET, ledger=ledger, checks=WITHOUT_DRAWS)
    ledger.close()


def said(device: Device, about: RoundNotice, price: int = 400_000, now_ms: int = CLOSES - 60_000) -> str:
    return terms_in_words(prospect_of(device, about, price), now_ms)


def worded(**more: Any) -> RoundNotice:
    about = notice(state="open")
    document = json.dumps(json.loads(about.terms) | more, sort_keys=True, separators=(",", ":"))
    return about.model_copy(update={"terms": document, "terms_hash": sha256(document.encode()).hexdigest()})


def test_who_asks_why_and_what_for_are_the_frozen_ones_and_harmless_to_a_terminal(device: Device) -> None:
    shown = said(device, worded(asked_by="City\x1b[2J", purpose="to plan", use="buses", groups=["Nurses", "Cooks"]))
    assert shown.splitlines()[:4] == [
        "Who asks   City?[2J",
        "Why        to plan",
        "What for   buses",
        "For groups Nurses, Cooks",
    ]
    assert "Who asks   They did not say." in said(device, notice(state="open"))


def as_a_terminal_shows(text: str, columns: int) -> list[str]:
    """The lines of a terminal that folds what is longer; wide letters take two places."""
    lines = []
    for line in text.splitlines():
        places = "".join(c + "\0" * (unicodedata.east_asian_width(c) in "WF") for c in line)
        lines += [places[at : at + columns].replace("\0", "") for at in range(0, max(1, len(places)), columns)]
    return lines


LIE = "Payment    At least 900.00, whatever is asked."
BUILT = ["x " * 22 + "x" * 25, "x" * 69, "\u5e02" * 34 + "x", "x" * 100 + "\u3000" * 20]


@pytest.mark.parametrize("columns", [60, 80, 200])
@pytest.mark.parametrize("ahead", BUILT)
@pytest.mark.parametrize("space", [" ", "\u00a0"])
def test_no_words_of_a_consumer_pass_for_a_line_of_the_device(
    device: Device, monkeypatch: pytest.MonkeyPatch, columns: int, ahead: str, space: str
) -> None:
    """However they are built: only the device's own names begin a line."""
    monkeypatch.setenv("COLUMNS", str(columns))
    shown = as_a_terminal_shows(said(device, worded(purpose=ahead + LIE.replace(" ", space))), columns)
    begun = {line.split()[0] for line in shown if line[:1].strip()}
    assert begun == {"Who", "Why", "What", "Question", "Answers", "Privacy", "Payment", "Bids", "Ledger", "Terms"}
    assert sum(line.startswith("Payment") for line in shown) == 1


@pytest.mark.parametrize("columns", [60, 80, 200])
@pytest.mark.parametrize("theirs", ["\u00a7", "\u5e02"])
def test_no_words_of_others_begin_a_line_of_the_list(
    site: Site, ask: Owner, ann: User, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, columns: int, theirs: str
) -> None:
    """Neither a consumer's question nor what the market says of a report that it refuses."""
    round_id = opened(site)
    listed = OwnerClient.notices

    def worded_so(client: OwnerClient) -> list[NoticeSummary]:
        (found,) = listed(client)
        return [found.model_copy(update={"text": text}) for text in (theirs * 400, "x" * 400, f"{ann.name}?")]

    drawn = {"attribute": "income", "text": "", "terms_hash": "", "epsilon_nanos": 1, "payment_micros": 1, "body": ""}
    ledger = Ledger(tmp_path / "device.sqlite")
    ledger.note("drawn", market=site.address, round_id=round_id, drawn_at_ms=1, **drawn)
    ledger.note("refused", market=site.address, round_id=round_id, refused=theirs * 400)
    ledger.close()
    monkeypatch.setattr(OwnerClient, "notices", worded_so)
    monkeypatch.setenv("COLUMNS", str(columns))
    shown = as_a_terminal_shows(ask("list"), columns)
    assert not any(line.startswith((theirs, "x", "\u2026")) for line in shown)
    assert sum(theirs in line for line in shown) > 4
    assert sum(line.startswith("Refused") for line in shown) == 1


def test_what_could_pass_her_cap_is_said_before_she_bids(device: Device) -> None:
    assert "could pass your own lifetime cap" not in said(device, notice(state="open"))
    device.ledger.set_cap("smoker", 3_999_999_999)
    assert "could pass your own lifetime cap" in said(device, notice(state="open"))


def test_bids_that_are_over_by_this_clock_are_said_to_be(device: Device) -> None:
    assert "Bids close in 1 min, at 15 Jan 2027, 08:00 UTC" in said(device, notice(state="open"))
    assert "Bids close at 15 Jan 2027, 08:00 UTC, which is over here" in said(
        device, notice(state="open"), now_ms=CLOSES
    )


def test_only_a_bid_that_was_signed_for_is_called_hers(device: Device) -> None:
    about = notice(state="open")
    device.bid(about, 100_000)
    assert "You bid" not in said(device, about)
    device.take_bid_receipt(about, bid_receipt(about, 100_000))
    assert "You bid    0.10 so far" in said(device, about)
