"""Whether a receipt that a device has kept says less than the terms of its round promise, and how that is told."""

from __future__ import annotations

import json

from pdqs.owner.account import StoredBid
from pdqs.verifying.signatures import says_less

SAYS_LESS = "the market's receipt does not say whose it is, as its terms promise"


def falls_short(bid: StoredBid | None, receipt: str | None) -> bool:
    """Whether a receipt in the round of this bid names nobody where the terms promise a name."""
    return bid is not None and receipt is not None and says_less(json.loads(bid.terms), json.loads(receipt))


def signature_in_words(bid: StoredBid | None, receipt: str | None) -> str:
    """The signature of a kept receipt for people to read, and where it is not the one that was promised, that."""
    signature = str(json.loads(receipt or "{}").get("signature") or "none")
    return f"{signature} ({SAYS_LESS})" if falls_short(bid, receipt) else signature
