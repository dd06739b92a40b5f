"""What comes from elsewhere does not speak to the terminal: escapes are shown as question marks."""

from __future__ import annotations

import httpx
import pytest

import pdqs
from pdqs.cli import main
from pdqs.model.errors import InputError
from pdqs.owner.client import OwnerClient
from pdqs.protocol.problems import MarketError

from .conftest import Pdqs

HOSTILE = "no \x1b]0;owned\x07 such \x9b2J round\u202e"


def test_an_error_that_quotes_someone_is_one_line_without_escapes(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def failing() -> None:
        raise InputError(HOSTILE)

    monkeypatch.setattr("pdqs.cli.commands.demo.run", failing)
    with pytest.raises(SystemExit):
        main(["demo"])
    assert capsys.readouterr().err == "pdqs: no ?]0;owned? such ?2J round?\n"


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("help", "Usage: pdqs COMMAND"),
        ("help trade", "Usage: pdqs trade"),
        ("help nothing", "Usage: pdqs COMMAND"),
        ("trade -h", "Usage: pdqs trade"),
        ("populations list -h", "Usage: pdqs populations list"),
        ("-V", f"pdqs {pdqs.__version__}"),
        ("version", f"pdqs {pdqs.__version__}"),
    ],
)
def test_help_and_version_are_found_as_people_ask_for_them(pdqs_command: Pdqs, words: str, says: str) -> None:
    done = pdqs_command(*words.split())
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith(says)


def test_a_name_or_a_text_with_escapes_is_no_message_and_is_not_quoted() -> None:
    user = {"user_id": f"u_{1:024x}", "role": "owner", "name": HOSTILE, "created_at_ms": 1}
    account = {"user": user, "balance_micros": 0, "reports_made": 0}
    answering = httpx.MockTransport(lambda _: httpx.Response(200, json=account))
    with OwnerClient("http://market", "t" * 30, transport=answering) as client, pytest.raises(MarketError) as raised:
        client.account()
    assert str(raised.value).isprintable()
