"""Owners with money to come, and what a payment provider says of them."""

from __future__ import annotations

import csv
import io

from market.town import Town
from pdqs.market import ledger, payout_confirmations, payouts
from pdqs.protocol.market_messages import User


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
    asked = asked_for(town, batch_id)
    rows = [{"reference": row["reference"], "status": status, "amount": row["amount"], **changes} for row in asked]
    text = io.StringIO()
    writer = csv.DictWriter(text, payout_confirmations.TOLD)
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()
