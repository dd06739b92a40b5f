"""What an operator of very many people asks for through the typed client: people, payouts by the batch, the books."""

from __future__ import annotations

import secrets

from pdqs.protocol.market_messages import PayablePage, Role, UserPage
from pdqs.protocol.operator_messages import (
    Confirmation,
    ConfirmedBatch,
    DeedPage,
    JournalPage,
    Overpaid,
    OverpaidPage,
    PayoutBatch,
    PayoutBatchPage,
)
from pdqs.protocol.transport import Transport


def page_of(after: str | None, limit: int) -> dict[str, str | int]:
    """What is asked for of a list: so many, after that one (pagination)."""
    return {"limit": limit, **({"after": after} if after else {})}


class OperatorCalls(Transport):
    """What :class:`~pdqs.market.client.MarketClient` does for an operator."""

    def people(
        self, text: str = "", after: str | None = None, limit: int = 50, *, role: Role | None = None
    ) -> UserPage:
        """People by a part of their name, newest first; of one role, if it is said."""
        wanted = {"text": text, **({"role": role} if role else {})}
        return self.ask(UserPage, "GET", "/v1/people", params={**wanted, **page_of(after, limit)})

    def owed(self, text: str = "", after: str | None = None, limit: int = 50) -> PayablePage:
        """Owners with money to come, by a part of their name."""
        return self.ask(PayablePage, "GET", "/v1/owed", params={"text": text, **page_of(after, limit)})

    def payables_file(self) -> str:
        """Everyone with money to come, as a CSV file."""
        return self.text("/v1/payables.csv")

    def journal(self, after: str | None = None, limit: int = 50) -> JournalPage:
        """Every transaction of the ledger, newest first."""
        return self.ask(JournalPage, "GET", "/v1/journal", params=page_of(after, limit))

    def deeds(self, after: str | None = None, limit: int = 50) -> DeedPage:
        """What operators did, newest first."""
        return self.ask(DeedPage, "GET", "/v1/deeds", params=page_of(after, limit))

    # Payouts by the batch

    def make_batch(self, *, key: str = "") -> PayoutBatch:
        """Put what is owed into a batch for a payment provider. No money moves yet."""
        return self.ask(PayoutBatch, "POST", "/v1/payout-batches", key=key or secrets.token_urlsafe(24))

    def batches(self, after: str | None = None, limit: int = 50) -> PayoutBatchPage:
        """Batches of payouts, newest first."""
        return self.ask(PayoutBatchPage, "GET", "/v1/payout-batches", params=page_of(after, limit))

    def batch_file(self, batch_id: str) -> str:
        """What a provider is asked to pay, as a CSV file."""
        return self.text(f"/v1/payout-batches/{batch_id}/file.csv")

    def confirm_batch(self, batch_id: str, text: str, *, came_back: bool = False) -> ConfirmedBatch:
        """Read a provider's confirmation, as the text of its CSV file; again, it changes nothing.

        ``came_back``: what it tells as failed after it was entered as paid is with you again, and is undone.
        """
        path = f"/v1/payout-batches/{batch_id}/confirmation"
        return self.ask(ConfirmedBatch, "POST", path, body=Confirmation(text=text, came_back=came_back))

    def call_off_batch(self, batch_id: str) -> PayoutBatch:
        """Wait no longer for what still waits in a batch: it is owed as before."""
        return self.ask(PayoutBatch, "POST", f"/v1/payout-batches/{batch_id}/call-off")

    # What was paid beyond what was owed

    def overpaid(self, after: str | None = None, limit: int = 50) -> OverpaidPage:
        """What providers paid beyond what was owed, as far as nobody has seen to it."""
        return self.ask(OverpaidPage, "GET", "/v1/overpaid", params=page_of(after, limit))

    def take_off_overpaid(self, reference: str) -> Overpaid:
        """Take it off what is owed to her now, as far as that goes. Sent once: again, it would take off more."""
        return self.ask(Overpaid, "POST", f"/v1/overpaid/{reference}/entry", attempts=1)

    def overpaid_came_back(self, reference: str) -> Overpaid:
        """It did not stay paid: undo all that was entered of it."""
        return self.ask(Overpaid, "POST", f"/v1/overpaid/{reference}/came-back", attempts=1)

    def let_overpaid_be(self, reference: str) -> Overpaid:
        """Close it: the money came back by other means, or is given up."""
        return self.ask(Overpaid, "POST", f"/v1/overpaid/{reference}/let-be", attempts=1)
