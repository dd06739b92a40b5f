"""The one probe of truthfulness: what an owner has from an offer, and what a lie brings her over the truth."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from pdqs.model.money import MICROS_PER_UNIT
from pdqs.pricing.payment import misreport_micros_at
from pdqs.pricing.rules import Setting
from pdqs.rounds.offers import Offers


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Deal:
    """One owner's offer: her chance of truth and her expected payment."""

    q: float
    payment_micros: int

    @classmethod
    def of(cls, offers: Offers, row: int) -> Deal:
        """The deal of the owner in this row."""
        return cls(q=float(offers.q[row]), payment_micros=int(offers.payment_micros[row]))

    def load(self, setting: Setting) -> float:
        """l(q): what she is paid for, as the contract of the terms has it (section 2 of docs/theory)."""
        return float(setting.load(np.asarray(self.q)))

    def utility_micros(self, price: float, setting: Setting) -> float:
        """Payment less price times load, u = P - theta l(q)."""
        return self.payment_micros - price * self.load(setting) * MICROS_PER_UNIT


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Temptation:
    """What a lie brings over the truth, and how much of that is rounding and no promise broken."""

    gain_micros: float
    rounding_micros: float

    @property
    def gains(self) -> bool:
        """Whether the lie pays: by more than rounding gives away."""
        return self.gain_micros > self.rounding_micros


def tempted(honest: Deal, lying: Deal, price: float, setting: Setting) -> Temptation:
    """An owner of this price, offered ``honest`` for the truth and ``lying`` for a lie.

    >>> half, whole = Deal(q=0.5, payment_micros=1_200_000), Deal(q=0.5, payment_micros=1_300_000)
    >>> tempted(half, whole, 1.0, Setting()).gains, tempted(half, half, 1.0, Setting()).gains
    (True, False)
    """
    gain = lying.utility_micros(price, setting) - honest.utility_micros(price, setting)
    return Temptation(gain_micros=gain, rounding_micros=misreport_micros_at(price, lying.q, setting))
