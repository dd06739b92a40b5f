"""What every command and query is given: a database and a clock."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import final

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from pdqs.market.settings import Settings
from pdqs.market.store.database import Store
from pdqs.protocol.market_messages import User
from pdqs.rounds.merkle import MerkleTree

Clock = Callable[[], int]
"""Milliseconds since 1970."""


def system_clock() -> int:
    """The server's own clock."""
    return time.time_ns() // 1_000_000


@final
class Callers:
    """Users by the hash of their token, and until when that is taken on trust.

    A token is forgotten once its end is committed. Who looked it up before that, and remembers it only now, is too
    late: :meth:`remember` takes what was found since the count of ends that :meth:`ends` gave, and nothing older.
    """

    def __init__(self, most: int = 50_000) -> None:
        self._lock = threading.Lock()
        self._known: dict[str, tuple[User, int]] = {}
        self._ends = 0
        self._most = most

    def known(self, digest: str, now_ms: int) -> User | None:
        """The user behind the hash of a token, if that is known well enough."""
        user, until = self._known.get(digest, (None, 0))
        return user if now_ms < until else None

    def ends(self) -> int:
        """How often tokens were ended; to be asked before a token is looked up."""
        return self._ends

    def remember(self, digest: str, user: User, *, until_ms: int, ends: int) -> None:
        """Keep what a look-up found, unless a token was ended since it began."""
        with self._lock:
            if ends != self._ends:
                return
            if len(self._known) >= self._most:
                self._known.clear()
            self._known[digest] = (user, until_ms)

    def forget(self, user_id: str) -> None:
        """Forget a user's tokens: after the commit that ended them."""
        with self._lock:
            self._ends += 1
            for digest in [digest for digest, (user, _) in self._known.items() if user.user_id == user_id]:
                del self._known[digest]


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Promise:
    """What every bid and report in a round is held to: fixed when the round opens, and never changed after."""

    terms_hash: str
    bid_low_micros: int
    bid_high_micros: int
    receipt_key: str
    """The public key of the round's receipts; empty for a round that was opened before there were keys."""
    codes: int
    """How many codes a report is one of."""
    by_sides: bool
    """Whether owners are asked about sides, stage by stage."""
    for_groups: bool
    """Whether it is for owners of some groups alone."""


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
    secret: Callable[[int], bytes] = field(default=os.urandom, repr=False, compare=False)
    """So many random bytes that nobody can guess."""
    callers: Callers = field(default_factory=Callers, repr=False, compare=False)
    """Tokens that were looked up a moment ago."""
    keys: dict[str, bytes] = field(default_factory=dict, repr=False, compare=False)
    """The server's own keys, by what they are for."""
    promises: dict[str, Promise] = field(default_factory=dict, repr=False, compare=False)
    """Frozen terms that were looked up before; what is frozen needs no looking up again."""
    signers: dict[str, Ed25519PrivateKey] = field(default_factory=dict, repr=False, compare=False)
    """Keys that receipts are signed with, by their public half."""
    written_at: dict[str, int] = field(default_factory=dict, repr=False, compare=False)
    """When it was last tried whether the database can be written."""
    trees: dict[str, tuple[MerkleTree, dict[bytes, int]]] = field(default_factory=dict, repr=False, compare=False)
    """Trees over the bids of closed rounds, and everyone's place in them; what is closed does not change."""
    stuck: dict[str, Stuck] = field(default_factory=dict, repr=False, compare=False)
    """Rounds that failed to go on when they were last tried, by id."""
