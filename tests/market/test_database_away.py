"""Why a database cannot be used: a wrong name, password or host is told apart from an outage, and no secret is told."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import httpx
import psycopg
import pytest
from sqlalchemy import make_url

from market.town import Town, found_town, new_database
from pdqs.cli import main
from pdqs.cli.commands.serve import greet
from pdqs.market import Settings
from pdqs.market.http.app import create_app
from pdqs.market.http.observe import LOGGER
from pdqs.market.http.serving import served

SECRET = "not-her-password"


@pytest.fixture
def with_password(postgres: str) -> Iterator[str]:
    """A database whose user must give a password, which is wrong, on a server that lets everybody else in without."""
    url = new_database(postgres, "guarded")
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute("DROP ROLE IF EXISTS guarded_user")
        connection.execute("CREATE ROLE guarded_user LOGIN PASSWORD 'right'")
        asked = connection.execute("SHOW hba_file").fetchone()
        assert asked is not None
        rules = Path(asked[0])
        before = rules.read_text(encoding="utf-8")
        rules.write_text(f"local all guarded_user scram-sha-256\n{before}", encoding="utf-8")
        connection.execute("SELECT pg_reload_conf()")
        yield url
        rules.write_text(before, encoding="utf-8")
        connection.execute("SELECT pg_reload_conf()")


def _as_user(url: str, name: str) -> str:
    return make_url(url).set(username=name, password=SECRET).render_as_string(hide_password=False)


@pytest.fixture(params=["name", "password", "user", "host", "nobody there", "rights"])
def wrong(request: pytest.FixtureRequest, with_password: str) -> tuple[str, str]:
    """A URL with one mistake in it, and what is to be said of it."""
    url = _as_user(with_password, "postgres")
    far = f"postgresql://postgres:{SECRET}@"
    place = make_url(url).query["host"]
    found = {
        "name": (url.replace("/guarded?", "/nowhere?"), f"there is no database 'nowhere' at {place}"),
        "password": (_as_user(url, "guarded_user"), f"PostgreSQL at {place} does not let 'guarded_user' in"),
        "user": (_as_user(url, "nobody"), f"PostgreSQL at {place} does not let 'nobody' in"),
        "host": (f"{far}no.such.host.invalid/guarded", "there is no host 'no.such.host.invalid'"),
        "nobody there": (f"{far}127.0.0.1:1/guarded", "nothing answers at 127.0.0.1 port 1"),
        "rights": (_as_user(url, "poor_user"), "'poor_user' may not make or change tables in database 'guarded'"),
    }
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("DROP ROLE IF EXISTS poor_user")
        connection.execute("CREATE ROLE poor_user LOGIN")
    return found[request.param]


@contextmanager
def _logged() -> Iterator[Callable[[], list[dict[str, str]]]]:
    """What is logged inside, as it was written."""
    lines: list[str] = []

    class Kept(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            lines.append(record.getMessage())

    kept, level = Kept(), LOGGER.level
    LOGGER.addHandler(kept)
    LOGGER.setLevel(logging.INFO)
    try:
        yield lambda: [json.loads(line) for line in lines]
    finally:
        LOGGER.removeHandler(kept)
        LOGGER.setLevel(level)


def test_a_server_says_at_its_start_and_in_its_log_what_is_wrong_and_answers_503(
    wrong: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    url, said = wrong
    with _logged() as logged:
        app = create_app(Settings(database_url=url), ticking=False)
        greet(app, "http://market.test", link=True)
        with served(app) as address:
            answer = httpx.get(f"{address}/healthz", timeout=60)
    out = capsys.readouterr().out
    first, second = out.splitlines()
    assert first.startswith(f"The database cannot be used: {said}")
    assert second == "Requests are answered by 503 until it can be; it is tried again every second."
    away = [line for line in logged() if line["event"] == "database-away"]
    assert away
    assert all(line["reason"].startswith(said) for line in away)
    assert answer.status_code == 503
    assert make_url(url).database not in answer.text.split()
    for told in (out, json.dumps(logged()), answer.text):
        assert SECRET not in told


def test_commands_say_the_same_in_one_sentence(wrong: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    url, said = wrong
    with pytest.raises(SystemExit) as ended:
        main(["market", "migrate", "--database", url])
    told = capsys.readouterr().err
    assert (ended.value.code, told.count("\n")) == (2, 1)
    assert told.startswith(f"pdqs: the database cannot be used: {said}")
    assert SECRET not in told


def test_a_server_that_was_running_says_in_its_log_why_and_goes_on_by_itself(postgres: str, town: Town) -> None:
    url = new_database(postgres, "renamed_away")
    app = create_app(Settings(database_url=url), town.clock, ticking=False)
    with served(app) as address, httpx.Client(base_url=address, timeout=60) as client, _logged() as logged:
        with closing(psycopg.connect(postgres, autocommit=True)) as connection:
            connection.execute("ALTER DATABASE renamed_away ALLOW_CONNECTIONS false")
            connection.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'renamed_away'")
            connection.execute("ALTER DATABASE renamed_away RENAME TO gone_elsewhere")
            client.get("/healthz")  # by the line that was cut
            assert client.get("/healthz").status_code == 503
            reasons = [line["reason"] for line in logged() if line["event"] == "database-failed"]
            assert reasons[-1].startswith("there is no database 'renamed_away'")
            connection.execute("ALTER DATABASE gone_elsewhere RENAME TO renamed_away")
            connection.execute("ALTER DATABASE renamed_away ALLOW_CONNECTIONS true")
        assert client.get("/healthz").status_code == 200


def test_a_url_that_cannot_be_read_is_not_said_back_where_it_may_hold_a_password(
    capsys: pytest.CaptureFixture[str],
) -> None:
    for url in (f"postgresql://u:{SECRET}@host:port/x", f"postgres//u:{SECRET}@host/x"):
        with pytest.raises(SystemExit):
            main(["market", "migrate", "--database", url])
        said = capsys.readouterr().err
        assert said.startswith("pdqs: the database given is not a URL such as")
        assert SECRET not in said


def test_a_damaged_file_is_said_to_be_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "market.db"
    found_town(f"sqlite:///{file}").market.store.close()
    whole = file.read_bytes()
    file.write_bytes(whole[:200] + b"\xff" * (len(whole) - 200))
    with pytest.raises(SystemExit):
        main(["market", "migrate", "--database", f"sqlite:///{file}"])
    assert capsys.readouterr().err == (
        "pdqs: the database cannot be used: its file is damaged: put a backup in its place\n"
    )


def test_serving_words_a_port_that_is_none_and_prints_no_password(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["serve", "--port", "0", "--database", "postgresql://u:secretpw@127.0.0.1:abc/db"])
    said = capsys.readouterr()
    assert ended.value.code
    assert "Traceback" not in said.err + said.out
    assert "secretpw" not in said.err + said.out
