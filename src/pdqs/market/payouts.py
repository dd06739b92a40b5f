"""Payouts by the batch: a CSV file for a payment provider, and its confirmation read back.

    owed ──make_batch──► waiting ──confirm: paid──► paid (and entered in the ledger)
                            └────confirm: failed──► failed (and owed as before)

Who waits in a batch is in no other. Money moves in the ledger when the provider says that it moved, once for each
reference, whatever file says so again. A file that does not fit (an unknown reference, another amount, a word that is
neither paid nor failed, the same reference twice) is refused whole, with its row: nothing of it is entered.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import final

from sqlalchemy import Connection, case, func, select, update

from pdqs.market import access, ledger
from pdqs.market.context import Market
from pdqs.market.deeds import note_deed
from pdqs.market.idempotency import derived_id
from pdqs.market.looking_up import not_in_a_batch, owed
from pdqs.market.paging import LIMIT, newest_first
from pdqs.market.store.schema import accounts, payout_batches, payout_lines, users
from pdqs.market.store.sql import Found, insert_many, insert_new
from pdqs.model.errors import PdqsError
from pdqs.model.money import Currency, parse_money
from pdqs.protocol.market_messages import User
from pdqs.protocol.operator_messages import PayoutBatch, PayoutBatchPage
from pdqs.protocol.problems import ConflictError, MarketError, NotFoundError, ProblemType, UnprocessableError
from pdqs.tables.delimited import joined
from pdqs.tables.lists import read_list, text_of_list
from pdqs.tables.spreadsheet import harmless

MOST_LINES = 2_000
"""How many payouts are in one batch: its confirmation must fit in one request."""
ASKED = ("reference", "user_id", "name", "amount", "currency")
TOLD = ("reference", "status", "amount")
_FILE = Path("the confirmation")


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """A row of a confirmation: what the provider says of one payout."""

    row: int
    reference: str
    paid: bool
    amount_micros: int


def make_batch(market: Market, actor: User, key: str) -> PayoutBatch:
    """Put those whom most is owed, as far as it can be paid, into a batch; the same key makes the same batch."""
    access.require(actor, "operator")
    batch_id, now, money = derived_id("b", actor, key), market.clock(), market.settings.money
    with market.store.write() as connection:
        fresh = {"batch_id": batch_id, "made_at_ms": now, "made_by": actor.user_id}
        if insert_new(connection, payout_batches, fresh):
            least = owed().where(not_in_a_batch(), accounts.c.balance_micros >= money.step)
            listed = least.order_by(accounts.c.balance_micros.desc(), users.c.user_id).limit(MOST_LINES)
            rows = [_line(batch_id, row, money) for row in connection.execute(listed).all()]
            if not rows:
                raise ConflictError(ProblemType.NOTHING_TO_PAY, "nobody is owed what can be paid and waits for nothing")
            insert_many(connection, payout_lines, rows)
            note_deed(connection, actor, "batch", batch_id, at_ms=now)
        return _batch(connection, batch_id)


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
        _batch(connection, batch_id)
        hers = users.c.user_id == payout_lines.c.user_id
        listed = select(payout_lines, users.c.name).join(users, hers)
        waiting = listed.where(payout_lines.c.batch_id == batch_id, payout_lines.c.state == "waiting")
        rows = connection.execute(waiting.order_by(payout_lines.c.reference)).all()
    cells = [(row.reference, row.user_id, harmless(row.name), _amount(money, row.amount_micros)) for row in rows]
    return joined(ASKED, [(*own, money.code) for own in cells])


def confirm_batch(market: Market, actor: User, batch_id: str, text: str) -> PayoutBatch:
    """Read a provider's confirmation and enter what was paid. Read again, it changes nothing."""
    access.require(actor, "operator")
    told = read_confirmation(text)
    with market.store.write() as connection:
        _batch(connection, batch_id)
        known = connection.execute(
            select(payout_lines).where(payout_lines.c.batch_id == batch_id).with_for_update()
        ).all()
        lines = {line.reference: line for line in known}
        news = [(said, lines[said.reference]) for said in told if _is_news(lines.get(said.reference), said)]
        for said, line in news:
            _enter(connection, market, said, line)
        if news:
            note_deed(connection, actor, "confirmation", batch_id, at_ms=market.clock())
        return _batch(connection, batch_id)


