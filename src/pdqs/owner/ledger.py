"""The file behind a device: one append-only, hash-chained list of entries in SQLite, and how to speak to markets.

A report is charged in the same transaction that stores its bytes, before anything is sent, and is never given back. The
file's own triggers refuse to change, delete or replace an entry; whoever goes round them breaks the chain, and a broken
chain, a missing last entry or a file that others may read is refused or mended before anything is drawn. The raw value
is not here: the file holds what left the device and nothing else.
"""

from __future__ import annotations

import os
import re
import sqlite3
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TypeVar, final

from pdqs.model.errors import InvariantError
from pdqs.owner.account import (
    FIRST_HASH,
    Account,
    Charge,
    Fields,
    StoredBid,
    StoredReport,
    chained,
    entry_text,
)
from pdqs.owner.addresses import one_address
from pdqs.owner.chain import Chain
from pdqs.owner.errors import CapReached, LedgerError
from pdqs.owner.lifetime_cap import OVERALL, beyond
from pdqs.present.text import printable

_SCHEMA = """
CREATE TABLE IF NOT EXISTS markets (
    market TEXT PRIMARY KEY, name TEXT NOT NULL, token TEXT NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS entries (
    place INTEGER PRIMARY KEY CHECK (place > 0), entry TEXT NOT NULL, hash TEXT NOT NULL
) STRICT;
CREATE TRIGGER IF NOT EXISTS entries_are_not_forgotten BEFORE DELETE ON entries
    BEGIN SELECT RAISE(ABORT, 'an entry stays'); END;
CREATE TRIGGER IF NOT EXISTS entries_are_not_rewritten BEFORE UPDATE ON entries
    BEGIN SELECT RAISE(ABORT, 'an entry is not changed'); END;
CREATE TRIGGER IF NOT EXISTS entries_are_not_replaced BEFORE INSERT ON entries
    WHEN EXISTS (SELECT 1 FROM entries WHERE place = NEW.place)
    BEGIN SELECT RAISE(ABORT, 'an entry is not replaced'); END;
"""
_MADE = frozenset((kind.lower(), name) for kind, name in re.findall(r"(TABLE|TRIGGER) IF NOT EXISTS (\w+)", _SCHEMA))
"""What the schema makes, by kind and name: a file that has all of it need not be written to before it is read."""
Kept = TypeVar("Kept")
_ROT = (sqlite3.Error, UnicodeError)
"""What a damaged file may raise: SQLite's own messages may quote bytes of it that are no text."""
_TOKEN_LETTERS = 43
_OTHERS = stat.S_IRWXG | stat.S_IRWXO
_HEAD = b"SQLite format 3\0"
_OURS = {"entries": {"place", "entry", "hash"}, "caps": {"attribute", "cap_nanos"}}
"""A device's file has the first of these tables, or only the second if it was made before entries were chained."""


