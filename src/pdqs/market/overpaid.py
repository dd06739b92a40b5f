"""What a provider paid beyond what was owed: seen, and seen to. Until then its owner is in no new batch.

It comes about when somebody in a waiting batch is paid by hand as well. Either she has the money twice, and it is taken
off what she earns later, or gave up when her name was erased (``enter``), or is left to her or given back by other
means (``let_be``); or the entry by hand told of the very same payment: then that entry is undone on the ledger, and
this one entered.

A payout that was undone here and that a file tells as paid is kept in the same place, whole: she may have the money by
a later attempt of the provider (``enter``), or the file is the old one (``came_back``).
"""

from __future__ import annotations

from sqlalchemy import ColumnElement, Connection, Select, func, select, update

from pdqs.market import access, ledger
from pdqs.market.context import Market
from pdqs.market.deeds import note_deed
from pdqs.market.given_up import take_back
from pdqs.market.paging import LIMIT
from pdqs.market.payout_undoing import held_line, taking_off, undo
from pdqs.market.revocation import require_signed_in
from pdqs.market.store.payout_tables import payout_lines
from pdqs.market.store.schema import accounts, users
from pdqs.market.store.sql import Found
from pdqs.model.errors import ensure
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


def within_reach(found: Overpaid) -> int:
    """How much of it can be taken off what is owed to her now, and what she gave up: she has been paid that."""
    return min(found.over_micros, found.owed_micros + found.given_up_micros)


def enter(market: Market, actor: User, reference: str) -> Overpaid:
    """Take it off what is owed to her now, and what she gave up, as far as that goes; what is left stays open."""
    access.require(actor, "operator")
    with market.store.write() as connection:
        require_signed_in(connection, actor)
        found = _held(connection, reference)
        amount = within_reach(found)
        if found.over_micros and not amount:
            raise ConflictError(
                ProblemType.INSUFFICIENT_FUNDS,
                f"nothing is owed to {found.name} now: there is nothing to take it off",
            )
        if amount:
            account = ledger.account_of("owner", found.user_id)
            if amount > found.owed_micros:
                take_back(connection, found, amount - found.owed_micros, market.clock(), found.over_micros)
            name = taking_off(reference, found.undone, found.over_micros)
            entry = ledger.Entry(
                transaction_id=name,
                kind="payout",
                at_ms=market.clock(),
                amounts={account: -amount, ledger.WORLD: amount},
            )
            ensure(ledger.post(connection, entry), f"{name} was entered before, and cannot be once more")
            _leave(connection, reference, found.over_micros - amount)
            note_deed(connection, actor, "payout", name, at_ms=market.clock())
        return _one(connection, reference)


def let_be(market: Market, actor: User, reference: str) -> Overpaid:
    """Close it: the money came back, or is given up. Nothing moves in the ledger; how much it was stays known."""
    access.require(actor, "operator")
    with market.store.write() as connection:
        require_signed_in(connection, actor)
        found = _held(connection, reference)
        if found.over_micros:
            _leave(connection, reference, 0, let_be_micros=payout_lines.c.let_be_micros + found.over_micros)
            amount = found.over_micros
            note_deed(connection, actor, "let-be", found.user_id, at_ms=market.clock(), amount_micros=amount)
        return _one(connection, reference)


def came_back(market: Market, actor: User, reference: str) -> Overpaid:
    """It did not stay paid, or never was: all that was entered of it is undone, and what was kept apart is closed."""
    access.require(actor, "operator")
    with market.store.write() as connection:
        require_signed_in(connection, actor)
        line = held_line(connection, reference)
        if line is not None and line.state == "paid":
            undo(connection, line, market.clock())
            note_deed(connection, actor, "came-back", line.user_id, at_ms=market.clock())
        return _one(connection, reference)


def _held(connection: Connection, reference: str) -> Overpaid:
    """One of them, and nobody else changes it until the transaction ends."""
    held_line(connection, reference)
    return _one(connection, reference)


def _one(connection: Connection, reference: str) -> Overpaid:
    row = connection.execute(_listed().where(payout_lines.c.reference == reference)).one_or_none()
    if row is None:
        raise NotFoundError(ProblemType.NO_PAYOUT, "there is no payout of that reference")
    return _message(row)


def _leave(connection: Connection, reference: str, over_micros: int, **more: ColumnElement[int]) -> None:
    mine = payout_lines.c.reference == reference
    connection.execute(update(payout_lines).where(mine).values(over_micros=over_micros, **more))


def _listed() -> Select[object]:
    columns = (
        payout_lines.c.reference,
        payout_lines.c.over_micros,
        payout_lines.c.undone,
        users.c.user_id,
        users.c.name,
    )
    joined, balances = payout_lines.join(users, users.c.user_id == payout_lines.c.user_id), []
    for kind, label in (("owner", "owed_micros"), ("given-up", "given_up_micros")):
        hers = accounts.alias()
        joined = joined.outerjoin(hers, hers.c.account == f"{kind}:" + users.c.user_id)
        balances.append(func.coalesce(hers.c.balance_micros, 0).label(label))
    return select(*columns, *balances).select_from(joined)


def _message(row: Found) -> Overpaid:
    return Overpaid(
        reference=row.reference,
        user_id=row.user_id,
        name=row.name,
        over_micros=row.over_micros,
        owed_micros=row.owed_micros,
        given_up_micros=row.given_up_micros,
        undone=row.undone,
    )
