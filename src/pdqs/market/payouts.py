"""Payouts by the batch: a CSV file for a payment provider. Its confirmation: ``payout_confirmations.py``.

    owed ──make_batch──► waiting ──confirmed: paid──► paid (and entered in the ledger)
                            ├────confirmed: failed──► failed (and owed as before)
                            └──────────call_off────► failed

Who waits in a batch is in no other, and neither is who was paid beyond what was owed (``overpaid.py``). Money moves in
the ledger when the provider says that it moved, once for each reference, whatever file says so again.
"""

from __future__ import annotations

import hmac
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import final

from sqlalchemy import Connection, case, func, select, text, update

from pdqs.market import access
from pdqs.market.context import Market
from pdqs.market.deeds import note_deed
from pdqs.market.idempotency import derived_id
from pdqs.market.identity import server_key
from pdqs.market.looking_up import is_open_still, not_in_a_batch, owed
from pdqs.market.paging import LIMIT, newest_first
from pdqs.market.revocation import require_signed_in
from pdqs.market.store.payout_tables import payout_batches, payout_lines
from pdqs.market.store.schema import accounts, users
from pdqs.market.store.sql import Found, insert_many, insert_new
from pdqs.model.money import Currency
from pdqs.protocol.market_messages import User
from pdqs.protocol.operator_messages import PayoutBatch, PayoutBatchPage
from pdqs.protocol.problems import ConflictError, NotFoundError, ProblemType
from pdqs.tables.delimited import joined
from pdqs.tables.spreadsheet import harmless

MOST_LINES = 2_000
"""How many payouts are in one batch: its confirmation must fit in one request."""
ASKED = ("reference", "user_id", "name", "amount", "currency")
OWED = ("user_id", "name", "amount", "currency", "on_its_way", "balance_micros")


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class OnItsWay:
    """What an owner gets or has by a provider and what no entry of the ledger tells of yet."""

    waiting_micros: int = 0
    """A provider was asked for it, and has not told of it."""
    over_micros: int = 0
    """A provider has paid it beyond what was owed, and it is not seen to."""

    @property
    def micros(self) -> int:
        """All of it."""
        return self.waiting_micros + self.over_micros

    def left_of(self, balance_micros: int, money: Currency) -> int:
        """How much of a balance can be paid by hand beside it, so that nobody is paid twice.

        >>> OnItsWay(waiting_micros=6_500_000).left_of(7_509_999, Currency())
        1000000
        """
        return money.payable(max(0, balance_micros - self.micros))


def make_batch(market: Market, actor: User, key: str) -> PayoutBatch:
    """Put those whom most is owed, as far as it can be paid, into a batch; the same key makes the same batch."""
    access.require(actor, "operator")
    batch_id, now, money = derived_id("b", actor, key), market.clock(), market.settings.money
    secret = server_key(market, "ids")
    with market.store.write() as connection:
        require_signed_in(connection, actor)
        _alone(connection)
        fresh = {"batch_id": batch_id, "made_at_ms": now, "made_by": actor.user_id}
        if insert_new(connection, payout_batches, fresh):
            known = users.c.erased_at_ms.is_(None)  # no provider pays whom nobody can name
            least = owed().where(known, not_in_a_batch(), accounts.c.balance_micros >= money.step)
            listed = least.order_by(accounts.c.balance_micros.desc(), users.c.user_id).limit(MOST_LINES)
            # Whose name is being erased holds her row: she is gone before this looks, or finds what she waits for.
            # Nobody else need wait: they hold rows by their ids, and these come by what is owed.
            held = listed.with_for_update(read=True, key_share=True, of=users)
            rows = [_line(batch_id, row, money) for row in connection.execute(held).all()]
            if not rows:
                raise ConflictError(ProblemType.NOTHING_TO_PAY, "nobody is owed what can be paid and waits for nothing")
            insert_many(connection, payout_lines, [row | {"reference": _reference(secret, row)} for row in rows])
            note_deed(connection, actor, "batch", batch_id, at_ms=now)
        return batch_by_id(connection, batch_id)


def batches_page(market: Market, actor: User, after: str | None = None, limit: int = LIMIT) -> PayoutBatchPage:
    """Batches, newest first."""
    access.require(actor, "operator")
    with market.store.read() as connection:
        at, name = payout_batches.c.made_at_ms, payout_batches.c.batch_id
        rows, following = newest_first(connection, select(payout_batches), at, name, after, limit)
        return PayoutBatchPage(items=_messages(connection, rows), next=following)


def batch_file(market: Market, actor: User, batch_id: str) -> str:
    """What a provider is to pay, as CSV: those of a batch that wait."""
    access.require(actor, "operator")
    money = market.settings.money
    with market.store.read() as connection:
        batch_by_id(connection, batch_id)
        rows = [row for row in lines_of(connection, batch_id, held=False).values() if row.state == "waiting"]
    cells = [(row.reference, row.user_id, harmless(row.name), amount_text(money, row.amount_micros)) for row in rows]
    return joined(ASKED, [(*own, money.code) for own in cells])


