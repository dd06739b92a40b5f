"""A whole round on a running market: owners with devices of their own, real requests, and the truth to compare with.

Only here does one program know both the values and the reports; the market is told what any market is told. It plays
the owners with their own device, so what is simulated is what owners run.
"""

from __future__ import annotations

import math
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import final

import numpy as np

from pdqs.market.client import MarketClient
from pdqs.market.context import system_clock
from pdqs.model.money import MICROS_PER_UNIT, short_money
from pdqs.model.names import QueryKind
from pdqs.owner.client import OwnerClient
from pdqs.owner.ledger import Ledger
from pdqs.owner.review import Device
from pdqs.owner.visit import Visit
from pdqs.present.text import Shown, printable
from pdqs.protocol.market_messages import AnswerMessage, QueryMessage, Round, RoundPlan
from pdqs.protocol.problems import ConflictError, ProblemType

ATTRIBUTE = "simulated.illness"
_AT_ONCE = 8

Say = Callable[[str], None]


@final
@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Simulated(Shown):
    """What the market found beside what is true."""

    round: Round
    answer: AnswerMessage
    truth: int
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
            ("reports", f"{self.answer.reports:,} of {self.round.offers:,} offers, {self.round.bids:,} bids"),
            ("paid", f"{short_money(self.answer.paid_micros)} of {short_money(self.answer.budget_micros)}"),
            ("books", "balanced" if self.books_balance else "NOT BALANCED"),
            ("took", f"{self.seconds:.1f} s"),
        ]

    def _answered(self) -> list[tuple[str, str]]:
        if not self.answer.interval:
            return [("answer", "none"), ("simulated truth", f"{self.truth:,}")]
        low, high = self.answer.interval[0]
        return [
            ("answer", f"{self.answer.values[0]:,.1f}"),
            ("interval", f"{low:,.1f} to {high:,.1f} at level {self.answer.level:g}"),
            ("simulated truth", f"{self.truth:,} ({'inside' if self.covered else 'outside'} the interval)"),
        ]

    def notes(self) -> tuple[str, ...]:
        return tuple(map(printable, self.answer.warnings))


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class _Owner:
    """One simulated person: her device's file, and what it guards."""

    address: str
    client: OwnerClient
    file: Path
    value: int
    bid_micros: int


def simulate(
    address: str,
    operator: MarketClient,
    *,
    owners: int,
    budget: float,
    share: float,
    bid_seconds: int | None = None,
    seed: int,
    say: Say,
) -> Simulated:
    """Invite a consumer and owners, run a round among them, and set the answer beside the truth.

    Values and prices repeat with the seed; coins do not, for devices draw them from the operating system. Unless
    ``bid_seconds`` is given, bids are taken for twice as long as it took everyone to arrive, which is as much work.
    """
    began = time.monotonic()
    rng = np.random.default_rng(seed)
    values = (rng.random(owners) < share).astype(int).tolist()
    prices = rng.integers(0, MICROS_PER_UNIT, owners, endpoint=True).tolist()
    with tempfile.TemporaryDirectory(prefix="pdqs-owners-") as devices, ThreadPoolExecutor(_AT_ONCE) as pool:
        say(f"inviting {owners:,} owners")
        people = list(
            pool.map(
                lambda i: _arrived(address, operator, Path(devices), i, values[i], prices[i]),
                range(owners),
            )
        )
        patience = bid_seconds or 2 + math.ceil(2 * (time.monotonic() - began))
        try:
            with _consumer(address, operator, budget) as consumer:
                found, answer = _run(consumer, people, pool, budget, patience, say)
        finally:
            for person in people:
                person.client.close()
    return Simulated(
        round=found,
        answer=answer,
        truth=sum(values),
        books_balance=operator.trial_balance().balanced,
        seconds=time.monotonic() - began,
    )


def _consumer(address: str, operator: MarketClient, budget: float) -> MarketClient:
    invitation = operator.invite("consumer", "simulated consumer")
    operator.deposit(invitation.user.user_id, round(budget * MICROS_PER_UNIT))
    return MarketClient.enter(address, invitation.code)


def _arrived(address: str, operator: MarketClient, devices: Path, number: int, value: int, price: int) -> _Owner:
    with OwnerClient(address) as stranger:
        token = stranger.redeem(operator.invite("owner", f"simulated owner {number + 1}").code)
    client = OwnerClient(address, token)
    return _Owner(address=address, client=client, file=devices / f"{number}.sqlite", value=value, bid_micros=price)


def _run(
    consumer: MarketClient, people: list[_Owner], pool: ThreadPoolExecutor, budget: float, bid_seconds: int, say: Say
) -> tuple[Round, AnswerMessage]:
    plan = RoundPlan(
        query=QueryMessage(kind=QueryKind.COUNT, text="Have you been ill this month? (simulated)"),
        attribute=ATTRIBUTE,
        budget_micros=round(budget * MICROS_PER_UNIT),
        bid_seconds=bid_seconds,
        report_seconds=3600,
    )
    opened = consumer.open(consumer.draft(plan).round_id)
    say("bidding")
    list(pool.map(lambda person: _bid(person, opened.round_id), people))
    say("waiting for the deadline")
    cleared = _cleared(consumer, opened)
    say(f"reporting: {cleared.offers:,} owners were made an offer")
    list(pool.map(lambda person: _report(person, opened.round_id), people))
    settled = consumer.settle(opened.round_id)
    return settled, consumer.answer(opened.round_id)


@contextmanager
def _visiting(person: _Owner) -> Iterator[Visit]:
    with closing(Ledger(person.file)) as ledger:
        yield Visit(device=Device(market=person.address, ledger=ledger), client=person.client, clock=system_clock)


def _bid(person: _Owner, round_id: str) -> None:
    with _visiting(person) as visit:
        visit.bid(round_id, person.bid_micros)


def _cleared(consumer: MarketClient, opened: Round) -> Round:
    """Ask until the server's clock agrees that bids are closed."""
    closes = opened.bids_close_at_ms or 0
    while True:
        time.sleep(max(0.05, (closes - system_clock()) / 1000))
        try:
            return consumer.clear(opened.round_id)
        except ConflictError as fault:
            if fault.type is not ProblemType.TOO_EARLY:
                raise


def _report(person: _Owner, round_id: str) -> None:
    with _visiting(person) as visit:
        review = visit.review(round_id)
        if review.offer.q_numerator:
            visit.send(visit.draw(review, person.value, agreed=review.asks))
