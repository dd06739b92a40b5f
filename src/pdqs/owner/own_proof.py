"""What the device kept of a round, as a file to hold against the round's record (:mod:`pdqs.verifying.proof`)."""

from __future__ import annotations

import json

from pdqs.owner.account import Account
from pdqs.owner.errors import DeviceError
from pdqs.rounds.commitments import pseudonym_of
from pdqs.verifying.proof import OwnProof


def proof_of(account: Account, market: str, round_id: str) -> OwnProof:
    """Her bid's place under the published root, and all that she was told, sent and paid, from her own account."""
    bid, lots, report = (
        account.bid(market, round_id),
        account.lots(market, round_id),
        account.report(market, round_id),
    )
    if bid is None or lots is None:
        raise DeviceError(f"this device has seen no draw of round {round_id}: look at its offer first, while it stands")
    evidence = json.loads(lots.evidence)
    return OwnProof(
        terms_hash=bid.terms_hash,
        pseudonym=pseudonym_of(round_id, bid.owner_id).hex(),
        bid_micros=bid.bid_micros,
        bids_root=evidence["root"]["root"],
        bids=evidence["root"]["bids"],
        place=evidence["lots"]["place"],
        path=tuple(evidence["lots"]["path"]),
        asked=lots.asked,
        draw=lots.draw,
        chance_numerator=lots.chance_numerator,
        posted_micros=lots.posted_micros,
        payment_micros=None if report is None else report.payment_micros,
        code=None if report is None or report.accepted_at_ms is None else int(json.loads(report.body)["code"]),
        paid_micros=None if report is None else report.paid_micros,
    )
