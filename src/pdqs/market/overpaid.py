"""What a provider paid beyond what was owed: seen, and seen to. Until then its owner is in no new batch.

It comes about when somebody in a waiting batch is paid by hand as well. Either she has the money twice, and it is taken
off what she earns later (``enter``) or given up or given back by other means (``let_be``); or the entry by hand told of
the very same payment: then that entry is undone on the ledger, and this one entered.
"""

from __future__ import annotations

from sqlalchemy import Connection, Select, func, select, update

from pdqs.market import access, ledger
from pdqs.market.context import Market
from pdqs.market.deeds import note_deed
from pdqs.market.paging import LIMIT
from pdqs.market.payout_confirmations import transaction_of
from pdqs.market.store.payout_tables import payout_lines
from pdqs.market.store.schema import accounts, users
from pdqs.market.store.sql import Found
from pdqs.protocol.market_messages import User
from pdqs.protocol.operator_messages import Overpaid, OverpaidPage
from pdqs.protocol.problems import ConflictError, NotFoundError, ProblemType


def overpaid_page(market: Market, actor: User, after: str | None = None, limit: int = LIMIT) -> OverpaidPage:
    """Those that nobody has seen to yet, by reference."""
    access.require(actor, "operator")
    listed = _listed().where(payout_lines.c.over_micros > 0, payout_lines.c.reference > (after or ""))
    with market.store.read() as connection:
        rows = connection.execute(listed.order_by(payout_lines.c.reference).limit(limit + 1)).all()
    items = [_message(row) for row in rows[:limit]]
    return OverpaidPage(items=items, next=items[-1].reference if len(rows) > limit else None)


def one_overpaid(market: Market, actor: User, reference: str) -> Overpaid:
    """One of them, or the answer that there is none."""
    access.require(actor, "operator")
    with market.store.read() as connection:
        return _one(connection, reference)


def enter(market: Market, actor: User, reference: str) -> Overpaid:
    """Take it off what is owed to her now, as far as that goes; what is left stays open."""
    access.require(actor, "operator")
    with market.store.write() as connection:
        found = _held(connection, reference)
        amount = min(found.over_micros, found.owed_micros)
        if found.over_micros and not amount:
            raise ConflictError(
                ProblemType.INSUFFICIENT_FUNDS,
                f"nothing is owed to {found.name} now: there is nothing to take it off",
            )
        if amount:
            account = ledger.account_of("owner", found.user_id)
            name = f"{transaction_of(reference)}:{found.over_micros}"  # which falls each time, so that no two are alike
            entry = ledger.Entry(
                transaction_id=name,
                kind="payout",
                at_ms=market.clock(),
                amounts={account: -amount, ledger.WORLD: amount},
            )
            ledger.post(connection, entry)
            _leave(connection, reference, found.over_micros - amount)
            note_deed(connection, actor, "payout", name, at_ms=market.clock())
        return _one(connection, reference)


def let_be(market: Market, actor: User, reference: str) -> Overpaid:
    """Close it: the money came back, or is given up. Nothing moves in the ledger."""
    access.require(actor, "operator")
    with market.store.write() as connection:
        found = _held(connection, reference)
        if found.over_micros:
            _leave(connection, reference, 0)
            note_deed(connection, actor, "let-be", found.user_id, at_ms=market.clock())
        return _one(connection, reference)


def over_of(connection: Connection, user_id: str) -> int:
    """What somebody was paid beyond what was owed, as far as it is open."""
    summed = select(func.sum(payout_lines.c.over_micros)).where(payout_lines.c.user_id == user_id)
    return int(connection.scalar(summed) or 0)


def _held(connection: Connection, reference: str) -> Overpaid:
    """One of them, its payout and its owner's balance locked in that order, as confirmations do."""
    line = connection.execute(
        select(payout_lines).where(payout_lines.c.reference == reference).with_for_update()
    ).one_or_none()
    if line is not None:
        account = ledger.account_of("owner", line.user_id)
        connection.execute(select(accounts).where(accounts.c.account == account).with_for_update())
    return _one(connection, reference)


def _one(connection: Connection, reference: str) -> Overpaid:
    row = connection.execute(_listed().where(payout_lines.c.reference == reference)).one_or_none()
    if row is None:
        raise NotFoundError(ProblemType.NO_PAYOUT, "there is no payout of that reference")
    return _message(row)


def _leave(connection: Connection, reference: str, over_micros: int) -> None:
    mine = payout_lines.c.reference == reference
    connection.execute(update(payout_lines).where(mine).values(over_micros=over_micros))


def _listed() -> Select[object]:
    columns = (payout_lines.c.reference, payout_lines.c.over_micros, users.c.user_id, users.c.name)
    hers = accounts.c.account == "owner:" + users.c.user_id
    owed = func.coalesce(accounts.c.balance_micros, 0).label("owed_micros")
    joined = payout_lines.join(users, users.c.user_id == payout_lines.c.user_id).outerjoin(accounts, hers)
    return select(*columns, owed).select_from(joined)


def _message(row: Found) -> Overpaid:
    return Overpaid(
        reference=row.reference,
        user_id=row.user_id,
        name=row.name,
        over_micros=row.over_micros,
        owed_micros=row.owed_micros,
    )
