"""What a payment provider says of a batch: read, held against what happened here meanwhile, and entered.

A file that does not fit what was asked for (a reference or an amount that nobody asked for, a word that is neither paid
nor failed, the same reference twice) is refused whole, with its row: nothing of it is entered. What fits is entered row
by row, whatever happened here since. Where someone was paid by hand, or a payout was called off, a row is told by name
and amount; what the provider paid beyond what is owed by then is kept apart, to be seen to (``overpaid.py``), and so
is what is told as paid after it was undone here.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, final

from sqlalchemy import Connection, func, select, update

from pdqs.market import access, ledger, reversals
from pdqs.market.context import Market
from pdqs.market.deeds import note_deed
from pdqs.market.given_up import take_back
from pdqs.market.payout_undoing import standing, transaction_of, undo
from pdqs.market.payouts import batch_by_id, lines_of, mark_of_batch
from pdqs.market.revocation import require_signed_in
from pdqs.market.store.payout_tables import payout_lines
from pdqs.market.store.schema import accounts, postings, transactions
from pdqs.market.store.sql import Found
from pdqs.model.errors import InputError, PdqsError, ensure
from pdqs.model.money import PLAIN, Currency, parse_money, without_name
from pdqs.protocol.market_messages import User
from pdqs.protocol.operator_messages import ConfirmedBatch, PayoutBatch, PayoutRemark
from pdqs.protocol.problems import MarketError, ProblemType, UnprocessableError
from pdqs.tables.lists import read_list, text_of_list

TOLD = ("reference", "status", "amount")
_FILE = Path("the confirmation")

Why = Literal["beyond", "paid-after-all", "by-hand", "failed-after-all", "paid-again"]


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """A row of a confirmation: what the provider says of one payout."""

    row: int
    reference: str
    paid: bool
    amount_micros: int
    or_micros: int | None = None
    """What the amount is with the other sign before its decimals, where it can be read so: "1.250" may be either."""
    is_amount_left_out: bool = False
    """Of what failed nothing was paid, and some say so."""

    def beside(self, line: Found | None) -> Said:
        """The same, with the amount that was asked for where that is one of its readings, or none is told."""
        if line is not None and (self.is_amount_left_out or line.amount_micros == self.or_micros):
            return replace(self, amount_micros=line.amount_micros)
        return self


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
    given_up_micros: int = 0
    """What of it she had given up meanwhile, and is paid all the same."""
    why: Why | None = None


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    """What a confirmation would do."""

    paid: int
    paid_micros: int
    entered_micros: int
    """As much of it as is owed, and was not undone before."""
    again_micros: int
    """As much of it as was undone before: kept apart until an operator says whether it is paid."""
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


def read_confirmation(text: str, money: Currency = PLAIN) -> list[Said]:
    """The rows of a confirmation, in this money; refused whole when one cannot be read or tells of other money.

    >>> read_confirmation("reference,status,amount\\np_1,paid,4.00\\n")[0].amount_micros
    4000000
    """
    try:
        listed = read_list(text, _FILE, TOLD)
        columns = zip(listed.numbers, *(listed.column(name) for name in TOLD), strict=True)
        found = [_said(money, row, *cells) for row, *cells in columns]
        if "currency" in listed.header:
            _refuse_other_money(money, zip(listed.numbers, listed.column("currency"), strict=True))
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
    told = read_confirmation(text, market.settings.money)
    with market.store.read() as connection:
        found = list(_judged(connection, market, batch_id, told, held=False))
    news = [one for one in found if one.is_news]
    paid = [one.said.amount_micros for one in news if one.said.paid]
    return Preview(
        paid=len(paid),
        paid_micros=sum(paid),
        entered_micros=sum(one.entered_micros for one in news),
        again_micros=sum(one.over_micros for one in news if one.why == "paid-again"),
        failed=len(news) - len(paid),
        known=sum(not one.is_news and one.why is None for one in found),
        remarks=_remarks(found),
    )


def confirm_batch(market: Market, actor: User, batch_id: str, text: str, *, came_back: bool = False) -> ConfirmedBatch:
    """Read a provider's confirmation and enter what was paid. Read again, it changes nothing.

    ``came_back``: the money of payouts that failed after they were entered is with the operator again, and they are
    undone whole. Unless she says so they are told and stay as they are, for an old file says the same.
    """
    access.require(actor, "operator")
    told = read_confirmation(text, market.settings.money)
    with market.store.write() as connection:
        require_signed_in(connection, actor)
        found = list(_judged(connection, market, batch_id, told, held=True))
        news = [one for one in found if one.is_news]
        for one in news:
            _enter(connection, one, market.clock())
        undone = [one for one in found if one.why == "failed-after-all" and came_back]
        for one in undone:
            undo(connection, one.line, market.clock())
            note_deed(connection, actor, "came-back", one.line.user_id, at_ms=market.clock())
        if news:
            note_deed(connection, actor, "confirmation", batch_id, at_ms=market.clock())
        batch = batch_by_id(connection, batch_id)
    return ConfirmedBatch(**batch.model_dump(), remarks=_remarks([one for one in found if one not in undone]))


def _refuse_other_money(money: Currency, told: Iterable[tuple[int, str]]) -> None:
    known = {"", money.code.upper(), money.symbol.upper()}
    for row, code in told:
        if money.code and code.upper() not in known:
            raise _unfit(f"row {row} is in {code[:10]!r}, and this market's money is {money.code}")


def _said(money: Currency, row: int, reference: str, status: str, amount: str) -> Said:
    if status.lower() not in ("paid", "failed"):
        raise _unfit(f"row {row}: the status must be paid or failed, not {status[:40]!r}")
    paid, amount = status.lower() == "paid", without_name(amount, money)
    if not paid and not amount:
        return Said(row=row, reference=reference, paid=False, amount_micros=0, is_amount_left_out=True)
    turned = _turned(amount)
    try:
        micros = parse_money(amount, f"row {row}")
    except InputError:
        if turned is None:
            raise
        micros = turned
    return Said(row=row, reference=reference, paid=paid, amount_micros=micros, or_micros=turned)


def _turned(amount: str) -> int | None:
    """An amount as a spreadsheet writes it where a comma comes before the decimals; what was asked for decides."""
    try:
        return parse_money(amount, currency=Currency(mark=","))
    except InputError:
        return None


def _judged(connection: Connection, market: Market, batch_id: str, told: list[Said], *, held: bool) -> Iterator[Judged]:
    """Each row beside its payout. ``held``: payouts and balances stay as they are until the transaction ends."""
    batch: PayoutBatch = batch_by_id(connection, batch_id)
    lines = lines_of(connection, batch_id, held=held)
    told = [said.beside(lines.get(said.reference)) for said in told]
    for said in told:
        if said.reference not in lines:
            raise _unfit(f"row {said.row}: {_whose(connection, said.reference)}")
        _refuse_unasked(lines[said.reference], said, market.settings.money)
    theirs = {lines[said.reference].user_id for said in told}
    balances = _balances(connection, theirs, "owner", held=held)
    given = _balances(connection, theirs, "given-up", held=held)  # it moves only while the owner's own is held
    by_hand = _by_hand(connection, theirs, batch.made_at_ms)
    doubted = [said.reference for said in told if not said.paid and lines[said.reference].state == "paid"]
    entered = standing(connection, doubted)
    for said in told:
        line = lines[said.reference]
        if said.reference in entered:
            amounts = {"entered_micros": sum(entered[said.reference].values()), "over_micros": line.over_micros}
            yield Judged(said=said, line=line, is_news=False, why="failed-after-all", **amounts)
        elif not said.paid:
            yield Judged(said=said, line=line, is_news=line.state == "waiting")
        elif line.state == "paid":
            yield Judged(said=said, line=line, is_news=False)
        elif line.undone:  # an old file, or a later attempt of the provider: an operator says which
            yield Judged(said=said, line=line, is_news=True, over_micros=said.amount_micros, why="paid-again")
        else:
            hers = (balances.get(line.user_id, 0), given.get(line.user_id, 0))
            yield _paid(said, line, *hers, by_hand.get(line.user_id, 0))


def _paid(said: Said, line: Found, owed_micros: int, given_up_micros: int, by_hand_micros: int) -> Judged:
    """A payout that the provider has made: as much of it as is owed is entered, or was and is given up by now."""
    entered = min(owed_micros + given_up_micros, said.amount_micros)
    over = said.amount_micros - entered
    after_all: Why | None = "paid-after-all" if line.state == "failed" else None
    why: Why | None = "beyond" if over else after_all or ("by-hand" if by_hand_micros else None)
    amounts = {"entered_micros": entered, "over_micros": over, "by_hand_micros": by_hand_micros}
    amounts["given_up_micros"] = max(0, entered - owed_micros)
    return Judged(said=said, line=line, is_news=True, why=why, **amounts)


def _whose(connection: Connection, reference: str) -> str:
    """Which batch a payout that is not in this one belongs to."""
    mine = select(payout_lines.c.batch_id).where(payout_lines.c.reference == reference)
    other = connection.scalar(mine)
    found = f"there is no payout {reference[:40]!r} in this batch"
    return f"{found}: it belongs to batch {mark_of_batch(other)}" if other else found


def _refuse_unasked(line: Found, said: Said, money: Currency) -> None:
    if line.amount_micros != said.amount_micros:
        asked, told = money.exact(line.amount_micros), money.exact(said.amount_micros)
        raise _unfit(f"row {said.row}: {asked} was asked for {line.name}, and another amount is told: {told}")


def _enter(connection: Connection, one: Judged, now: int) -> None:
    reference = one.said.reference
    changed = {"state": "paid" if one.said.paid else "failed", "over_micros": one.over_micros}
    connection.execute(update(payout_lines).where(payout_lines.c.reference == reference).values(changed))
    if one.entered_micros:
        account = ledger.account_of("owner", one.line.user_id)
        if one.given_up_micros:
            take_back(connection, one.line, one.given_up_micros, now)
        amounts = {account: -one.entered_micros, ledger.WORLD: one.entered_micros}
        name = transaction_of(reference)
        entry = ledger.Entry(transaction_id=name, kind="payout", at_ms=now, amounts=amounts)
        ensure(ledger.post(connection, entry), f"{name} was entered before, and cannot be once more")


def _balances(
    connection: Connection, user_ids: Collection[str], kind: ledger.AccountKind, *, held: bool
) -> dict[str, int]:
    """What each has in her account of a kind; locked in the order that all transactions keep, before any moves."""
    names = {ledger.account_of(kind, user_id): user_id for user_id in user_ids}
    listed = select(accounts).where(accounts.c.account.in_(names)).order_by(accounts.c.account)
    rows = connection.execute(listed.with_for_update() if held else listed)
    return {names[row.account]: int(row.balance_micros) for row in rows}


def _by_hand(connection: Connection, user_ids: Collection[str], since_ms: int) -> Mapping[str, int]:
    """What an operator entered as paid to each by hand since then, and did not undo."""
    names = {ledger.account_of("owner", user_id): user_id for user_id in user_ids}
    by_hand = transactions.c.transaction_id.startswith("payout:t_", autoescape=True)
    summed = (
        select(postings.c.account, func.sum(postings.c.amount_micros))
        .join(transactions, transactions.c.transaction_id == postings.c.transaction_id)
        .where(postings.c.account.in_(names), transactions.c.kind == "payout", transactions.c.at_ms >= since_ms)
        .where(by_hand, reversals.stands(transactions.c.transaction_id))
    )
    return {names[account]: -int(total) for account, total in connection.execute(summed.group_by(postings.c.account))}


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
