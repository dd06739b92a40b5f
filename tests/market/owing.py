"""Owners with money to come, and what a payment provider says of them."""

from __future__ import annotations

import csv
import io

from market.town import Town
from pdqs.market import ledger, overpaid, payout_confirmations, payouts, transfers
from pdqs.protocol.market_messages import Transfer, User
from pdqs.protocol.operator_messages import ConfirmedBatch


def owe(town: Town, amounts: list[int]) -> list[User]:
    """New owners with money to come, as a settlement would leave them."""
    owners = town.add_owners(len(amounts))
    earn(town, dict(zip([owner.user_id for owner in owners], amounts, strict=True)), "test")
    return owners


def earn(town: Town, amounts: dict[str, int], name: str) -> None:
    """Owners earn something (more)."""
    paid = {ledger.account_of("owner", user_id): amount for user_id, amount in amounts.items()}
    total = {**paid, ledger.WORLD: -sum(amounts.values())}
    entry = ledger.Entry(transaction_id=f"settlement:{name}", kind="settlement", at_ms=town.clock(), amounts=total)
    with town.market.store.write() as connection:
        ledger.post(connection, entry)


def asked_for(town: Town, batch_id: str) -> list[dict[str, str]]:
    """The rows of the file for a provider."""
    return list(csv.DictReader(io.StringIO(payouts.batch_file(town.market, town.operator, batch_id))))


def confirmation(town: Town, batch_id: str, status: str = "paid", **changes: str) -> str:
    """What a provider sends back: its rows as asked for, with a status."""
    asked = sorted(asked_for(town, batch_id), key=lambda row: row["user_id"])
    rows = [{"reference": row["reference"], "status": status, "amount": row["amount"], **changes} for row in asked]
    text = io.StringIO()
    writer = csv.DictWriter(text, payout_confirmations.TOLD)
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def by_hand(town: Town, owner: User, micros: int, key: str = "by-hand-01") -> str:
    """Enter that she was paid by other means; gives the id of the entry."""
    transfer = Transfer(user_id=owner.user_id, amount_micros=micros)
    return transfers.pay_out(town.market, town.operator, transfer, key).transaction_id


def batch_of(town: Town, key: str = "the-batch-1") -> tuple[str, str]:
    """A batch of all that is owed, and what a provider says who has paid it."""
    made = payouts.make_batch(town.market, town.operator, key)
    town.clock.advance(1)
    return made.batch_id, confirmation(town, made.batch_id)


def confirmed(town: Town, batch_id: str, text: str) -> ConfirmedBatch:
    """Read what a provider says of a batch."""
    return payout_confirmations.confirm_batch(town.market, town.operator, batch_id, text)


def open_ones(town: Town) -> list[tuple[str, int, int]]:
    """Whom a provider paid too much, how much, and what is owed to her."""
    found = overpaid.overpaid_page(town.market, town.operator).items
    return [(one.name, one.over_micros, one.owed_micros) for one in found]


def owed(town: Town) -> list[int]:
    """What is owed to each owner."""
    return [town.balance(owner) for owner in town.owners]


def reference_of(town: Town) -> str:
    """The payout that is kept apart."""
    return overpaid.overpaid_page(town.market, town.operator).items[0].reference


def standing_payouts(town: Town) -> list[str]:
    """The names of all payouts on the ledger that were not undone, newest first."""
    listed = transfers.journal(town.market, town.operator).items
    return [line.transaction_id for line in listed if line.kind == "payout" and not line.undone]


def partly_beyond(town: Town) -> tuple[User, str, str]:
    """Of four that the provider paid, two were owed, one was taken off later, and one is kept apart."""
    (owner,) = owe(town, [4_000_000])
    batch_id, text = batch_of(town)
    by_hand(town, owner, 2_000_000)
    confirmed(town, batch_id, text)
    earn(town, {owner.user_id: 1_000_000}, "later")
    overpaid.enter(town.market, town.operator, reference_of(town))
    assert (open_ones(town), owed(town)) == ([("owner 1", 1_000_000, 0)], [0])
    return owner, batch_id, text
