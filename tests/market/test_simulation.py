"""Random operations by many parties under a fake clock, against a model kept in plain Python.

Whatever is done, in whatever order: the ledger balances, no bid is taken after the deadline, no report counts twice, no
acknowledged bid is lost, and nobody is paid but by an offer she reported on.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from market.town import Town, bid_at_the_door, found_town, plan
from pdqs.market import bidding, offer_access, reads, round_steps, round_terms, settling_ahead
from pdqs.market.store.schema import bids
from pdqs.protocol.device_messages import Bid, Report
from pdqs.protocol.problems import MarketError

OWNERS = 4


class MarketMachine(RuleBasedStateMachine):
    """A market, and what it must remember."""

    rounds = Bundle("rounds")

    @initialize()
    def begin(self) -> None:
        memory = Path("/dev/shm")  # what is tested is order, not the disk
        self.directory = tempfile.TemporaryDirectory(prefix="pdqs-town-", dir=memory if memory.is_dir() else None)
        self.town: Town = found_town(f"sqlite:///{Path(self.directory.name)}/market.db", money_micros=50_000_000)
        self.town.add_owners(OWNERS)
        self.deposited = 50_000_000
        self.acknowledged_bids: dict[tuple[str, str], int] = {}
        self.acknowledged_reports: dict[tuple[str, str], int] = {}
        self.keys = 0

    def teardown(self) -> None:
        if hasattr(self, "town"):
            self.town.market.store.close()
            self.directory.cleanup()

    def _tried(self, attempt: Callable[[], Any]) -> Any:
        """What came of it, or nothing when the market said no (its right, as long as the invariants hold)."""
        try:
            return attempt()
        except MarketError:
            return None

    @rule(target=rounds, budget=st.integers(1, 8_000_000), minimum=st.integers(2, 4))
    def draft(self, budget: int, minimum: int) -> str:
        self.keys += 1
        made = plan(budget_micros=budget, minimum_owners=minimum, bid_seconds=10, report_seconds=10)
        return round_steps.draft_round(self.town.market, self.town.consumer, made, f"round-{self.keys:04}").round_id

    @rule(round_id=rounds)
    def open(self, round_id: str) -> None:
        self._tried(lambda: round_steps.open_round(self.town.market, self.town.consumer, round_id))

    @rule(round_id=rounds, owner=st.integers(0, OWNERS - 1), bid_micros=st.integers(0, 1_000_000))
    def bid(self, round_id: str, owner: int, bid_micros: int) -> None:
        user, now = self.town.owners[owner], self.town.clock()
        found = reads.round_by_id(self.town.market, self.town.operator, round_id)
        message = Bid(terms_hash=found.terms_hash or "0" * 64, bid_micros=bid_micros)
        receipt = self._tried(lambda: bid_at_the_door(self.town.market, user, round_id, message))
        if receipt is None:
            return
        first = self.acknowledged_bids.setdefault((round_id, user.user_id), bid_micros)
        assert receipt.bid_micros == first == bid_micros
        assert receipt.placed_at_ms < found.bids_close_at_ms
        if receipt.placed_at_ms == now:
            assert found.state == "open"

    @rule(target=rounds, budget=st.integers(1_000_000, 8_000_000), bidders=st.integers(2, OWNERS - 1))
    def draft_open_and_bid(self, budget: int, bidders: int) -> str:
        round_id = self.draft(budget, 2)
        self.open(round_id)
        for owner in range(bidders):
            self.bid(round_id, owner, 100_000 * owner)
        return str(round_id)

    @rule(round_id=rounds, reporters=st.integers(0, OWNERS))
    def run_out(self, round_id: str, reporters: int) -> None:
        self.wait(10)
        self.bid(round_id, OWNERS - 1, 5)  # too late, unless it is her first bid said again
        self.clear(round_id)
        for owner in range(reporters):
            self.report(round_id, owner, 1)
        self.wait(10)
        self.settle(round_id)

    @rule(target=rounds, budget=st.integers(1_000_000, 8_000_000), reporters=st.integers(0, OWNERS))
    def whole_round(self, budget: int, reporters: int) -> str:
        """From nothing to settled, so that a search of few examples reaches payments too."""
        round_id = self.draft_open_and_bid(budget, OWNERS - 1)
        self.run_out(round_id, reporters)
        return str(round_id)

    @rule(round_id=rounds)
    def clear(self, round_id: str) -> None:
        before = reads.round_by_id(self.town.market, self.town.operator, round_id)
        done = self._tried(lambda: round_steps.clear_round(self.town.market, self.town.operator, round_id))
        if done is not None and before.state == "open":
            assert before.bids_close_at_ms is not None
            assert self.town.clock() >= before.bids_close_at_ms
            assert done.bids == sum(key[0] == round_id for key in self.acknowledged_bids)
            assert done.committed_micros <= done.plan.budget_micros

    @rule(round_id=rounds, owner=st.integers(0, OWNERS - 1), code=st.integers(0, 1))
    def report(self, round_id: str, owner: int, code: int) -> None:
        user = self.town.owners[owner]
        found = reads.round_by_id(self.town.market, self.town.operator, round_id)
        message = Report(terms_hash=found.terms_hash or "0" * 64, code=code)
        receipt = self._tried(lambda: round_steps.submit_report(self.town.market, user, round_id, message))
        if receipt is not None:
            assert self.acknowledged_reports.setdefault((round_id, user.user_id), code) == code

    @rule(round_id=rounds)
    def settle(self, round_id: str) -> None:
        self._tried(lambda: round_steps.settle_round(self.town.market, self.town.consumer, round_id))

    @rule(round_id=rounds)
    def cancel(self, round_id: str) -> None:
        self._tried(lambda: round_steps.cancel_round(self.town.market, self.town.consumer, round_id))

    @rule(seconds=st.integers(1, 15))
    def wait(self, seconds: int) -> None:
        self.town.clock.advance(seconds)

    @rule()
    def tick(self) -> None:
        round_steps.advance_due(self.town.market)
        assert self.town.market.stuck == {}

    @invariant()
    @precondition(lambda self: hasattr(self, "town"))
    def money_is_neither_made_nor_lost(self) -> None:
        books = reads.trial_balance(self.town.market, self.town.operator)
        assert books.balanced
        held = {line.account: line.balance_micros for line in books.lines}
        assert held["consumer"] + held["owner"] + held["escrow"] == self.deposited

    @invariant()
    @precondition(lambda self: hasattr(self, "town"))
    def every_acknowledged_bid_and_report_is_there_once(self) -> None:
        found = reads.rounds_page(self.town.market, self.town.operator, None, None, 200).items
        for one in found:
            assert one.bids == sum(key[0] == one.round_id for key in self.acknowledged_bids)
            assert one.reports == sum(key[0] == one.round_id for key in self.acknowledged_reports)
        for (round_id, owner), bid_micros in self.acknowledged_bids.items():
            user = next(user for user in self.town.owners if user.user_id == owner)
            assert offer_access.bid(self.town.market, user, round_id).bid_micros == bid_micros

    @invariant()
    @precondition(lambda self: hasattr(self, "town"))
    def owners_earn_exactly_the_offers_they_reported_on(self) -> None:
        settled = reads.rounds_page(self.town.market, self.town.operator, "settled", None, 200).items
        for user in self.town.owners:
            earned = sum(
                offer_access.offer(self.town.market, user, one.round_id).payment_micros
                for one in settled
                if (one.round_id, user.user_id) in self.acknowledged_reports
            )
            assert self.town.balance(user) == earned


_EFFORT = settings(max_examples=10, stateful_step_count=15, phases=[Phase.generate], report_multiple_bugs=False)
_SEARCH = settings(_EFFORT, max_examples=12)


def test_no_order_of_operations_breaks_the_market() -> None:
    run_state_machine_as_test(MarketMachine, settings=_EFFORT)


def test_a_market_that_takes_bids_after_the_deadline_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = bidding.keep_if_open

    def late(connection: Any, fresh: dict[str, Any]) -> bool:
        earlier = honest(connection, {**fresh, "now": 0})  # as if it were still time
        connection.execute(bids.update().where(bids.c.placed_at_ms == 0).values(placed_at_ms=fresh["now"]))
        return earlier

    monkeypatch.setattr(bidding, "keep_if_open", late)
    with pytest.raises(AssertionError):
        run_state_machine_as_test(MarketMachine, settings=_SEARCH)


def test_a_market_that_pays_without_a_report_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = round_terms.outcome_of

    def generous(round_id: str, terms_hash: str, terms: Any, kept: Any, *others: Any) -> Any:
        everyone = replace(kept, lines=[replace(line, code=0) for line in kept.lines])
        return honest(round_id, terms_hash, terms, everyone, *others)

    monkeypatch.setattr(settling_ahead, "outcome_of", generous)
    with pytest.raises(AssertionError):
        run_state_machine_as_test(MarketMachine, settings=_SEARCH)
