"""A simulation in a running market: it asks first, stays away from real people, and clears away after itself."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from pdqs.market import Settings, simulated_guests, simulation
from pdqs.market.client import MarketClient
from pdqs.market.context import Market
from pdqs.market.http.app import create_app
from pdqs.market.http.serving import served
from pdqs.market.people import first_operator
from pdqs.market.simulated_guests import GROUP
from pdqs.model.errors import InputError

SIMULATE = [sys.executable, "-m", "pdqs", "market", "simulate", "--owners", "30", "--bid-seconds", "8"]


@dataclass(frozen=True)
class Running:
    """A market that is being served."""

    address: str
    market: Market

    def code(self) -> str:
        return first_operator(self.market).code

    def simulate(self, *words: str) -> subprocess.CompletedProcess[str]:
        link = f"{self.address}/enter#{self.code()}"
        return subprocess.run([*SIMULATE, "--link", link, *words], capture_output=True, text=True, check=False)


@pytest.fixture
def running(tmp_path: Path) -> Iterator[Running]:
    url = f"sqlite:///{tmp_path / 'market.db'}"
    app = create_app(Settings(database_url=url, caller_rate=10_000.0, address_rate=10_000.0))
    with served(app) as address:
        yield Running(address, app.state.market)


def test_nothing_is_put_into_a_running_market_unasked(running: Running) -> None:
    done = running.simulate()
    assert done.returncode == 2
    assert "30 simulated owners and a simulated consumer" in done.stderr
    assert "a deposit of 9.00 that nobody has made" in done.stderr
    assert "--yes" in done.stderr
    with MarketClient.enter(running.address, running.code()) as operator:
        assert [one.role for one in operator.users().items] == ["operator"]


def test_a_market_with_real_people_is_left_alone_unless_one_insists(running: Running) -> None:
    with MarketClient.enter(running.address, running.code()) as operator:
        operator.invite("owner", "Ann")
    done = running.simulate("--yes")
    assert done.returncode == 2
    assert "there are real people in this market" in done.stderr
    with MarketClient.enter(running.address, running.code()) as operator:
        assert {one.name for one in operator.users().items if one.role != "operator"} == {"Ann"}


def test_it_is_marked_kept_apart_and_cleared_away(running: Running) -> None:
    done = running.simulate("--yes", "--query", "mean")
    assert done.returncode == 0, done.stderr
    assert "cleared away" in done.stderr
    with MarketClient.enter(running.address, running.code()) as operator:
        (found,) = operator.all_rounds()
        assert found.plan.text == "What is your age? (simulated)"
        assert operator.round(found.round_id).plan.groups == [GROUP]
        assert operator.payables().items == []
        people = [one for one in operator.users(limit=200).items if one.role != "operator"]
        assert len(people) == 31
        assert all(one.disabled_at_ms is not None for one in people)
        moved = {line.kind: 0 for line in operator.transfers(limit=200).items}
        for line in operator.transfers(limit=200).items:
            moved[line.kind] += line.amount_micros
        assert sum(moved.values()) == 0, "as much as was deposited is out again"
        assert operator.trial_balance().balanced


def test_once_more_is_no_harm_for_those_before_were_simulated_too(running: Running) -> None:
    assert running.simulate("--yes", "--leave").returncode == 0
    assert running.simulate("--yes").returncode == 0


def left_of_it(running: Running) -> tuple[int, int, int]:
    """How many simulated people were let in, how many of them still are, and how much of their money there is."""
    with MarketClient.enter(running.address, running.code()) as operator:
        people = [one for one in operator.users(limit=200).items if one.role != "operator"]
        moved = sum(line.amount_micros for line in operator.transfers(limit=200).items)
        assert operator.trial_balance().balanced
        return len(people), sum(one.disabled_at_ms is None for one in people), moved


def test_a_budget_that_is_refused_lets_no_owner_in_and_leaves_nothing(running: Running) -> None:
    done = running.simulate("--yes", "--budget", "0.5")
    assert done.returncode != 0
    assert "the budget of a round is at least 1 here" in done.stderr
    assert left_of_it(running) == (1, 0, 0)


def broken_off(running: Running, monkeypatch: pytest.MonkeyPatch, where: str, by: BaseException | None) -> list[str]:
    """A simulation that ends while owners bid or report, by a fault or because there is nobody; what it said."""

    def ends(*_: object) -> list[object]:
        if by is not None:
            raise by
        return []

    said: list[str] = []
    monkeypatch.setattr(simulation, where, ends)
    with MarketClient.enter(running.address, running.code()) as operator, pytest.raises(type(by or InputError())):
        simulation.simulate(
            running.address,
            operator,
            owners=12,
            budget=4.0,
            share=0.3,
            bid_seconds=6,
            as_guest=True,
            seed=1,
            say=said.append,
        )
    return said


@pytest.mark.parametrize("by", [None, KeyboardInterrupt(), SystemExit(143)])
def test_however_it_ends_while_bids_are_taken_all_of_it_is_cleared_away(
    running: Running, monkeypatch: pytest.MonkeyPatch, by: BaseException | None
) -> None:
    said = broken_off(running, monkeypatch, "bid_all", by)
    assert said[-1] == "cleared away: the invented money is out of the books, and 13 people are shut out"
    assert left_of_it(running) == (13, 0, 0)
    with MarketClient.enter(running.address, running.code()) as operator:
        assert [one.state for one in operator.all_rounds()] == ["cancelled"]


def test_once_owners_may_have_reported_the_round_goes_on_and_it_is_said_so(
    running: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = broken_off(running, monkeypatch, "report_all", KeyboardInterrupt())
    assert any("it goes on until its time is over" in line for line in said)
    assert said[-1] == "cleared away: the invented money is in the round that goes on, and 13 people are shut out"
    assert left_of_it(running)[:2] == (13, 0)


def test_how_far_it_is_with_clearing_many_away_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(simulated_guests, "_SAID_EVERY", 2)
    done: list[int] = []
    said: list[str] = []
    simulated_guests._each(range(5), done.append, "are shut out", said.append)
    assert done == list(range(5))
    assert [line.partition(",")[0] for line in said] == ["2 of 5 are shut out", "4 of 5 are shut out"]
