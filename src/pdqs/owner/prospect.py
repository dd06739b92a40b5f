"""What an owner can know before she bids: who asks and why, the most it could cost her, the least it would pay."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import final

from pdqs.owner.lifetime_cap import OVERALL, Spending
from pdqs.owner.review import Device
from pdqs.owner.told import Told
from pdqs.present.text import printable
from pdqs.privacy.loss import NANOS_PER_EPSILON
from pdqs.protocol.device_messages import RoundNotice


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Prospect:
    """A round whose terms passed every check, and a price that may be named in it."""

    told: Told
    bid_micros: int
    asked_by: str
    purpose: str
    use: str
    groups: str
    """As they are frozen in the terms; empty where nothing is said."""
    spending: Spending
    overall: Spending

    @property
    def epsilon(self) -> float:
        """The most that the round may ask for."""
        return self.told.notice.epsilon_max

    @property
    def epsilon_nanos(self) -> int:
        """The same as the account counts it."""
        return math.ceil(self.epsilon * NANOS_PER_EPSILON)

    @property
    def least_payment_micros(self) -> int:
        """The least that the most would pay: bid x eps, rounded up."""
        return math.ceil(self.bid_micros * self.epsilon)

    @property
    def within_cap(self) -> bool:
        """Whether her lifetime caps allow whatever the round may ask for."""
        return self.epsilon_nanos <= min(self.spending.left_nanos, self.overall.left_nanos)


def prospect_of(device: Device, notice: RoundNotice, bid_micros: int) -> Prospect:
    """Check the round and the price, as before a bid, and say what is known; nothing is stored."""
    told = device.may_bid(notice, bid_micros)
    document, account = json.loads(notice.terms), device.ledger.account()
    groups = document.get("groups", [])
    return Prospect(
        told=told,
        bid_micros=bid_micros,
        **{name: printable(str(document.get(name, ""))) for name in ("asked_by", "purpose", "use")},
        groups=printable(", ".join(map(str, groups)) if isinstance(groups, list) else str(groups)),
        spending=account.spending(notice.question.attribute),
        overall=account.spending(OVERALL),
    )
