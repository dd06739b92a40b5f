"""What every command and query is given: a database and a clock."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import final

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from pdqs.market.settings import Settings
from pdqs.market.store.database import Store
from pdqs.protocol.market_messages import User

Clock = Callable[[], int]
"""Milliseconds since 1970."""


def system_clock() -> int:
    """The server's own clock."""
    return time.time_ns() // 1_000_000


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Promise:
    """What every bid in a round is held to: fixed when the round opens, and never changed after."""

    terms_hash: str
    bid_low_micros: int
    bid_high_micros: int
    receipt_key: str
    """The public key of the round's receipts; empty for a round that was opened before there were keys."""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Stuck:
    """A round whose time has come and which could not go on. It is tried again at every tick."""

    round_id: str
    since_ms: int
    reason: str
    """For the operator: a sentence that quotes nobody's bid or report."""
    kind: str
    where: str
    """What was raised and from which line, for the log."""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Market:
    """One market: where it is kept, by whose clock it runs, and its settings."""

    store: Store
    clock: Clock = system_clock
    settings: Settings = Settings()
    callers: dict[str, tuple[User, int]] = field(default_factory=dict, repr=False, compare=False)
    """Users by the hash of their token, and until when that is taken on trust."""
    promises: dict[str, Promise] = field(default_factory=dict, repr=False, compare=False)
    """Frozen terms that were looked up before; what is frozen needs no looking up again."""
    signers: dict[str, Ed25519PrivateKey] = field(default_factory=dict, repr=False, compare=False)
    """Keys that receipts are signed with, by their public half."""
    stuck: dict[str, Stuck] = field(default_factory=dict, repr=False, compare=False)
    """Rounds that failed to go on when they were last tried, by id."""
