"""What ``pdqs market restored`` says: where the copy ends, and what is to be entered again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pdqs.present.times import moment_text

if TYPE_CHECKING:
    from pdqs.market.restoring import LastKnown

AGAIN = """\
What came after that is forgotten. In this order, before anyone else is let in:
  1. Payouts that were made since: enter them again, or owners are owed, and paid, twice. The confirmation of a batch
     that this copy knows is read in again, the others are entered one by one; make no batch before.
  2. Deposits that came since, refunds that were made since, and entries that were undone since.
  3. Whoever was shut out or had her name erased since: again.
  4. People who were let in since: again, and their groups.
  5. Rounds: those that were opened since are gone, those that were open go on with the bids and reports that this
     copy has. Cancel what cannot be right.
  6. A fresh code for everyone else, once the above is done."""


def moments(known: LastKnown) -> str:
    """Where the copy ends, a line to each thing that is looked for first."""
    rows = (
        ("This copy ends", known.clock_ms),
        ("The last payout in it", known.payout_ms),
        ("The last refund in it", known.refund_ms),
        ("The last deposit in it", known.deposit_ms),
    )
    lines = [f"{label}: {moment_text(at_ms) if at_ms else 'none'}" for label, at_ms in rows]
    if known.waiting:
        lines.append(f"Payouts that wait in batches: {known.waiting:,}. They may have been paid since.")
    return "\n".join(lines)
