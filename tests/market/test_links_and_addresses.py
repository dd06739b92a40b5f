"""What a server prints of its address, and what becomes of a one-time link that is given to a simulation."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from jinja2 import FileSystemLoader

from market.town import Town
from pdqs.cli import main
from pdqs.cli.commands import serve
from pdqs.market import Settings, people
from pdqs.market.http import serving
from pdqs.market.http.app import create_app
from pdqs.market.http.serving import served
from pdqs.market.pages.render import _environment

CODE = "a-code-that-nobody-must-read"


@pytest.mark.parametrize("link", [f"http://127.0.0.1:1/entr#{CODE}", CODE, "http://127.0.0.1:1/enter#"])
@pytest.mark.parametrize("yes", [[], ["--yes"]])
def test_a_link_that_is_none_is_not_said_back(link: str, yes: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["market", "simulate", "--link", link, *yes])
    said = capsys.readouterr()
    assert (ended.value.code, said.out) == (2, "")
    assert said.err.startswith("pdqs: --link must look like http://127.0.0.1:8000/enter#...")
    assert CODE not in said.err


def test_who_is_refused_among_people_is_told_that_the_link_is_used_up(
    town: Town, capsys: pytest.CaptureFixture[str]
) -> None:
    town.add_owners(1)
    app = create_app(town.market.settings, ticking=False)
    code = people.first_operator(app.state.market).code
    with served(app) as address, pytest.raises(SystemExit):
        main(["market", "simulate", "--yes", "--owners", "5", "--link", f"{address}/enter#{code}"])
    said = capsys.readouterr().err
    assert "there are real people in this market" in said
    assert said.endswith("The link is used up: pdqs market operator makes a fresh code\n")


@pytest.mark.parametrize(
    ("public", "said"),
    [
        ("", r"The market is at (http://127\.0\.0\.1:\d+) \(API: \1/docs\)\n"),
        (
            "https://town.example/market",
            r"The market is at (https://town\.example/market) \(API: \1/docs\); requests are taken at"
            r" http://127\.0\.0\.1:\d+/market\n",
        ),
    ],
)
def test_a_server_prints_the_address_that_people_type(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, public: str, said: str
) -> None:
    monkeypatch.setattr(serving, "run_for_good", lambda *_: None)
    monkeypatch.setattr("pdqs.market.http.observe.log_to_stderr", lambda: None)
    settings = Settings(database_url=f"sqlite:///{tmp_path}/market.db", public_url=public)
    with serving.listening_socket("127.0.0.1", 0) as bound:
        serve.serve_on(settings, bound, link=False, several=False)
    assert re.match(said, capsys.readouterr().out)


def test_pages_are_not_read_anew_while_a_server_runs(tmp_path: Path) -> None:
    """A version that is being installed over this one must not mix its pages with the program of this one."""
    page = tmp_path / "page.html"
    page.write_text("as it was", encoding="utf-8")
    environment = _environment().overlay()
    environment.loader = FileSystemLoader(tmp_path)
    assert environment.get_template("page.html").render() == "as it was"
    page.write_text("as it will be", encoding="utf-8")
    assert environment.get_template("page.html").render() == "as it was"
