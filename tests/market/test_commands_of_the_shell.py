"""``pdqs serve`` and ``pdqs market``, run as people run them."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from market.town import Town
from pdqs.cli.commands.serve import greet
from pdqs.market import Settings, round_steps
from pdqs.market.client import MarketClient
from pdqs.market.http.app import create_app
from pdqs.protocol.problems import UnauthorizedError

PDQS = [sys.executable, "-c", "from pdqs.cli import main; main()"]


@contextmanager
def serving(directory: Path, *words: str) -> Iterator[tuple[subprocess.Popen[str], str, str]]:
    """A server in an empty directory, with nothing configured; gives it, its address and the operator's code."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PDQS_")}
    process = subprocess.Popen(
        [*PDQS, "serve", "--port", "0", *words],
        cwd=directory,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    try:
        address = re.search(r"http://[\d.:]+", process.stdout.readline())
        code = process.stdout.readline().strip().partition("/enter#")[2]
        assert address is not None, process.communicate()[1]
        yield process, address.group(), code
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()


def test_serve_needs_no_configuration_prints_a_link_that_works_once_and_stops_in_good_order(tmp_path: Path) -> None:
    with serving(tmp_path) as (process, address, code):
        assert process.stdout is not None
        assert process.stdout.readline().startswith(f"The market is kept in {tmp_path / 'pdqs-market.db'}; ")
        with MarketClient.enter(address, code) as operator:
            assert operator.me().user.role == "operator"
            assert operator.health().status == "ok"
            assert operator.trial_balance().balanced
        with pytest.raises(UnauthorizedError):
            MarketClient.enter(address, code)
        process.send_signal(signal.SIGTERM)
        _, log = process.communicate(timeout=60)
    assert process.returncode in (0, -signal.SIGTERM)
    lines = [json.loads(line) for line in log.splitlines()]
    routes = {line["route"] for line in lines if line["event"] == "request"}  # a request without one has no such key
    assert routes >= {"/v1/tokens", "/v1/me", "/v1/trial-balance"}
    assert {line["event"] for line in lines if "route" not in line} >= {"started", "stopped"}
    assert code not in log
    assert (tmp_path / "pdqs-market.db").is_file()
    assert not (tmp_path / "pdqs-market.db-wal").exists()  # folded into the file: the database was closed


def test_the_operators_link_goes_to_a_terminal_or_comes_at_the_first_start_and_to_no_log(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = Settings(database_url=f"sqlite:///{tmp_path}/market.db")

    def greeted(link: bool | None = None) -> bool:
        app = create_app(settings, ticking=False)
        greet(app, "http://market.test", link)
        app.state.market.store.close()
        return "http://market.test/enter#" in capsys.readouterr().out

    assert [greeted(), greeted(), greeted(link=True), greeted(link=False)] == [True, False, True, False]
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    assert greeted()


def test_a_port_that_is_taken_is_refused_in_a_sentence(tmp_path: Path) -> None:
    with serving(tmp_path) as (_, address, _code):
        port = address.rsplit(":", 1)[1]
        done = subprocess.run(
            [*PDQS, "serve", "--port", port], cwd=tmp_path, capture_output=True, text=True, check=False
        )
    assert done.returncode == 2
    assert done.stderr.startswith("pdqs: cannot listen on 127.0.0.1 port")


def test_a_simulated_round_shows_the_answer_beside_the_truth() -> None:
    done = subprocess.run(
        [*PDQS, "market", "simulate", "--owners", "30", "--json"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert (found["owners"], found["books_balance"]) == (30, True)
    assert 0 <= found["truth"] <= 30
    assert found["paid_micros"] + found["returned_micros"] == found["budget_micros"]


def test_the_client_is_patient_with_a_busy_market_and_gives_up_on_a_broken_one() -> None:
    waits: list[float] = []
    answers = iter(
        [httpx.Response(429, headers={"Retry-After": "2"}), httpx.Response(503), httpx.Response(200, json=HEALTH)]
    )
    client = MarketClient("http://market", transport=httpx.MockTransport(lambda _: next(answers)), sleep=waits.append)
    assert client.health().status == "ok"
    assert waits == [2.0, 0.2]
    client.close()


HEALTH = {"status": "ok"}


def test_a_one_time_code_never_begins_with_a_dash_which_a_shell_would_read_as_an_option(
    town: Town, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = iter(["-" + "a" * 42, "-" + "b" * 42, "c" * 43])
    monkeypatch.setattr("pdqs.market.identity.secrets.token_urlsafe", lambda _bytes: next(words))
    assert round_steps.renew_code(town.market, town.operator, town.consumer.user_id).code == "c" * 43


def test_a_mistyped_database_has_no_groups_and_a_new_operator_is_told_that_it_is_new(tmp_path: Path) -> None:
    missing = tmp_path / "markt.db"

    def run(word: str) -> subprocess.CompletedProcess[str]:
        words = [*PDQS, "market", word, "--database", f"sqlite:///{missing}"]
        return subprocess.run(words, capture_output=True, text=True, check=False)

    groups = run("groups")
    assert (groups.returncode, missing.exists()) == (2, False)
    assert "there is no market in" in groups.stderr
    moved = run("migrate")
    assert (moved.returncode, missing.exists()) == (2, False)
    assert "there is no market in" in moved.stderr
    first, second = run("operator"), run("operator")
    assert run("migrate").returncode == 0
    assert "a new one was made" in first.stderr
    assert (first.returncode, second.returncode, second.stderr) == (0, 0, "")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--seed", "-1"], "--seed"),
        (["--bid-seconds", "31536001"], "--bid-seconds"),
        (["--budget", "0.0000004"], "less than any money"),
        (["--link", "http://[::1/enter#abc"], "is not a market's address"),
        (["--link", "/enter#abc"], "is not a market's address"),
    ],
)
def test_a_mistyped_simulation_is_refused_in_a_sentence(words: list[str], said: str) -> None:
    done = subprocess.run([*PDQS, "market", "simulate", *words], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("told", [[signal.SIGTERM], [signal.SIGHUP], [signal.SIGINT, signal.SIGINT]])
def test_a_simulation_that_is_broken_off_leaves_nothing_behind(told: list[signal.Signals], tmp_path: Path) -> None:
    """Neither devices in memory, nor a market, nor players; only the first process is told, as systemd does."""
    before = set(Path("/dev/shm").glob("pdqs-owners-*"))
    process = subprocess.Popen(
        [*PDQS, "market", "simulate", "--owners", "1000"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, "TMPDIR": str(tmp_path)},
    )  # fmt: skip
    assert process.stderr is not None
    for line in process.stderr:
        if "have arrived" in line:
            break
    players = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    for number in told:
        process.send_signal(number)
        time.sleep(0.2)
    said = process.communicate(timeout=60)[1]
    assert process.returncode == (130 if signal.SIGINT in told else 128 + told[0])
    assert "Traceback" not in said
    left, until = set(Path("/dev/shm").glob("pdqs-owners-*")) - before, time.monotonic() + 60
    while any(one.exists() for one in left):  # of another test beside this one, which will clear it away
        assert time.monotonic() < until, left
        time.sleep(0.1)
    assert list(tmp_path.iterdir()) == []
    assert not [player for player in players if Path(f"/proc/{player}/exe").exists()]


def test_players_end_with_the_process_that_started_them(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [*PDQS, "market", "simulate", "--owners", "1000"],
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env={**os.environ, "TMPDIR": str(tmp_path)},
    )  # fmt: skip
    assert process.stderr is not None
    before = set(Path("/dev/shm").glob("pdqs-owners-*"))
    for line in process.stderr:
        if "have arrived" in line:
            break
    players = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    mine = [Path(one) for one in Path("/dev/shm").glob("pdqs-owners-*") if one not in before]
    process.kill()
    process.communicate()
    until = time.monotonic() + 60
    while alive := [player for player in players if Path(f"/proc/{player}").exists()]:
        assert time.monotonic() < until, alive
        time.sleep(0.1)
    for left in mine:  # nobody can clear away who is killed
        shutil.rmtree(left, ignore_errors=True)
