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
from pdqs.market import Settings, round_steps
from pdqs.market.http.app import create_app
from pdqs.market.http.observe import LOGGER
from pdqs.market.http.serving import served
from pdqs.market.store.database_url import read_url

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


_PORT_1 = f"//u:{SECRET}@127.0.0.1:1/db"


@pytest.mark.parametrize(
    ("url", "said"),
    [
        (f"postgresql:{_PORT_1}?usr=postgres", "PostgreSQL has no option 'usr'; did you mean 'user'?"),
        (f"postgresql:{_PORT_1}?connect_timeout=x", "its option 'connect_timeout' must be a whole number"),
        (f"postgresql:{_PORT_1}?port=x", "its option 'port' must be a whole number"),
        (f"postgresql+psycopg2:{_PORT_1}", "begins with postgresql+psycopg2:// is not served: write postgresql://"),
        (f"postgresql+nothing:{_PORT_1}", "begins with postgresql+nothing:// is not served: write postgresql://"),
        (f"postgresql:{_PORT_1}?sslmode=requir", "PostgreSQL does not know what the URL says of 'sslmode': mend it"),
        (f"postgresql:{_PORT_1}?keepalives=x", "PostgreSQL does not know what the URL says of 'keepalives': mend it"),
        (f"postgresql:{_PORT_1}?service=none", "there is no such service: mend it in the URL"),
        (f"postgresql://u:{SECRET}@127.0.0.1:99999/db", "99999 is no port"),
        (f"postgresql://u:ge@{SECRET}@127.0.0.1:1/db", "an @ in the password is written %40"),
        (f"postgresql://u:ge@{SECRET}/x@127.0.0.1:1/db", "an @ in the password is written %40"),
        (f"postgresql://u:ge@a:{SECRET}@127.0.0.1:1/db", "an @ in the password is written %40"),
    ],
)
def test_what_is_mistyped_in_the_url_is_named_in_one_sentence_without_the_password(
    url: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for words in (["market", "groups"], ["market", "migrate"]):
        with pytest.raises(SystemExit) as ended:
            main([*words, "--database", url])
        told = capsys.readouterr().err
        assert (ended.value.code, told.count("\n")) == (2, 1)
        assert said in told
        assert SECRET not in told


def test_a_server_is_not_started_on_a_url_that_can_never_be_used(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["serve", "--port", "0", "--database", f"postgresql:{_PORT_1}?usr=postgres"])
    assert (ended.value.code, capsys.readouterr().err.count("\n")) == (2, 1)


def test_a_name_of_a_user_may_have_an_at_sign_in_it() -> None:
    parsed = read_url(f"postgresql://ann@server:{SECRET}@db.example/market")
    assert (parsed.username, parsed.host, parsed.password) == ("ann@server", "db.example", SECRET)


def test_a_user_named_in_the_query_is_called_by_that_name(
    with_password: str, capsys: pytest.CaptureFixture[str]
) -> None:
    url = f"{with_password.replace('postgres:@', '')}&user=guarded_user&password={SECRET}"
    with pytest.raises(SystemExit):
        main(["market", "migrate", "--database", url])
    told = capsys.readouterr().err
    assert "does not let 'guarded_user' in" in told
    assert SECRET not in told


def test_a_sqlite_file_is_named_without_options(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for words in (["market", "operator"], ["market", "groups"], ["serve", "--port", "0"]):
        with pytest.raises(SystemExit):
            main([*words, "--database", f"sqlite:///{tmp_path}/market.db?mode=ro"])
        assert capsys.readouterr().err == (
            "pdqs: a SQLite database is named by its file alone: leave out what follows the ? (mode)\n"
        )
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("driver", ["sqlite", "sqlite+pysqlite"])
def test_a_mistyped_file_is_refused_by_what_needs_a_market_and_named_by_what_makes_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], driver: str
) -> None:
    file = tmp_path / "markt.db"
    for words in (["market", "groups"], ["market", "migrate"], ["market", "restored", "--yes"]):
        with pytest.raises(SystemExit):
            main([*words, "--database", f"{driver}:///{file}"])
        assert f"there is no market in '{file}'" in capsys.readouterr().err
        assert list(tmp_path.iterdir()) == []
    main(["market", "operator", "--database", f"{driver}:///{file}"])
    assert f"There was no market in {file}, and a new one was made" in capsys.readouterr().err


def test_who_cannot_be_reached_is_told_apart_from_what_cannot_be_written(postgres: str, town: Town) -> None:
    url = new_database(postgres, "told_apart")
    app = create_app(Settings(database_url=url), town.clock, ticking=False)
    code = round_steps.first_operator(app.state.market).code
    cut = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'told_apart'"
    with (
        served(app) as address,
        httpx.Client(base_url=address, timeout=60) as client,
        closing(psycopg.connect(postgres, autocommit=True)) as connection,
    ):
        connection.execute("ALTER DATABASE told_apart SET default_transaction_read_only = on")
        connection.execute(cut)
        client.get("/metrics")  # by the line that was cut
        answer = client.post("/v1/tokens", json={"code": code})
        assert (answer.status_code, "cannot write just now" in answer.text) == (503, True)
        connection.execute("ALTER DATABASE told_apart ALLOW_CONNECTIONS false")
        connection.execute(cut)
        for _ in range(2):
            answer = client.get("/metrics")
            assert (answer.status_code, "cannot be reached just now" in answer.text) == (503, True)


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
