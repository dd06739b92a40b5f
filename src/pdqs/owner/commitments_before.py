"""What a round's draws must not hang on: seeds and nonces of other rounds. The browser's twin: ``commitments.mjs``.

A commitment is public while bids are open, so that anybody can copy it into a round of his own; only its secret shows
whose it is. So a round is refused where the secret itself was told to this device, or where the market that asks now is
the one that named it before. Where another market named it, one of the two has copied, and no device can tell which:
that is a question to her (:mod:`pdqs.owner.asks`), else anybody could lock her out of anybody's round.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from pdqs.owner.account import Account, Fields
from pdqs.rounds.commitments import commitment_to


def known_by_now(account: Account, market: str, receipt_key: str, terms_hash: str) -> frozenset[str]:
    """Commitments to what is known of other rounds: what was told here, and what this market named in them.

    It is this market by its address, or by a key that signed for her bid; a key that is only named may be copied too.
    """
    signed = _signed_by(account, receipt_key)
    own = [bid for bid in _other_bids(account, terms_hash) if bid["market"] == market or bid["terms_hash"] in signed]
    return frozenset(_told(account)) | frozenset(found for bid in own for found in _named(bid))


def named_elsewhere(account: Account, market: str, commitments: frozenset[str], terms_hash: str) -> list[str]:
    """The other markets whose other rounds, bid in from here by whoever, name one of these commitments."""
    bids = [bid for bid in _other_bids(account, terms_hash) if not commitments.isdisjoint(_named(bid))]
    return sorted({bid["market"] for bid in bids} - {market})


def signs_elsewhere(account: Account, market: str, receipt_key: str) -> list[str]:
    """The other markets where this key signed for her bid: one market of two names, or one that passes another's on."""
    signed = _signed_by(account, receipt_key)
    bids = [e for e in account.entries if e["kind"] == "bid" and e["terms_hash"] in signed]
    return sorted({bid["market"] for bid in bids} - {market})


def _signed_by(account: Account, receipt_key: str) -> set[str]:
    """The hashes of terms that name this key, and under which it signed for a bid: a name alone proves nothing."""
    signed = {json.loads(e["receipt"]).get("terms_hash") for e in account.entries if e["kind"] == "bid-accepted"}
    bids = [e for e in account.entries if e["kind"] == "bid" and e["terms_hash"] in signed]
    return {e["terms_hash"] for e in bids if json.loads(e["terms"]).get("receipt_key") == receipt_key}


def _other_bids(account: Account, terms_hash: str) -> list[Fields]:
    """A round is what its terms say: one of the same name with other terms is another."""
    return [e for e in account.entries if e["kind"] == "bid" and e["terms_hash"] != terms_hash]


def _named(bid: Fields) -> list[str]:
    said = json.loads(bid["terms"])
    return re.findall(
        "[0-9a-f]{64}", json.dumps([said.get(name) for name in ("seed_hash", "nonce_hash")])
    )  # in a list, too


def _told(account: Account) -> Iterator[str]:
    """Of every secret that came with a draw, as a seed and as a nonce, whichever it was."""
    for entry in account.entries:
        lots = json.loads(entry["evidence"]).get("lots") if entry["kind"] == "lots" else None
        for secret in (lots["seed"], lots["nonce"]) if lots else ():
            yield from (commitment_to(what, bytes.fromhex(secret)) for what in ("seed", "nonce"))
