"""Why a round was cancelled, as a sentence for whoever reads it."""

from __future__ import annotations

from pdqs.protocol.market_messages import Round

_TOLD = {
    "cancelled by its consumer": ("You cancelled this round.", "Its consumer cancelled this round."),
    "cancelled by the operator": ("The operator cancelled this round.", "The operator cancelled this round."),
    "its consumer did not tell her nonce in time": (
        "This round was cancelled: your part of the draw was not told in time.",
        "This round was cancelled: its consumer did not tell her part of the draw in time.",
    ),
}
"""To the consumer and to others, by what the round keeps as its reason."""


def why_called_off(found: Round, *, hers: bool = False) -> str:
    """What became of a cancelled round; ``hers``: said to its consumer."""
    reason = found.reason or ""
    if reason in _TOLD:
        return _TOLD[reason][0 if hers else 1]
    return f"This round was cancelled: {reason}." if reason else "This round was cancelled."
