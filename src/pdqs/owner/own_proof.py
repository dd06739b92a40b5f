"""What the device kept of a round, as a file to hold against the round's record (:mod:`pdqs.verifying.proof`)."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import final

from pdqs.owner.account import Account, StoredBid
from pdqs.owner.errors import DeviceError
from pdqs.protocol.device_messages import BidsRoot
from pdqs.protocol.receipts import is_signed
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
    evidence, asked = json.loads(lots.evidence), account.question(market, round_id)
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
        epsilon_nanos=None if report is None else report.epsilon_nanos,
        stage=None if asked is None else asked.stage,
        side=None if asked is None else asked.side,
        receipt=None if report is None or report.receipt is None else json.loads(report.receipt),
    )


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Proven:
    """A proof that was kept, and what comes of looking at it again."""

    proof: OwnProof
    counted: bool
    """Whether it leads from her bid to the root."""
    root_signed: bool
    """Whether the root is signed by the key of the terms that she bid on."""


def proven(account: Account, bid: StoredBid) -> Proven | None:
    """The proof that a bid was counted, looked at anew; nothing where the device was told of no draw."""
    lots = account.lots(bid.market, bid.round_id)
    if lots is None:
        return None
    proof, root = proof_of(account, bid.market, bid.round_id), BidsRoot(**json.loads(lots.evidence)["root"])
    return Proven(
        proof=proof,
        counted=proof.leads_to(proof.bids_root),
        root_signed=is_signed(str(json.loads(bid.terms).get("receipt_key")), root),
    )
