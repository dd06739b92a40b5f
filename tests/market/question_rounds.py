"""Rounds that ask for less than a value, played in a town: owners have values, and devices as the core defines them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from market.town import Town
from pdqs.market import offer_access, reads, round_steps
from pdqs.model.questions import Asking, Bucket, Level, Value
from pdqs.privacy.asking import ask
from pdqs.privacy.draws import BUCKET_WORD
from pdqs.privacy.entropy import SeededEntropy
from pdqs.protocol.device_messages import DomainMessage, Offer
from pdqs.protocol.market_messages import QueryMessage, Round, User

AGES = DomainMessage(kind="grid", start=0.0, step=1.0, size=100)


@dataclass
class Played:
    """A round among owners of known values."""

    town: Town
    found: Round
    values: dict[str, int]
    entropy: SeededEntropy
    sent: dict[str, int] = field(default_factory=dict)

    def now(self) -> Round:
        return reads.round_by_id(self.town.market, self.town.consumer, self.found.round_id)

    def offer(self, owner: User) -> Offer:
        return offer_access.offer(self.town.market, owner, self.found.round_id)

    def asking(self, place: int) -> Asking:
        """What the device of one owner is asked, from the terms and the words that anyone can make again."""
        domain, codes = self.found.plan.query.domain.domain(), self.found.asked.codes
        match self.found.asked.kind:
            case "level":
                return Level(domain, codes)
            case "bucket":
                return Bucket(domain, codes, seed=int(self.town.draws(self.now(), BUCKET_WORD)[place]))
            case "side":
                return Value(domain.binary())
            case _:
                return Value(domain)

    def report(self, silent: int = 0) -> int:
        """Everyone reports who is asked and whose question has come, but for the first few; how many could."""
        came = 0
        for place, owner in enumerate(self.town.owners):
            offer = self.offer(owner)
            waits = self.found.asked.kind == "side" and offer.side is None
            over = offer.now_ms >= offer.reports_close_at_ms
            if not offer.q_numerator or waits or over or owner.user_id in self.sent:
                continue
            came += 1
            if came > silent:
                self.sent[owner.user_id] = self._code(place, owner, offer)
                self.town.report(owner, self.found, self.sent[owner.user_id])
        return came

    def _code(self, place: int, owner: User, offer: Offer) -> int:
        value = self.values[owner.user_id]
        code = value if offer.side is None else int(value <= offer.side)
        told, _ = ask(
            self.asking(place), np.array([code]), np.array([offer.q_numerator], dtype=np.uint32), self.entropy
        )
        return int(told[0])

    def through(self, silent: int = 0) -> Round:
        """All stages in turn, and the settlement."""
        for _ in range(2 * self.found.asked.stages + 2):
            self.report(silent)
            self.town.clock.advance(self.found.plan.report_seconds if silent else 1)
            round_steps.advance_due(self.town.market)
            assert self.town.market.stuck == {}
            if self.now().state == "settled":
                break
        return self.now()


def start(town: Town, kind: str, *, owners: int = 120, seed: int = 5, **changes: Any) -> Played:
    """A round of this kind about the ages of so many owners, cleared."""
    rng = np.random.default_rng(seed)
    town.add_owners(owners - len(town.owners))
    ages = np.clip(rng.normal(40, 9, owners).astype(int), 0, 99).tolist()
    query = QueryMessage(kind=kind, text="What is your age?", domain=AGES, p=0.5)
    usual = {"query": query, "attribute": "age", "budget_micros": 90_000_000, "epsilon_max": 1.0}
    found = town.cleared_round(**{**usual, **changes})
    values = {owner.user_id: age for owner, age in zip(town.owners, ages, strict=True)}
    return Played(town=town, found=found, values=values, entropy=SeededEntropy(rng))
