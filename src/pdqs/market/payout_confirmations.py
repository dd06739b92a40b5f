"""What a payment provider says of a batch: read, held against what happened here meanwhile, and entered.

A file that does not fit what was asked for (a reference or an amount that nobody asked for, a word that is neither paid
nor failed, the same reference twice) is refused whole, with its row: nothing of it is entered. What fits is entered row
by row, whatever happened here since. Where someone was paid by hand, or a payout was called off, a row is told by name
and amount; what the provider paid beyond what is owed by then is kept apart, to be seen to (``overpaid.py``).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, final

from sqlalchemy import Connection, func, select, update

from pdqs.market import access, ledger
from pdqs.market.context import Market
from pdqs.market.deeds import note_deed
from pdqs.market.payouts import batch_by_id, lines_of
from pdqs.market.store.payout_tables import payout_lines
from pdqs.market.store.schema import accounts, postings, transactions
from pdqs.market.store.sql import Found
from pdqs.model.errors import PdqsError
from pdqs.model.money import Currency, parse_money
from pdqs.protocol.market_messages import User
from pdqs.protocol.operator_messages import ConfirmedBatch, PayoutBatch, PayoutRemark
from pdqs.protocol.problems import MarketError, ProblemType, UnprocessableError
from pdqs.tables.lists import read_list, text_of_list

TOLD = ("reference", "status", "amount")
_FILE = Path("the confirmation")

Why = Literal["beyond", "paid-after-all", "by-hand", "failed-after-all"]


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """A row of a confirmation: what the provider says of one payout."""

    row: int
    reference: str
    paid: bool
    amount_micros: int


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """A row held against the books: whether it is news, and what of it is owed."""

    said: Said
    line: Found
    is_news: bool
    entered_micros: int = 0
    over_micros: int = 0
    by_hand_micros: int = 0
    why: Why | None = None


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    """What a confirmation would do."""

    paid: int
    paid_micros: int
    entered_micros: int
    """As much of it as is owed."""
    failed: int
    known: int
    """Rows that were entered before."""
    remarks: list[PayoutRemark]


def confirmation_text(raw: bytes) -> str:
    """The text of a confirmation that came as a file."""
    try:
        return text_of_list(raw, _FILE)
    except PdqsError as fault:
        raise _unfit(str(fault)) from None


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


def preview(market: Market, actor: User, batch_id: str, text: str) -> Preview:
    """What a confirmation would do, and what is to be looked at first. Nothing is entered."""
    access.require(actor, "operator")
    told = read_confirmation(text)
    with market.store.read() as connection:
        found = list(_judged(connection, market, batch_id, told, held=False))
    news = [one for one in found if one.is_news]
    paid = [one.said.amount_micros for one in news if one.said.paid]
    return Preview(
        paid=len(paid),
        paid_micros=sum(paid),
        entered_micros=sum(one.entered_micros for one in news),
        failed=len(news) - len(paid),
        known=len(found) - len(news),
        remarks=_remarks(found),
    )


def confirm_batch(market: Market, actor: User, batch_id: str, text: str) -> ConfirmedBatch:
    """Read a provider's confirmation and enter what was paid. Read again, it changes nothing."""
    access.require(actor, "operator")
    told = read_confirmation(text)
    with market.store.write() as connection:
        found = list(_judged(connection, market, batch_id, told, held=True))
        news = [one for one in found if one.is_news]
        for one in news:
            _enter(connection, one, market.clock())
        if news:
            note_deed(connection, actor, "confirmation", batch_id, at_ms=market.clock())
        batch = batch_by_id(connection, batch_id)
    return ConfirmedBatch(**batch.model_dump(), remarks=_remarks(found))


def _said(row: int, reference: str, status: str, amount: str) -> Said:
    if status.lower() not in ("paid", "failed"):
        raise _unfit(f"row {row}: the status must be paid or failed, not {status[:40]!r}")
    micros = parse_money(amount, f"row {row}")
    return Said(row=row, reference=reference, paid=status.lower() == "paid", amount_micros=micros)


def _judged(connection: Connection, market: Market, batch_id: str, told: list[Said], *, held: bool) -> Iterator[Judged]:
    """Each row beside its payout. ``held``: payouts and balances stay as they are until the transaction ends."""
    batch: PayoutBatch = batch_by_id(connection, batch_id)
    lines = lines_of(connection, batch_id, held=held)
    for said in told:
        _refuse_unasked(lines.get(said.reference), said, market.settings.money)
    theirs = {lines[said.reference].user_id for said in told if said.paid}
    balances = _balances(connection, theirs, held=held)
    by_hand = _by_hand(connection, theirs, batch.made_at_ms)
    undone = _undone(connection, [said.reference for said in told if not said.paid])
    for said in told:
        line = lines[said.reference]
        if not said.paid:
            failed_after_all = line.state == "paid" and said.reference not in undone
            why: Why | None = "failed-after-all" if failed_after_all else None
            yield Judged(said=said, line=line, is_news=line.state == "waiting", why=why)
        elif line.state == "paid":
            yield Judged(said=said, line=line, is_news=False)
        else:
            yield _paid(said, line, balances.get(line.user_id, 0), by_hand.get(line.user_id, 0))


