"""What every command and query is given: a database and a clock."""

from __future__ import annotations

import os
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import final

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from pdqs.market.made_once import MadeOnce
from pdqs.market.settings import Settings
from pdqs.market.store.database import Store
from pdqs.protocol.market_messages import User
from pdqs.rounds.merkle import MerkleTree

_PATIENCE = 20.0  # seconds that the few who may wait do, for a large file to be made for others
_KEPT_SECONDS = 300.0  # a record may be a hundred megabytes

Clock = Callable[[], int]
"""Milliseconds since 1970."""


def system_clock() -> int:
    """The server's own clock."""
    return time.time_ns() // 1_000_000


@final
class Callers:
    """Users by the hash of their token, for some seconds, so that a bid need not ask who she is before it is kept.

    That lets nobody in: other processes end tokens too, and the transaction that keeps a bid looks for hers itself.

    A token is forgotten once its end is committed. Who looked it up before that, and remembers it only now, is too
    late: :meth:`remember` takes what was found since the count of ends that :meth:`ends` gave, and nothing older.
    """

    def __init__(self, most: int = 50_000) -> None:
        self._lock = threading.Lock()
        self._known: dict[str, tuple[User, int]] = {}
        self._whose: dict[str, str] = {}
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

    def whose(self, digest: str) -> str:
        """The id of the user whose token or session was found under this hash, be it over by now; or nothing."""
        return self._whose.get(digest, "")

    def note_whose(self, digest: str, user_id: str) -> None:
        """Keep whose a token or session is. That is for counting what she asks, and lets nobody in."""
        if len(self._whose) >= self._most:
            self._whose.clear()
        self._whose[digest] = user_id

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
    receipt_form: int
    """2: its receipts say whose they are and what was asked."""
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
    records: MadeOnce[str, bytes] = field(
        default_factory=lambda: MadeOnce(most=2, patience=_PATIENCE, seconds=_KEPT_SECONDS), repr=False, compare=False
    )
    """The texts of records that were asked for last, for minutes; what is settled does not change."""
    exports: MadeOnce[str, str] = field(
        default_factory=lambda: MadeOnce(most=0, patience=_PATIENCE), repr=False, compare=False
    )
    """Nobody's data is kept here: what people take away is made for one at a time."""
    stuck: dict[str, Stuck] = field(default_factory=dict, repr=False, compare=False)
    """Rounds that failed to go on when they were last tried, by id."""
    missed: Counter[str] = field(default_factory=Counter, repr=False, compare=False)
    """How often deadlines could not be kept since the clock last wrote that down, by the kind of fault."""
