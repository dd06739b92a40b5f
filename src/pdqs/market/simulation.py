"""A whole round on a running market: owners with devices of their own, real requests, and the truth to compare with.

Only here does one program know both the values and the reports; the market is told what any market is told. It plays
the owners with their own device, so what is simulated is what owners run.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import Executor
from dataclasses import dataclass
from pathlib import Path
from typing import final

import numpy as np

from pdqs.market import simulated_guests
from pdqs.market.client import MarketClient
from pdqs.market.context import system_clock
from pdqs.market.simulated_crowd import Crowd, Say, SimulatedOwner, bid_all, drawer, enter_all, players, report_all
from pdqs.model.errors import InputError
from pdqs.model.money import MICROS_PER_UNIT, short_money
from pdqs.model.names import QueryKind
from pdqs.present.text import Shown, printable
from pdqs.protocol.device_messages import DomainMessage
from pdqs.protocol.market_messages import AnswerMessage, Invitation, QueryMessage, Round, RoundPlan
from pdqs.protocol.problems import ConflictError, ProblemType
from pdqs.protocol.round_questions import StageStanding

ATTRIBUTE = "simulated.illness"
_INVITED_AT_ONCE = 200
_LEAST_PATIENCE_SECONDS = 10
AGES = DomainMessage(kind="grid", start=0.0, step=1.0, size=101)
QUERIES = (QueryKind.COUNT, QueryKind.MEDIAN, QueryKind.MEAN)
"""What can be simulated."""


@final
@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Simulated(Shown):
    """What the market found beside what is true."""

    round: Round
    answer: AnswerMessage
    truth: float
    books_balance: bool
    seconds: float

    @property
    def covered(self) -> bool | None:
        """Whether the interval holds the truth, as 95 in 100 should; nothing without an answer."""
        if not self.answer.interval:
            return None
        low, high = self.answer.interval[0]
        return low <= self.truth <= high

    def title(self) -> str:
        return f"Simulated round of {self.answer.owners:,} owners"

    def rows(self) -> list[tuple[str, str]]:
        return [
            *self._answered(),
            *(
                (f"stage {each.number}", f"{each.reports:,} of {each.asked:,} reports about {_ends(self.round, each)}")
                for each in self.round.stages
            ),
            ("reports", f"{self.answer.reports:,} of {self.round.offers:,} offers, {self.round.bids:,} bids"),
            ("paid", f"{short_money(self.answer.paid_micros)} of {short_money(self.answer.budget_micros)}"),
            ("books", "balanced" if self.books_balance else "NOT BALANCED"),
            ("took", f"{self.seconds:.1f} s"),
        ]

    def _answered(self) -> list[tuple[str, str]]:
        if not self.answer.interval:
            return [("answer", "none"), ("simulated truth", f"{self.truth:,g}")]
        low, high = self.answer.interval[0]
        return [
            ("answer", f"{self.answer.values[0]:,.1f}"),
            ("interval", f"{low:,.1f} to {high:,.1f} at level {self.answer.level:g}"),
            ("simulated truth", f"{self.truth:,g} ({'inside' if self.covered else 'outside'} the interval)"),
        ]

    def notes(self) -> tuple[str, ...]:
        return tuple(map(printable, self.answer.warnings))


def simulate(
    address: str,
    operator: MarketClient,
    *,
    owners: int,
    budget: float,
    share: float,
    query: str = QueryKind.COUNT.value,
    bid_seconds: int | None = None,
    as_guest: bool = False,
    leave: bool = False,
    seed: int,
    say: Say,
) -> Simulated:
    """Invite a consumer and owners, run a round among them, and set the answer beside the truth.

    The ``query`` is a count of owners who hold 1 (a ``share`` of them), or the median or the mean of ages.

    Values and prices repeat with the seed; coins do not, for devices draw them from the operating system. Unless
    ``bid_seconds`` is given, bids are taken for ten seconds and as long as it took to invite everyone and have them
    arrive: bidding takes somewhat less, and what is left over is spent waiting. Whoever comes later is left out, and it
    is said how many were.

    ``as_guest``: the market is somebody's. The round is then for a group of simulated owners, and afterwards, however
    it ended, they are shut out and their money leaves the books, unless one says ``leave``.
    """
    if as_guest and owners < simulated_guests.FEWEST:
        raise InputError(f"give at least {simulated_guests.FEWEST} owners: fewer are too few for a group of their own")
    groups = [simulated_guests.GROUP] if as_guest else []
    began = time.monotonic()
    rng = np.random.default_rng(seed)
    values = _values(query, owners, share, rng)
    prices = rng.integers(0, MICROS_PER_UNIT, owners, endpoint=True).tolist()
    staying = simulated_guests.staying(operator, say, leave=leave or not as_guest)
    with staying as guests, drawer(owners) as devices, players(owners) as pool:
        consumer = _consumer(address, operator, budget, guests)
        # What stands against the round is heard before anyone is invited; whom it is for can be said only after.
        guests.round_id = consumer.draft(_plan(query, budget, bid_seconds or 60, [])).round_id
        came_from = time.monotonic()
        invited = _invited(operator, owners, groups, guests.owners, say)
        crowd = enter_all(pool, _arriving(address, invited, devices, values, prices), say)
        patience = bid_seconds or _LEAST_PATIENCE_SECONDS + math.ceil(time.monotonic() - came_from)
        planned = consumer.change_draft(guests.round_id, _plan(query, budget, patience, groups))
        bidders, found, answer = _run(consumer, crowd, pool, planned, say)
        seconds = time.monotonic() - began
    return Simulated(
        round=found,
        answer=answer,
        truth=_truth(query, [owner.value for owner in bidders]),
        books_balance=operator.trial_balance().balanced,
        seconds=seconds,
    )


def _values(query: str, owners: int, share: float, rng: np.random.Generator) -> list[float]:
    if query == QueryKind.COUNT:
        return [float(one) for one in rng.random(owners) < share]
    ages = np.clip(np.rint(rng.normal(42.0, 13.0, owners)), AGES.start, AGES.start + AGES.step * (AGES.size - 1))
    return [float(age) for age in ages]


def _truth(query: str, values: list[float]) -> float:
    """The same of the values themselves: the median is the least value that half of the owners do not exceed."""
    if query == QueryKind.MEDIAN:
        return sorted(values)[(len(values) - 1) // 2]
    return sum(values) / (len(values) if query == QueryKind.MEAN else 1)


def _ends(found: Round, stage: StageStanding) -> str:
    domain = found.plan.query.domain
    low, high = (domain.start + domain.step * code for code in (stage.low, stage.high))
    return f"{low:,g} to {high:,g}"


def _consumer(address: str, operator: MarketClient, budget: float, guests: simulated_guests.Guests) -> MarketClient:
    """A consumer with as much money as the round may cost, noted before she has it."""
    invitation = operator.invite("consumer", f"{simulated_guests.NAMES}consumer")
    guests.consumer = MarketClient.enter(address, invitation.code)
    operator.deposit(invitation.user.user_id, round(budget * MICROS_PER_UNIT))
    return guests.consumer


def _invited(
    operator: MarketClient, owners: int, groups: list[str], found: list[Invitation], say: Say
) -> Iterator[list[Invitation]]:
    """Invite so many owners, by the hundred, and note whoever is let in."""
    while len(found) < owners:
        numbers = range(len(found) + 1, min(len(found) + _INVITED_AT_ONCE, owners) + 1)
        names = [f"{simulated_guests.NAMES}owner {number}" for number in numbers]
        let_in = operator.invite_many("owner", names, groups=groups).items
        found += let_in
        say(f"{len(found):,} of {owners:,} are invited")
        yield let_in


def _arriving(
    address: str, invited: Iterable[list[Invitation]], devices: Path, values: list[float], prices: list[int]
) -> Iterator[Crowd]:
    """Owners as they are invited, each with a device, what it guards and her price."""
    people = enumerate(zip(values, prices, strict=True))
    for some in invited:
        yield [
            SimulatedOwner(
                address=address, file=devices / f"{number}.sqlite", value=value, bid_micros=price, code=one.code
            )
            for one, (number, (value, price)) in zip(some, people, strict=False)
        ]


def _plan(query: str, budget: float, bid_seconds: int, groups: list[str]) -> RoundPlan:
    asked = (
        QueryMessage(kind=query, text="Have you been ill this month? (simulated)")
        if query == QueryKind.COUNT
        else QueryMessage(kind=query, text="What is your age? (simulated)", domain=AGES)
    )
    return RoundPlan(
        query=asked,
        attribute=ATTRIBUTE if query == QueryKind.COUNT else "simulated.age",
        budget_micros=round(budget * MICROS_PER_UNIT),
        bid_seconds=bid_seconds,
        report_seconds=3600,
        groups=groups,
    )


def _run(
    consumer: MarketClient, crowd: Crowd, pool: Executor, draft: Round, say: Say
) -> tuple[Crowd, Round, AnswerMessage]:
    """Who bid, how the round ended, and its answer."""
    opened = consumer.open(draft.round_id)
    bidders = bid_all(pool, crowd, opened, say)
    if not bidders:
        raise InputError("nobody came in time to bid: give them more time (--bid-seconds)")
    say(f"bids close in {max(0, (opened.bids_close_at_ms or 0) - system_clock()) / 1000:.0f} s")
    found = _cleared(consumer, opened)
    say(f"cleared: {found.offers:,} {'owner was' if found.offers == 1 else 'owners were'} drawn")
    for stage in range(1, opened.asked.stages + 1):
        if stage > 1:
            found = _in_stage(consumer, opened.round_id, stage)
            if found.state == "settled":  # nobody was left to ask
                break
            say(f"stage {stage}: {_ends(found, found.stages[stage - 1])} is left open")
        report_all(pool, bidders, opened.round_id, say)
    say("settling")
    settled = _settled(consumer, opened.round_id)
    return bidders, settled, consumer.answer(opened.round_id)


def _cleared(consumer: MarketClient, opened: Round) -> Round:
    """Ask until the server's clock agrees that bids are closed."""
    closes = opened.bids_close_at_ms or 0
    while True:
        time.sleep(max(0.05, (closes - system_clock()) / 1000))
        try:
            found = consumer.clear(opened.round_id)
        except ConflictError as fault:
            if fault.type is not ProblemType.TOO_EARLY:
                raise
        else:
            if found.state != "open":  # a large round is cleared by the market's clock, and asked for until it is
                return found


def _in_stage(consumer: MarketClient, round_id: str, stage: int) -> Round:
    """Ask for the next stage, which the market's clock opens too, until it is there."""
    while True:
        found = consumer.round(round_id)
        if len(found.stages) >= stage or found.state == "settled":
            return found
        try:
            consumer.next_stage(round_id)
        except ConflictError as fault:
            if fault.type is not ProblemType.TOO_EARLY:
                raise
            time.sleep(0.1)


def _settled(consumer: MarketClient, round_id: str) -> Round:
    """Ask until the round is settled."""
    while True:
        found = consumer.settle(round_id)
        if found.state == "settled":
            return found
        time.sleep(1.0)
