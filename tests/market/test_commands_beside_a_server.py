"""One SQLite file has one server, commands work beside it, and an operator who is signed out by one is told so."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from market.test_commands_of_the_shell import PDQS, serving
from market.town import Town, found_town
from pdqs.cli.commands import market as market_commands
from pdqs.cli.commands.serve import greet
from pdqs.market import access, people
from pdqs.market.context import system_clock
from pdqs.market.http.app import create_app
from pdqs.market.store.serving_lock import SUFFIX, served_once
from pdqs.model.errors import FileError
from pdqs.protocol.problems import UnauthorizedError


def _run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PDQS_")}
    return subprocess.run(
        [*PDQS, *words], cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=120
    )


def test_a_second_server_of_one_file_is_refused_in_a_sentence_and_commands_work_beside_the_first(
    tmp_path: Path,
) -> None:
    (tmp_path / "link.db").symlink_to(tmp_path / "pdqs-market.db")
    with serving(tmp_path) as (process, address, _):
        for other in ("sqlite:///pdqs-market.db", "sqlite+pysqlite:///link.db"):
            second = _run(tmp_path, "serve", "--port", "0", "--database", other)
            assert (second.returncode, second.stdout) == (2, "")
            assert second.stderr.count("\n") == 1
            assert f"is served already at {address}: stop that server first" in second.stderr
        for words in (["migrate"], ["groups"], ["operator"]):
            done = _run(tmp_path, "market", *words)
            assert done.returncode == 0, done.stderr
        assert httpx.get(f"{address}/healthz").status_code == 200
        process.send_signal(signal.SIGKILL)
        process.wait(timeout=60)
        with serving(tmp_path, "--link") as (_, again, code):
            assert (again != address, bool(code)) == (True, True), "who is killed holds nothing"
    assert (tmp_path / f"pdqs-market.db{SUFFIX}").stat().st_mode & 0o077 == 0


def test_the_lock_is_one_files_and_lets_go(tmp_path: Path) -> None:
    first, other = (f"sqlite:///{tmp_path}/{name}.db" for name in ("first", "other"))
    with (
        served_once(first, "http://here"),
        served_once(other, "http://there"),
        pytest.raises(FileError, match="is served already at http://here"),
        served_once(first, "http://here.too"),
    ):
        pass
    for url in (first, first, f"sqlite:///{tmp_path}/none/x.db", "no url", "sqlite://", "postgresql://host/name"):
        with served_once(url, "http://again"):
            pass


@pytest.fixture
def signed_in(either_town: Town) -> list[access.Session]:
    """Two browsers of the first operator's, and one of somebody else's."""
    town = either_town
    town.clock.now_ms = system_clock()  # which is the command's
    return [access.start_session(town.market, who) for who in (town.operator, town.operator, town.consumer)]


def _is_in(town: Town, session: access.Session) -> bool:
    try:
        return bool(access.session_of(town.market, session.cookie))
    except UnauthorizedError:
        return False


def test_who_is_signed_out_by_a_fresh_code_is_told_to_scripts_afterwards(
    either_town: Town,
    signed_in: list[access.Session],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    town = either_town
    monkeypatch.setattr("sys.stdin.isatty", lambda: False, raising=False)
    assert people.first_operator_pages(town.market) == 2
    market_commands.operator(database=town.market.settings.database_url)
    told = capsys.readouterr()
    assert told.err == "2 browsers were signed in as the operator and signed out by it.\n"
    assert access.whose_code(town.market, told.out.strip()).role == "operator"
    assert [_is_in(town, one) for one in signed_in] == [False, False, True]
    market_commands.operator(database=town.market.settings.database_url)
    assert capsys.readouterr().err == "", "nobody was signed in: nothing to say"


def test_a_person_at_a_terminal_is_asked_first(tmp_path: Path) -> None:
    town = found_town(f"sqlite:///{tmp_path}/market.db")
    url = town.market.settings.database_url
    town.clock.now_ms = system_clock()
    session = access.start_session(town.market, town.operator)

    def typed(answer: str, *words: str) -> tuple[int, str, str]:
        ours, theirs = pty.openpty()
        process = subprocess.Popen(
            [sys.executable, *PDQS[1:], "market", "operator", "--database", url, *words],
            stdin=theirs, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        os.write(ours, answer.encode())
        out, err = process.communicate(timeout=120)
        os.close(ours)
        os.close(theirs)
        return process.returncode, out, err

    ended, out, err = typed("n\n")
    assert (ended, out) == (1, "")
    assert "1 browser is signed in as the operator and will be signed out. Make a fresh code?" in err
    assert "No code was made, and nobody was signed out." in err
    assert _is_in(town, session)
    ended, out, err = typed("y\n")
    assert (ended, len(out.strip()) > 20, "1 browser was signed in" in err) == (0, True, True)
    assert not _is_in(town, session)
    access.start_session(town.market, town.operator)
    ended, out, err = typed("", "--yes")
    assert (ended, "Make a fresh code?" in err) == (0, False)
    town.market.store.close()


def test_a_server_that_prints_a_link_says_whom_it_signed_out(town: Town, capsys: pytest.CaptureFixture[str]) -> None:
    access.start_session(town.market, town.operator)
    app = create_app(town.market.settings, town.clock, ticking=False)
    for _ in range(2):
        greet(app, "http://market.test", link=True)
    app.state.market.store.close()
    first, ended, again = capsys.readouterr().out.splitlines()
    assert [line.count("/enter#") for line in (first, again)] == [1, 1]
    assert ended == "1 browser was signed in as the operator and signed out by it."