@final
class Ledger:
    """The file behind a device. Every method is one transaction; two processes may hold the same file."""

    def __init__(self, path: Path) -> None:
        self._path, self._chain = path, Chain()
        try:
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            is_new = _make_if_new(path)
            self._connection = sqlite3.connect(path, isolation_level=None, timeout=30.0)
        except (OSError, sqlite3.Error) as fault:
            raise _unopened(path, fault) from None
        try:
            found = self._refuse_other(is_new)
            _make_private(path)
            # EXTRA waits for the disk, and for the directory entry of the journal too: a charge survives a power cut.
            self._connection.execute("PRAGMA synchronous = EXTRA")
            self._connection.execute("PRAGMA trusted_schema = OFF")
            if not found >= _MADE:
                self._connection.executescript(f"BEGIN IMMEDIATE; {_SCHEMA} COMMIT;")  # a wait for the disk, not five
            if ("table", "reports") in found:
                self._take_over()
            self.account()
        except (OSError, *_ROT) as fault:
            self._connection.close()
            raise _unopened(path, fault) from None
        except LedgerError:
            self._connection.close()
            raise

    def _refuse_other(self, is_new: bool) -> set[tuple[str, str]]:
        """What the file is made of, by kind and name; a database of something else, if an empty one, stays as it is."""
        columns = "SELECT t.type, t.name, c.name FROM sqlite_master AS t LEFT JOIN pragma_table_info(t.name) AS c"
        made: set[tuple[str, str]] = set()
        found: dict[str, set[str]] = {}
        for kind, name, column in self._connection.execute(columns):
            made.add((kind, name))
            if kind in ("table", "view"):
                found.setdefault(name, set()).add(column)
        known = next((name for name in _OURS if name in found), "")
        if found.get(known) != _OURS.get(known, set()) if found else not is_new:
            raise LedgerError(f"{self._path} is a database, but not a device's ledger: nothing in it was changed")
        return made

    def _take_over(self) -> None:
        """Charges and caps of a file that was made before entries were chained: what was spent stays spent."""
        with self._transaction() as db:
            names = {name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
            if "reports" not in names:  # another process has just done it
                return
            for attribute, cap in db.execute("SELECT attribute, cap_nanos FROM caps").fetchall():
                self._append(db, {"kind": "cap", "attribute": attribute, "cap_nanos": cap})
            columns = "market, round_id, attribute, epsilon_nanos, payment_micros, made_at_ms, CAST(body AS TEXT)"
            for row in db.execute(f"SELECT {columns} FROM reports ORDER BY made_at_ms").fetchall():
                names_of = ("market", "round_id", "attribute", "epsilon_nanos", "payment_micros", "drawn_at_ms", "body")
                fields = dict(zip(names_of, row, strict=True))
                self._append(db, {"kind": "drawn", "text": "", "terms_hash": "", **fields})
            for name in ("reports", "caps", "bids"):
                db.execute(f"ALTER TABLE {name} RENAME TO earlier_{name}")

    def close(self) -> None:
        """Let go of the file."""
        self._connection.close()

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        """All or nothing, with the write lock held from the start so that nobody draws between a check and a charge."""
        try:
            self._connection.execute("BEGIN IMMEDIATE")
        except _ROT as fault:
            raise LedgerError(f"the device's ledger cannot be written: {printable(str(fault))}") from None
        try:
            yield self._connection
            self._connection.execute("COMMIT")
        except BaseException as fault:
            if self._connection.in_transaction:  # on a full disk SQLite has undone it by itself
                self._connection.execute("ROLLBACK")
            if isinstance(fault, _ROT):
                raise LedgerError(f"the device's ledger cannot be written: {printable(str(fault))}") from None
            raise

    @contextmanager
    def _one_state(self) -> Iterator[sqlite3.Connection]:
        """Several looks at one state of the file, though another process may write to it meanwhile."""
        if self._connection.in_transaction:
            yield self._connection
            return
        self._connection.execute("BEGIN")
        try:
            yield self._connection
        finally:
            self._connection.execute("ROLLBACK")

    def account(self) -> Account:
        """All entries, every link of the chain checked."""
        try:
            with self._one_state() as db:
                rows = db.execute("SELECT place, entry, hash FROM entries ORDER BY place").fetchall()
                (counted,) = db.execute("PRAGMA user_version").fetchone()
        except _ROT as fault:
            raise self._broken(printable(str(fault))) from None
        before, entries = FIRST_HASH, []
        for place, (number, text, found) in enumerate(rows, start=1):
            fields = self._chain.entry(before, text, found)
            if number != place or fields is None:
                raise self._broken(f"entry {place} is not the one that was made")
            before = found
            entries.append(fields)
        if counted != len(rows):
            raise self._broken(f"it counted {counted} entries and holds {len(rows)}")
        return Account(tuple(entries))

    def _broken(self, why: str) -> LedgerError:
        return LedgerError(
            f"the device's ledger {self._path} is damaged or was tampered with ({why}): what was spent can no longer be"
            " known, so nothing is drawn; put a whole copy back, and the market's count of your reports will be"
            " compared with it"
        )

    def _append(self, db: sqlite3.Connection, fields: Fields) -> None:
        """Chain one entry to the last. Called with the write lock held."""
        last = db.execute("SELECT place, hash FROM entries ORDER BY place DESC LIMIT 1").fetchone()
        place, before = last or (0, FIRST_HASH)
        text = entry_text(fields)
        db.execute("INSERT INTO entries VALUES (?, ?, ?)", (place + 1, text, chained(before, text)))
        db.execute(f"PRAGMA user_version = {place + 1:d}")  # apart from the table: a lost last entry is noticed

    def note(self, kind: str, **fields: object) -> None:
        """Add one entry; see :mod:`pdqs.owner.account` for the kinds."""
        with self._transaction() as db:
            self.account()
            self._append(db, {"kind": kind, **fields})

    def ensure_writable(self) -> None:
        """Write to the file, and change nothing: whoever is about to use up a code must know that she can keep it."""
        with self._transaction() as db:
            db.execute("INSERT INTO markets VALUES ('', '', ?)", ("0" * _TOKEN_LETTERS,))
            db.execute("DELETE FROM markets WHERE market = ''")

    def enrol(self, market: str, name: str, token: str, owner_id: str = "") -> None:
        """Remember how to speak to a market, and who it says that she is: her draws follow from it."""
        with self._transaction() as db:
            if owner_id and self.account().known_as(one_address(market)) != {owner_id}:
                self._append(db, {"kind": "enrolled", "market": one_address(market), "owner_id": owner_id})
            for (known,) in db.execute("SELECT market FROM markets").fetchall():
                if one_address(known) == one_address(market):
                    db.execute("DELETE FROM markets WHERE market = ?", (known,))
            db.execute("INSERT INTO markets VALUES (?, ?, ?)", (one_address(market), name, token))

    def markets(self) -> dict[str, str]:
        """The markets this device is enrolled in, each with its token."""
        return {market: token for market, (_, token) in sorted(self._enrolled().items())}

    def has_name(self, market: str) -> bool:
        """Whether it is known for whom this device speaks at a market."""
        return bool(self._enrolled()[market][0])

    def _enrolled(self) -> dict[str, tuple[str, str]]:
        """Name and token by market; of one that is kept under two spellings, those of the spelling that is used now."""
        rows = self._connection.execute("SELECT market, name, token FROM markets").fetchall()
        rows.sort(key=lambda row: row[0] == one_address(row[0]))
        return {one_address(market): (name, token) for market, name, token in rows}

    def set_cap(self, attribute: str, cap_nanos: int) -> None:
        """The lifetime cap for one attribute, or for all together (``OVERALL``)."""
        self.note("cap", attribute=attribute, cap_nanos=cap_nanos)

    def keep_bid(self, fields: Fields) -> StoredBid:
        """Store a bid before it is sent. One that was accepted stands: it is given back instead of the new one."""
        market, round_id = fields["market"], fields["round_id"]
        with self._transaction() as db:
            kept = self.account().bid(market, round_id)
            if kept is None or not kept.accepted:
                self._append(db, {"kind": "bid", **fields})
        return _there(self.account().bid(market, round_id))

    def change_bid(self, fields: Fields) -> StoredBid:
        """Store a bid that is to take the place of the one that stands; it stands when the market has signed for it."""
        with self._transaction() as db:
            self._append(db, {"kind": "bid", **fields})
        return self.account().unsigned_bids(fields["market"], fields["round_id"])[-1]

    def keep_first(self, market: str, round_id: str, told: Mapping[str, Fields]) -> Account:
        """Bind a round to what is told of it first, by kind of entry: there is never a second of a kind.

        The account as it is then comes back: another process may have been told something else before.
        """
        with self._transaction() as db:
            before = self.account().kinds(market, round_id)
            for kind in [each for each in told if each not in before]:
                self._append(db, {"kind": kind, "market": market, "round_id": round_id, **told[kind]})
            return self.account()

    def make_report(
        self, charge: Charge, draw: Callable[[], str], admit: Callable[[Account], Sequence[Fields]] = lambda _: ()
    ) -> StoredReport:
        """Charge and store one report, drawing it at most once ever.

        If this round was reported on already, that report comes back and ``draw`` is not called: drawing again would
        spend again. ``admit`` looks at the account as it is then, and refuses or gives what is to be kept beside the
        charge. Beyond the attribute's cap or the one over all, nothing is drawn.
        """
        with self._transaction() as db:
            account = self.account()
            made = account.report(charge.market, charge.round_id)
            if made is not None:
                return made
            agreed = admit(account)
            for name in (charge.attribute, OVERALL):
                now = account.spending(name)
                if charge.epsilon_nanos > now.left_nanos:
                    raise CapReached(beyond(now, charge.epsilon_nanos))
            for fields in (*agreed, {"kind": "drawn", **asdict(charge), "body": draw()}):
                self._append(db, fields)
        return _there(self.account().report(charge.market, charge.round_id))


def _unopened(path: Path, fault: Exception) -> LedgerError:
    why = printable(str(getattr(fault, "strerror", None) or fault))
    return LedgerError(f"the device's ledger {path} cannot be opened: {why}")


def _make_if_new(path: Path) -> bool:
    """Make the file if there is none; one of another kind, named by mistake, keeps its bytes and its mode.

    Whether it is new, or as good as new: empty.
    """
    file = os.open(path, os.O_CREAT | os.O_RDWR | os.O_NONBLOCK, 0o600)
    try:
        is_file = stat.S_ISREG(os.fstat(file).st_mode)  # and not a pipe, which is read for ever, or /dev/null
        head = os.read(file, len(_HEAD)) if is_file else None
        if head not in (b"", _HEAD):
            raise OSError("it is no ledger, and was left as it is")
        return head == b""
    finally:
        os.close(file)


def _make_private(path: Path) -> None:
    """Let nobody else on this machine read the file; refuse it where that cannot be."""
    if path.stat().st_mode & _OTHERS:
        path.chmod(0o600)
    if path.stat().st_mode & _OTHERS:
        raise OSError("others may read it, and that cannot be changed")


def _there(kept: Kept | None) -> Kept:
    if kept is None:
        raise InvariantError("an entry was stored and is not there")
    return kept