def _paid(said: Said, line: Found, owed_micros: int, by_hand_micros: int) -> Judged:
    """A payout that the provider has made: as much of it as is owed is entered."""
    entered = min(owed_micros, said.amount_micros)
    over = said.amount_micros - entered
    after_all: Why | None = "paid-after-all" if line.state == "failed" else None
    why: Why | None = "beyond" if over else after_all or ("by-hand" if by_hand_micros else None)
    amounts = {"entered_micros": entered, "over_micros": over, "by_hand_micros": by_hand_micros}
    return Judged(said=said, line=line, is_news=True, why=why, **amounts)


def _refuse_unasked(line: Found | None, said: Said, money: Currency) -> None:
    if line is None:
        raise _unfit(f"row {said.row}: there is no payout {said.reference[:40]!r} in this batch")
    if line.amount_micros != said.amount_micros:
        asked, told = money.exact(line.amount_micros), money.exact(said.amount_micros)
        raise _unfit(f"row {said.row}: {asked} was asked for {line.name}, and another amount is told: {told}")


def _enter(connection: Connection, one: Judged, now: int) -> None:
    reference = one.said.reference
    changed = {"state": "paid" if one.said.paid else "failed", "over_micros": one.over_micros}
    connection.execute(update(payout_lines).where(payout_lines.c.reference == reference).values(changed))
    if one.entered_micros:
        account = ledger.account_of("owner", one.line.user_id)
        amounts = {account: -one.entered_micros, ledger.WORLD: one.entered_micros}
        name = transaction_of(reference)
        ledger.post(connection, ledger.Entry(transaction_id=name, kind="payout", at_ms=now, amounts=amounts))


def transaction_of(reference: str) -> str:
    """The name of the ledger's entry for a payout of a batch."""
    return f"payout:{reference}"


def _balances(connection: Connection, user_ids: Collection[str], *, held: bool) -> dict[str, int]:
    """What is owed to each; locked in the order that all transactions keep, before any of them moves."""
    names = {ledger.account_of("owner", user_id): user_id for user_id in user_ids}
    listed = select(accounts).where(accounts.c.account.in_(names)).order_by(accounts.c.account)
    rows = connection.execute(listed.with_for_update() if held else listed)
    return {names[row.account]: int(row.balance_micros) for row in rows}


def _by_hand(connection: Connection, user_ids: Collection[str], since_ms: int) -> Mapping[str, int]:
    """What an operator entered as paid to each by hand since then, and did not undo."""
    names = {ledger.account_of("owner", user_id): user_id for user_id in user_ids}
    mirror = transactions.alias("mirror")
    undone = select(mirror.c.transaction_id).where(
        mirror.c.transaction_id == "reversal:" + transactions.c.transaction_id
    )
    summed = (
        select(postings.c.account, func.sum(postings.c.amount_micros))
        .join(transactions, transactions.c.transaction_id == postings.c.transaction_id)
        .where(postings.c.account.in_(names), transactions.c.kind == "payout", transactions.c.at_ms >= since_ms)
        .where(transactions.c.transaction_id.startswith("payout:t_", autoescape=True), ~undone.exists())
    )
    return {names[account]: -int(total) for account, total in connection.execute(summed.group_by(postings.c.account))}


def _undone(connection: Connection, references: Collection[str]) -> set[str]:
    """Payouts of these whose entry an operator has undone: that they failed is known here."""
    mirrors = {f"reversal:{transaction_of(reference)}": reference for reference in references}
    found = select(transactions.c.transaction_id).where(transactions.c.transaction_id.in_(mirrors))
    return {mirrors[name] for name in connection.scalars(found)}


def _remarks(found: list[Judged]) -> list[PayoutRemark]:
    return [
        PayoutRemark(
            row=one.said.row,
            reference=one.said.reference,
            user_id=one.line.user_id,
            name=one.line.name,
            why=one.why,
            amount_micros=one.said.amount_micros,
            entered_micros=one.entered_micros,
            over_micros=one.over_micros,
            by_hand_micros=one.by_hand_micros,
        )
        for one in found
        if one.why is not None
    ]


def _unfit(why: str) -> UnprocessableError:
    detail = f"the confirmation does not fit, and nothing was entered: {why}"
    return UnprocessableError(ProblemType.BAD_CONFIRMATION, detail)
