"""Receipts that the market cannot take back: signed with Ed25519, by the key that a round's frozen terms name.

What is signed is said in :mod:`pdqs.verifying.signatures`. The browser's twin is ``owner/browser/receipts.mjs``.
"""

from __future__ import annotations

from typing import TypeVar

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from pdqs.protocol.device_messages import BidReceipt, BidsRoot, ReportReceipt
from pdqs.verifying import signatures

Receipt = TypeVar("Receipt", BidReceipt, ReportReceipt, BidsRoot)


def signed_bytes(receipt: BidReceipt | ReportReceipt | BidsRoot) -> bytes:
    """What a receipt's signature is over."""
    return signatures.signed_bytes(type(receipt).__name__, receipt.model_dump())


def sign(key: Ed25519PrivateKey, receipt: Receipt) -> Receipt:
    """The receipt with its signature."""
    return receipt.model_copy(update={"signature": key.sign(signed_bytes(receipt)).hex()})


_WEAK_KEYS = frozenset(
    {
        "00" * 32,
        "01" + "00" * 31,
        "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
        "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
        *(f"{last}{'ff' * 30}7f" for last in ("ec", "ed", "ee")),
    }
)
"""The points of order 1, 2, 4 and 8 (RFC 8032, section 5.1), as keys are written, the sign of x left out."""


def is_weak(public_key: str) -> bool:
    """Whether anyone can sign in this key's name, so that its receipts bind nobody.

    >>> is_weak("01" + "00" * 31), is_weak("01" + "00" * 30 + "80"), is_weak("3b" * 32)
    (True, True, False)
    """
    plain = bytearray.fromhex(public_key)
    plain[-1] &= 0x7F
    return plain.hex() in _WEAK_KEYS


def is_signed(public_key: str, receipt: BidReceipt | ReportReceipt | BidsRoot) -> bool:
    """Whether the holder of this key (in hexadecimal) signed this receipt.

    >>> key = Ed25519PrivateKey.from_private_bytes(bytes(32))
    >>> receipt = BidReceipt(round_id="r_" + "0" * 24, terms_hash="0" * 64, bid_micros=1, placed_at_ms=2)
    >>> signed = sign(key, receipt)
    >>> public = key.public_key().public_bytes_raw().hex()
    >>> is_signed(public, signed), is_signed(public, signed.model_copy(update={"bid_micros": 2}))
    (True, False)
    """
    return signatures.is_signed_by(public_key, type(receipt).__name__, receipt.model_dump())