def payables_file(market: Market, actor: User) -> str:
    """All owners with money to come, as CSV: what can be paid to each by hand, and her balance.

    What a provider was asked for and has not told of yet, or has paid beyond what was owed, she has or gets already
    (``on_its_way``), and nobody is to pay it once more: the amount is what is left beside it.
    """
    access.require(actor, "operator")
    money = market.settings.money
    with market.store.read() as connection:
        known = connection.execute(owed().order_by(users.c.user_id)).all()
        elsewhere = on_their_way(connection)
    rows = []
    for row in known:
        coming = elsewhere.get(row.user_id, OnItsWay())
        amounts = [amount_text(money, coming.left_of(row.balance_micros, money)), money.code]
        rows.append((row.user_id, harmless(row.name), *amounts, amount_text(money, coming.micros), row.balance_micros))
    return joined(OWED, rows)


def on_their_way(connection: Connection, user_ids: Collection[str] | None = None) -> dict[str, OnItsWay]:
    """What is on its way to owners, by their ids: to all, or to these."""
    line, theirs = payout_lines.c, is_open_still()
    if user_ids is not None:
        theirs &= line.user_id.in_(user_ids)
    waiting = func.sum(case((line.state == "waiting", line.amount_micros), else_=0)).label("waiting")
    summed = select(line.user_id, waiting, func.sum(line.over_micros).label("over")).where(theirs)
    return {
        row.user_id: OnItsWay(waiting_micros=int(row.waiting), over_micros=int(row.over))
        for row in connection.execute(summed.group_by(line.user_id))
    }


def call_off(market: Market, actor: User, batch_id: str) -> PayoutBatch:
    """Wait no longer for what still waits in a batch: it is owed as before. The provider is told by the operator."""
    access.require(actor, "operator")
    with market.store.write() as connection:
        require_signed_in(connection, actor)
        batch_by_id(connection, batch_id)
        lines_of(connection, batch_id, held=True)
        waiting = (payout_lines.c.batch_id == batch_id) & (payout_lines.c.state == "waiting")
        if connection.execute(update(payout_lines).where(waiting).values(state="failed")).rowcount:
            note_deed(connection, actor, "called-off", batch_id, at_ms=market.clock())
        return batch_by_id(connection, batch_id)


def lines_of(connection: Connection, batch_id: str, *, held: bool) -> dict[str, Found]:
    """The payouts of a batch by reference, with names; ``held`` until the transaction ends."""
    hers = users.c.user_id == payout_lines.c.user_id
    listed = select(payout_lines, users.c.name).join(users, hers).where(payout_lines.c.batch_id == batch_id)
    listed = listed.order_by(payout_lines.c.reference)
    rows = connection.execute(listed.with_for_update(of=payout_lines) if held else listed)
    return {row.reference: row for row in rows}


def _alone(connection: Connection) -> None:
    """Make one batch at a time: two at once would each find the same people waiting for nothing."""
    if connection.dialect.name == "postgresql":
        connection.execute(text("LOCK TABLE payout_batches IN EXCLUSIVE MODE"))


def _line(batch_id: str, row: Found, money: Currency) -> dict[str, object]:
    return {
        "batch_id": batch_id,
        "user_id": row.user_id,
        "amount_micros": money.payable(row.balance_micros),
        "state": "waiting",
    }


def _reference(secret: bytes, line: dict[str, object]) -> str:
    """What a payout is called at the provider: nobody can tell from it who is paid."""
    named = hmac.new(secret, f"payout|{line['batch_id']}|{line['user_id']}".encode(), "sha256").hexdigest()
    return f"p_{str(line['batch_id'])[2:14]}{named[:24]}"


def mark_of_batch(batch_id: str) -> str:
    """A batch in short: how its id begins, and what the name of its file has too.

    >>> mark_of_batch("b_5d41402abc4b2a76b9719d91")
    'b_5d4140'
    """
    return batch_id[:8]


def amount_text(money: Currency, micros: int) -> str:
    """An amount for a machine: a point, no separators, the currency's decimals."""
    return f"{micros // 1_000_000}.{micros % 1_000_000:06d}"[: -(6 - money.decimals) or None].rstrip(".")


def batch_by_id(connection: Connection, batch_id: str) -> PayoutBatch:
    """A batch, or the answer that there is none."""
    rows = connection.execute(select(payout_batches).where(payout_batches.c.batch_id == batch_id)).all()
    if not rows:
        raise NotFoundError(ProblemType.NO_BATCH, "there is no batch of that id")
    return _messages(connection, rows)[0]


def _messages(connection: Connection, rows: Sequence[Found]) -> list[PayoutBatch]:
    states = ("waiting", "paid", "failed")
    counts = [func.sum(case((payout_lines.c.state == state, 1), else_=0)).label(state) for state in states]
    sums = [
        func.sum(case((payout_lines.c.state == state, payout_lines.c.amount_micros), else_=0)).label(f"{state}_micros")
        for state in states[:2]
    ]
    kept_apart = (payout_lines.c.over_micros, payout_lines.c.let_be_micros)
    sums.extend(func.sum(column).label(column.name) for column in kept_apart)
    theirs = payout_lines.c.batch_id.in_([row.batch_id for row in rows])
    listed = select(payout_lines.c.batch_id, *counts, *sums).where(theirs).group_by(payout_lines.c.batch_id)
    found = {row.batch_id: row for row in connection.execute(listed)}
    return [
        PayoutBatch(
            batch_id=row.batch_id,
            made_at_ms=row.made_at_ms,
            made_by=row.made_by,
            **{
                name: int(getattr(found[row.batch_id], name))
                for name in (*states, *(f"{word}_micros" for word in ("waiting", "paid", "over", "let_be")))
            },
        )
        for row in rows
    ]