def read_confirmation(text: str) -> list[Said]:
    """The rows of a confirmation; refused whole when one cannot be read.

    >>> read_confirmation("reference,status,amount\\np_1,paid,4.00\\n")[0].amount_micros
    4000000
    """
    try:
        listed = read_list(text, _FILE, TOLD)
        columns = zip(listed.numbers, *(listed.column(name) for name in TOLD), strict=True)
        found = [_said(row, *cells) for row, *cells in columns]
    except MarketError:
        raise
    except PdqsError as fault:
        raise _unfit(str(fault)) from None
    if not found:
        raise _unfit("it has no rows under its first line")
    seen: dict[str, int] = {}
    for said in found:
        first = seen.setdefault(said.reference, said.row)
        if first != said.row:
            raise _unfit(f"the same reference stands in rows {first} and {said.row}")
    return found


def confirmation_text(raw: bytes) -> str:
    """The text of a confirmation that came as a file."""
    try:
        return text_of_list(raw, _FILE)
    except PdqsError as fault:
        raise _unfit(str(fault)) from None


def _said(row: int, reference: str, status: str, amount: str) -> Said:
    if status.lower() not in ("paid", "failed"):
        raise _unfit(f"row {row}: the status must be paid or failed, not {status[:40]!r}")
    micros = parse_money(amount, f"row {row}")
    return Said(row=row, reference=reference, paid=status.lower() == "paid", amount_micros=micros)


def _is_news(line: Found | None, said: Said) -> bool:
    """Whether a row tells something that is not entered yet; refused when it does not fit what was asked for."""
    if line is None:
        raise _unfit(f"row {said.row}: there is no payout {said.reference[:40]!r} in this batch")
    if line.amount_micros != said.amount_micros:
        raise _unfit(f"row {said.row}: {said.reference} was asked for with another amount")
    state = "paid" if said.paid else "failed"
    if line.state not in ("waiting", state):
        raise _unfit(f"row {said.row}: {said.reference} was confirmed before as {line.state}")
    return bool(line.state == "waiting")


def _enter(connection: Connection, market: Market, said: Said, line: Found) -> None:
    state = "paid" if said.paid else "failed"
    mine = payout_lines.c.reference == said.reference
    connection.execute(update(payout_lines).where(mine).values(state=state))
    if said.paid:
        account = ledger.account_of("owner", line.user_id)
        amounts = {account: -line.amount_micros, ledger.WORLD: line.amount_micros}
        name = f"payout:{said.reference}"
        entry = ledger.Entry(transaction_id=name, kind="payout", at_ms=market.clock(), amounts=amounts)
        try:
            ledger.post(connection, entry)
        except ConflictError:
            raise _unfit(f"row {said.row}: the balance of {line.user_id} no longer covers it") from None


def _line(batch_id: str, row: Found, money: Currency) -> dict[str, object]:
    return {
        "reference": f"p_{batch_id[2:14]}{row.user_id[2:]}",
        "batch_id": batch_id,
        "user_id": row.user_id,
        "amount_micros": money.payable(row.balance_micros),
        "state": "waiting",
    }


def _amount(money: Currency, micros: int) -> str:
    """An amount for a machine: a point, no separators, the currency's decimals."""
    return f"{micros // 1_000_000}.{micros % 1_000_000:06d}"[: -(6 - money.decimals) or None].rstrip(".")


def _batch(connection: Connection, batch_id: str) -> PayoutBatch:
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
    theirs = payout_lines.c.batch_id.in_([row.batch_id for row in rows])
    listed = select(payout_lines.c.batch_id, *counts, *sums).where(theirs).group_by(payout_lines.c.batch_id)
    found = {row.batch_id: row for row in connection.execute(listed)}
    return [
        PayoutBatch(
            batch_id=row.batch_id,
            made_at_ms=row.made_at_ms,
            made_by=row.made_by,
            **{name: int(getattr(found[row.batch_id], name)) for name in (*states, "waiting_micros", "paid_micros")},
        )
        for row in rows
    ]


def _unfit(why: str) -> UnprocessableError:
    detail = f"the confirmation does not fit, and nothing was entered: {why}"
    return UnprocessableError(ProblemType.BAD_CONFIRMATION, detail)
