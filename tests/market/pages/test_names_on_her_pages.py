"""What an owner's pages call things by: questions, not numbers, and no times that no longer hold."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from pdqs.market import access, trail
from pdqs.protocol.market_messages import Role

from .filled import Filled, fill
from .site import served


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Filled]:
    folder: Path = tmp_path_factory.mktemp("market")
    with served(folder) as site:
        yield fill(site, site.invite("consumer", "Bureau")[0], site.invite("owner", "Ann")[0])


def read(made: Filled, path: str, role: Role = "owner") -> str:
    cookie = access.start_session(made.site.market, made.user(role)).cookie
    found = httpx.get(made.site.address + path, cookies={access.COOKIE: cookie}, timeout=30.0)
    assert found.status_code == 200
    return found.text


def test_a_payment_names_the_question_that_it_is_for(made: Filled) -> None:
    lines = re.findall(r'Paid for a report · <a href="/owner/rounds/(\w+)">([^<]*)</a>', read(made, "/owner/earnings"))
    assert (made.rounds["done"], "Have you been ill this month?") in lines
    assert all(said == "Have you been ill this month?" for _, said in lines)


def test_a_round_that_was_cancelled_says_of_no_bids_that_they_close(made: Filled) -> None:
    assert "Bids close" not in read(made, f"/owner/rounds/{made.rounds['cancelled']}")
    assert "<dt>Bids close</dt>" in read(made, f"/owner/rounds/{made.rounds['waiting']}")
    assert "<dt>Bids closed</dt>" in read(made, f"/owner/rounds/{made.rounds['done']}")


def test_nor_does_the_operators_page_of_it(made: Filled) -> None:
    said = read(made, f"/operator/rounds/{made.rounds['cancelled']}", "operator")
    assert "Bids close" not in said
    assert "Reports close" not in said
    assert "<dt>Bids close</dt>" in read(made, f"/operator/rounds/{made.rounds['waiting']}", "operator")
    assert "<dt>Bids closed</dt>" in read(made, f"/operator/rounds/{made.rounds['done']}", "operator")


def test_what_the_server_did_itself_has_no_number(made: Filled) -> None:
    with made.site.market.store.write() as connection:
        trail.note(connection, made.owner.user_id, "ended-one", by=trail.THE_SERVER, at_ms=made.site.clock())
    page = read(made, "/account")
    assert "the server itself" in page
    assert trail.THE_SERVER not in page
