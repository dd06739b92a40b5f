"""What a round commits itself to before anyone knows the draws, as bytes that everyone can recompute.

The frozen terms name ``SHA-256("pdqs seed 1\\n" seed)`` of the market's seed and the same with ``nonce`` of the
consumer's nonce, 32 bytes each. When bids close, the root (:mod:`pdqs.rounds.merkle`) over all bids is published, in
the order of pseudonyms; only then are seed and nonce told, and with them every draw
(:func:`pdqs.privacy.draws.committed_words`).

An owner's pseudonym in a round is ``SHA-256("pdqs pseudonym 1\\n" round "\\n" owner)``. It is settled by ids that
nobody chooses for a round, so her own device can tell that it is hers; ids are random, so that it tells nobody else
who she is. A bid's entry in the tree is her pseudonym and her bid in micro-units as 8 bytes. A second root, over the
reports that an answer was made from, is told with the answer.
"""

from __future__ import annotations

import hashlib
from typing import Literal

SECRET_BYTES = 32


def commitment_to(what: Literal["seed", "nonce"], secret: bytes) -> str:
    """The hash by which a secret is named before it is told, in hexadecimal.

    >>> commitment_to("seed", bytes(32)) == commitment_to("nonce", bytes(32))
    False
    """
    return hashlib.sha256(f"pdqs {what} 1\n".encode() + secret).hexdigest()


def pseudonym_of(round_id: str, owner_id: str) -> bytes:
    """An owner's name in one round: 32 bytes.

    >>> pseudonym_of("r_1", "u_1").hex()[:16]
    'c41d37e3b74237f3'
    """
    return hashlib.sha256(f"pdqs pseudonym 1\n{round_id}\n{owner_id}".encode()).digest()


def bid_entry(pseudonym: bytes, bid_micros: int) -> bytes:
    """A bid as an entry of the tree.

    >>> bid_entry(bytes(32), 258)[-3:]
    b'\\x00\\x01\\x02'
    """
    return pseudonym + bid_micros.to_bytes(8, "big")


def report_entry(pseudonym: bytes, code: int) -> bytes:
    """A report as an entry of a tree: over those that came, in the order of pseudonyms, when a round is settled.

    >>> report_entry(bytes(32), 1)[:7]
    b'report\\x00'
    """
    return b"report" + pseudonym + code.to_bytes(8, "big")
