"""Money that somebody gave up when her name was erased: no longer owed to her, and still with the market.

It is in ``given-up:ID``, an account of its own, from the transaction that erased her. What a provider was asked to pay
before that, and has paid, is taken from there: she has it. Who moves money there holds her payouts and her own account
first, in that order, so that nobody sees half of it or waits for the other.
"""

from __future__ import annotations

from sqlalchemy import Connection, func, select

from pdqs.market import ledger
from pdqs.market.store.schema import accounts, postings
from pdqs.market.store.sql import Found
from pdqs.model.errors import ensure
from pdqs.protocol.operator_messages import Overpaid


def held_balance(connection: Connection, account: str) -> int:
    """What an account holds, and goes on holding until the transaction ends."""
    hers = select(accounts.c.balance_micros).where(accounts.c.account == account)
    return int(connection.scalar(hers.with_for_update()) or 0)


def give_up(connection: Connection, account: str, micros: int, now: int) -> None:
    """Take what its owner gives up off an account, once and for all."""
    if micros:
        given = ledger.account_of("given-up", account.partition(":")[2])
        _post(connection, given, {account: -micros, given: micros}, now)


def take_back(connection: Connection, line: Found | Overpaid, micros: int, now: int, over_micros: int = 0) -> None:
    """Put as much back onto an owner's account as this payout, which was on its way, has paid her.

    ``over_micros``: what was kept apart of it, where it is taken off that.
    """
    given, owner = ledger.account_of("given-up", line.user_id), ledger.account_of("owner", line.user_id)
    _post(connection, _name(line, *([str(over_micros)] if over_micros else [])), {given: -micros, owner: micros}, now)


def give_up_again(connection: Connection, line: Found, now: int) -> None:
    """This payout did not stay paid: what is taken back for it, if anything, is given up again."""
    micros = taken_back(connection, line.reference, line.user_id)
    if micros:
        given, owner = ledger.account_of("given-up", line.user_id), ledger.account_of("owner", line.user_id)
        _post(connection, _name(line, "undone"), {owner: -micros, given: micros}, now)


def taken_back(connection: Connection, reference: str, user_id: str) -> int:
    """What was taken back of what she gave up for a payout, and was not given up again."""
    name, first = postings.c.transaction_id, ledger.account_of("given-up", reference)
    of_it = (name == first) | name.startswith(first + ":", autoescape=True)
    hers = postings.c.account == ledger.account_of("owner", user_id)
    return int(connection.scalar(select(func.sum(postings.c.amount_micros)).where(hers, of_it)) or 0)


def _name(line: Found | Overpaid, *parts: str) -> str:
    """An entry about a payout. It may be undone and paid again any number of times: how often it was is in the name."""
    first = ledger.account_of("given-up", line.reference)
    return ":".join([first, *([str(line.undone)] if line.undone else []), *parts])


def _post(connection: Connection, name: str, amounts: dict[str, int], now: int) -> None:
    entry = ledger.Entry(transaction_id=name, kind="given-up", at_ms=now, amounts=amounts)
    ensure(ledger.post(connection, entry), f"{name} was entered before, and cannot be once more")
