"""The device's own account of the privacy it has spent, in one local SQLite file.

Per attribute, the plain sum of eps over all reports ever made, against a lifetime cap (section 7 of docs/theory): no
delta, and right even when later rounds depend on earlier ones. A report is charged in the same transaction that stores
its bytes, before anything is sent, and is never given back: the file's own triggers refuse to change or delete one. The
raw value is not here: the file holds what left the device and nothing else.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import final

from pdqs.model.errors import InvariantError, ensure
from pdqs.owner.errors import CapReached, LedgerError
from pdqs.owner.price import NANOS_PER_EPSILON

DEFAULT_CAP_NANOS = 10 * NANOS_PER_EPSILON

_SCHEMA = """
CREATE TABLE IF NOT EXISTS markets (
    market TEXT PRIMARY KEY, name TEXT NOT NULL, token TEXT NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS caps (
    attribute TEXT PRIMARY KEY, cap_nanos INTEGER NOT NULL CHECK (cap_nanos >= 0)
) STRICT;
CREATE TABLE IF NOT EXISTS bids (
    market TEXT NOT NULL, round_id TEXT NOT NULL, bid_micros INTEGER NOT NULL CHECK (bid_micros >= 0),
    body BLOB NOT NULL, acknowledged INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (market, round_id)
) STRICT;
CREATE TABLE IF NOT EXISTS reports (
    market TEXT NOT NULL, round_id TEXT NOT NULL, attribute TEXT NOT NULL,
    epsilon_nanos INTEGER NOT NULL CHECK (epsilon_nanos >= 0), payment_micros INTEGER NOT NULL,
    body BLOB NOT NULL, made_at_ms INTEGER NOT NULL, acknowledged INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (market, round_id)
) STRICT;
CREATE TRIGGER IF NOT EXISTS reports_are_not_forgotten BEFORE DELETE ON reports
    BEGIN SELECT RAISE(ABORT, 'a report that was made stays charged'); END;
CREATE TRIGGER IF NOT EXISTS reports_are_not_rewritten
    BEFORE UPDATE OF market, round_id, attribute, epsilon_nanos, payment_micros, body, made_at_ms ON reports
    BEGIN SELECT RAISE(ABORT, 'a report that was made is not changed'); END;
"""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Charge:
    """What one report will cost: decided before it is drawn."""

    market: str
    round_id: str
    attribute: str
    epsilon_nanos: int
    payment_micros: int
    made_at_ms: int


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class StoredReport:
    """A report as it was stored: these bytes, and no others, are sent however often it is tried."""

    market: str
    round_id: str
    attribute: str
    epsilon_nanos: int
    payment_micros: int
    made_at_ms: int
    body: bytes
    acknowledged: bool


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class StoredBid:
    """The owner's own record of her price in a round, which offers are held against."""

    bid_micros: int
    body: bytes
    acknowledged: bool


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Spending:
    """Privacy spent on one attribute, against its lifetime cap."""

    attribute: str
    spent_nanos: int
    cap_nanos: int
    reports: int

    @property
    def left_nanos(self) -> int:
        """What may still be spent; never below 0, though a cap may be lowered under what is spent."""
        return max(self.cap_nanos - self.spent_nanos, 0)


@final
class Ledger:
    """The file behind a device. Every method is one transaction; two processes may hold the same file."""

    def __init__(self, path: Path) -> None:
        try:
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))  # nobody else on this machine may read it
            self._connection = sqlite3.connect(path, isolation_level=None, timeout=30.0)
            # EXTRA waits for the disk, and for the directory entry of the journal too: a charge survives a power cut.
            self._connection.execute("PRAGMA synchronous = EXTRA")
            self._connection.executescript(_SCHEMA)
        except (OSError, sqlite3.Error) as fault:
            raise LedgerError(f"the device's ledger {path} cannot be opened: {fault}") from None

    def close(self) -> None:
        """Let go of the file."""
        self._connection.close()

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        """All or nothing, with the write lock held from the start so that nobody draws between a check and a charge."""
        try:
            self._connection.execute("BEGIN IMMEDIATE")
        except sqlite3.Error as fault:
            raise LedgerError(f"the device's ledger cannot be written: {fault}") from None
        try:
            yield self._connection
        except BaseException:
            self._connection.execute("ROLLBACK")
            raise
        self._connection.execute("COMMIT")

    def enrol(self, market: str, name: str, token: str) -> None:
        """Remember how to speak to a market."""
        with self._transaction() as db:
            db.execute("INSERT OR REPLACE INTO markets VALUES (?, ?, ?)", (market, name, token))

    def markets(self) -> dict[str, str]:
        """The markets this device is enrolled in, each with its token."""
        return dict(self._connection.execute("SELECT market, token FROM markets ORDER BY market").fetchall())

    def set_cap(self, attribute: str, cap_nanos: int) -> None:
        """The lifetime cap for one attribute."""
        with self._transaction() as db:
            db.execute("INSERT OR REPLACE INTO caps VALUES (?, ?)", (attribute, cap_nanos))

    def spending(self, attribute: str) -> Spending:
        """What was spent on one attribute in all markets together, and its cap."""
        (spent, reports) = self._connection.execute(
            "SELECT COALESCE(SUM(epsilon_nanos), 0), COUNT(*) FROM reports WHERE attribute = ?", (attribute,)
        ).fetchone()
        cap = self._connection.execute("SELECT cap_nanos FROM caps WHERE attribute = ?", (attribute,)).fetchone()
        return Spending(
            attribute=attribute,
            spent_nanos=spent,
            cap_nanos=cap[0] if cap else DEFAULT_CAP_NANOS,
            reports=reports,
        )

    def all_spending(self) -> list[Spending]:
        """Every attribute that was ever reported on or given a cap."""
        names = self._connection.execute(
            "SELECT attribute FROM reports UNION SELECT attribute FROM caps ORDER BY attribute"
        ).fetchall()
        return [self.spending(name) for (name,) in names]

    def keep_bid(self, market: str, round_id: str, bid_micros: int, body: bytes) -> StoredBid:
        """Store a bid before it is sent. An acknowledged bid stands: it is given back instead of the new one."""
        with self._transaction() as db:
            db.execute(
                "INSERT INTO bids (market, round_id, bid_micros, body) VALUES (?, ?, ?, ?)"
                " ON CONFLICT DO UPDATE SET bid_micros = excluded.bid_micros, body = excluded.body"
                " WHERE NOT acknowledged",
                (market, round_id, bid_micros, body),
            )
        kept = self.bid(market, round_id)
        if kept is None:
            raise InvariantError("a bid was stored and is not there")
        return kept

    def bid(self, market: str, round_id: str) -> StoredBid | None:
        """The bid this device made in a round, if it made one."""
        row = self._connection.execute(
            "SELECT bid_micros, body, acknowledged FROM bids WHERE market = ? AND round_id = ?", (market, round_id)
        ).fetchone()
        return StoredBid(bid_micros=row[0], body=row[1], acknowledged=bool(row[2])) if row else None

    def make_report(self, charge: Charge, draw: Callable[[], bytes]) -> StoredReport:
        """Charge and store one report, drawing it at most once ever.

        If this round was reported on already, that report comes back and ``draw`` is not called: drawing again would
        spend again. Beyond the cap nothing is drawn.
        """
        with self._transaction() as db:
            made = self.report(charge.market, charge.round_id)
            if made is not None:
                return made
            now = self.spending(charge.attribute)
            if now.spent_nanos + charge.epsilon_nanos > now.cap_nanos:
                raise CapReached(_beyond(now, charge.epsilon_nanos))
            db.execute(
                "INSERT INTO reports VALUES (?, ?, ?, ?, ?, ?, ?, 0)",
                (
                    charge.market,
                    charge.round_id,
                    charge.attribute,
                    charge.epsilon_nanos,
                    charge.payment_micros,
                    draw(),
                    charge.made_at_ms,
                ),
            )
        stored = self.report(charge.market, charge.round_id)
        if stored is None:
            raise InvariantError("a report was charged for and is not there")
        return stored

    def report(self, market: str, round_id: str) -> StoredReport | None:
        """The report this device made in a round, if it made one."""
        found = self._reports("WHERE market = ? AND round_id = ?", (market, round_id))
        return found[0] if found else None

    def reports(self) -> list[StoredReport]:
        """Everything that ever left this device (or is about to), oldest first."""
        return self._reports("ORDER BY made_at_ms, round_id", ())

    def _reports(self, clause: str, values: tuple[str, ...]) -> list[StoredReport]:
        rows = self._connection.execute(
            "SELECT market, round_id, attribute, epsilon_nanos, payment_micros, made_at_ms, body, acknowledged"
            f" FROM reports {clause}",
            values,
        ).fetchall()
        names = ("market", "round_id", "attribute", "epsilon_nanos", "payment_micros", "made_at_ms", "body")
        return [StoredReport(**dict(zip(names, row, strict=False)), acknowledged=bool(row[7])) for row in rows]

    def acknowledge(self, what: str, market: str, round_id: str) -> None:
        """The market has said that it keeps this bid or report."""
        ensure(what in ("bids", "reports"), "only bids and reports are acknowledged")
        with self._transaction() as db:
            db.execute(f"UPDATE {what} SET acknowledged = 1 WHERE market = ? AND round_id = ?", (market, round_id))


def _beyond(now: Spending, asked_nanos: int) -> str:
    spent, asked, cap = (n / NANOS_PER_EPSILON for n in (now.spent_nanos, asked_nanos, now.cap_nanos))
    return (
        f"attribute {now.attribute!r}: {spent:.4f} of your lifetime cap of {cap:.4f} epsilon is spent, and this report"
        f" would add {asked:.4f}; nothing was drawn and nothing was sent"
    )
