"""The long campaigns in small: a few hundred requests and a few races, and markets that are wrong, which they catch."""

from __future__ import annotations

import argparse
import json
import logging
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import anyio.to_thread
import pytest

from market.campaign import Journal, Pace, write_summary
from market.fuzz import oracle, rules, running
from market.fuzz.asking import Asked
from market.fuzz.rules import RULES, add_unknown, fault_in, rule_for
from market.fuzz.summing import carried, summary
from market.fuzz.weakened import WAYS
from pdqs.market.http.app import create_app

HERE = Path(__file__).parent


@pytest.fixture(params=["sqlite", "postgresql"])
def set_up(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[running.Stage]:
    if request.param == "postgresql":
        pytest.importorskip("pgserver", reason="PostgreSQL tests need the package pgserver")
    monkeypatch.setattr(anyio.to_thread, "run_sync", running._at_once)
    logging.disable(logging.CRITICAL)
    with running.stage(request.param) as made:
        yield made
    logging.disable(logging.NOTSET)


def test_no_request_faults_and_nothing_wrong_is_taken(set_up: running.Stage) -> None:
    found = running.run_batch(set_up, 300, "a test")
    assert found["wrong"] == []
    assert found["counts"]["wrong refused"] > 50
    assert found["counts"]["right taken"] > 50


@pytest.fixture(scope="module")
def small() -> Iterator[running.Stage]:
    with running.stage("sqlite") as made:
        yield made


@pytest.mark.parametrize("name", list(WAYS))
def test_a_market_that_is_wrong_is_caught(name: str, small: running.Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(anyio.to_thread, "run_sync", running._at_once)
    way = WAYS[name]
    way.weaken(monkeypatch.setattr)
    found = running.run_batch(small, 240, "a test", way.only)
    assert any(way.caught in wrong for wrong in found["wrong"]), found["wrong"]


def test_the_campaign_asks_every_route_and_judges_all_of_them(tmp_path: Path) -> None:
    app = create_app(running.settings_for(f"sqlite:///{tmp_path}/market.db"), ticking=False)
    routes = running.routes_of(app)
    app.state.market.store.close()
    assert {("PUT", "/v1/rounds/{round_id}/bid"), ("GET", "/consumer"), ("POST", "/operator/ledger/{move}")} <= routes
    judged = {(rule.method, rule.path) for rule in RULES if rule.judged}
    assert routes <= judged, sorted(routes - judged)


def test_a_route_without_a_line_is_asked_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rules, "RULES", list(RULES))
    add_unknown([("GET", "/v1/me"), ("GET", "/v1/something-new")])
    assert [(rule.method, rule.path, rule.judged) for rule in rules.RULES[len(RULES) :]] == [
        ("GET", "/v1/something-new", False)
    ]


def test_the_oracle_reads_a_request_as_it_lies(small: running.Stage) -> None:
    world = small.world
    owner, found = world.people["owner 7"], world.rounds["open"]
    path = f"/v1/rounds/{found.round_id}/bid"
    token = {"authorization": f"bEaReR {owner.token}".encode(), "content-type": b"application/json"}

    def said(**changes: object) -> str:
        body = {"terms_hash": found.terms_hash, "bid_micros": 5, **changes}
        return judged(Asked("PUT", path, (), token, json.dumps(body).encode()))

    def judged(asked: Asked) -> str:
        return fault_in(asked, world, rule_for(asked))

    assert said() == ""
    assert said(bid_micros=found.high) == ""
    assert said(bid_micros=found.high + 1) == "a bid out of range"
    assert said(bid_micros=5.0) == said(bid_micros=True) == said(more=1) == "a body of another shape"
    assert said(terms_hash="0" * 64) == "a bid for other terms"
    assert judged(Asked("PUT", path, (), {}, b"{}")) == "nobody known"
    assert judged(Asked("GET", "/v1/users", (), token)) == "asked by owner"


def test_the_oracle_takes_the_plans_of_the_documentation() -> None:
    assert oracle.plan_to_draft(
        {"query": {"kind": "count", "text": "Are you well?"}, "attribute": "health", "budget_micros": 10**6}
    )
    assert not oracle.plan_to_draft(
        {"query": {"kind": "count", "text": "Are you well?"}, "attribute": "health", "budget_micros": 10**6 - 1}
    )


def raced(work: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(HERE / "racing.py"), "--work", str(work), *options]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("database", ["sqlite", "postgresql"])
def test_no_race_against_a_deadline_is_late_or_lost(database: str, tmp_path: Path) -> None:
    if database == "postgresql":
        pytest.importorskip("pgserver", reason="PostgreSQL tests need the package pgserver")
    done = raced(tmp_path, "--races", "24", "--database", database)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["races_in_all"] >= 24


def test_a_market_that_looks_at_the_clock_too_early_is_caught(tmp_path: Path) -> None:
    done = raced(tmp_path, "--races", "200", "--database", "sqlite", "--broken")
    assert done.returncode != 0
    assert "late bids were taken" in done.stderr


def test_a_journal_knows_what_is_left(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal.jsonl")
    journal.add({"number": 1, "found": [1, 2]})
    parts = [{"number": number} for number in range(3)]
    assert Journal(tmp_path / "journal.jsonl").left(parts) == [{"number": 0}, {"number": 2}]


def test_a_campaign_says_how_long_it_will_take() -> None:
    pace = Pace("kills", 100, done=10)
    pace.step(20)
    assert pace.said(60.0).endswith("30 of 100 (30.0%), 0.3 a second, 0 h 03 min left")


def test_a_fuzz_goes_on_from_the_summary_of_an_earlier_run(small: running.Stage, tmp_path: Path) -> None:
    options = argparse.Namespace(requests=240, batch=120, seed=7, out=tmp_path / "fuzz.json")
    parts = [{"database": "sqlite", "number": n, **running.run_batch(small, 120, f"7 sqlite {n}")} for n in range(2)]
    whole = summary(parts, options)
    assert whole["batches"] == {"sqlite": 2, "postgresql": 0}
    write_summary(options.out, summary(parts[:1], options))
    assert summary(carried(options) + parts[1:], options) == whole
    for changed in ({"seed": 8}, {"batch": 60}):
        assert carried(argparse.Namespace(**{**vars(options), **changed})) == []


def test_a_summary_with_a_gap_is_not_gone_on_from(small: running.Stage, tmp_path: Path) -> None:
    options = argparse.Namespace(requests=240, batch=60, seed=7, out=tmp_path / "fuzz.json")
    alone = {"database": "sqlite", "number": 1, **running.run_batch(small, 60, "7 sqlite 1")}
    write_summary(options.out, summary([alone], options))
    assert carried(options) == []
