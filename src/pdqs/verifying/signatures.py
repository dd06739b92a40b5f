"""What a market's signature is over, and whether it holds: Ed25519, by the key that a round's frozen terms name.

What is signed is a line that says what for, then what kind of thing it is, then its fields without the signature as
JSON with sorted keys and no spaces; all of them are texts, whole numbers and null, so that every language writes the
same bytes. A receipt that says whose it is (and, for a report, what was asked) is of form 2, every other thing of form
1. The browser's twin is ``owner/browser/receipts.mjs``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from pdqs.model.errors import MissingExtraError

REPORT = "ReportReceipt"
WHOSE = "pseudonym"
SINCE = (WHOSE, "q_numerator", "stage", "side")
"""What a receipt of form 2 for a report says beside the rest; one for a bid says whose it is."""

_FORM = "receipt_form"


def promises_whose(document: Mapping[str, object]) -> bool:
    """Whether a round's frozen document promises receipts of form 2; one that does not say so was frozen before."""
    return document.get(_FORM) == 2


def says_less(document: Mapping[str, object], receipt: Mapping[str, object]) -> bool:
    """Whether a receipt of form 1 was given in a round whose frozen document promises form 2."""
    return promises_whose(document) and WHOSE not in receipt


def signed_bytes(kind: str, fields: Mapping[str, object]) -> bytes:
    """What a signature is over.

    >>> signed_bytes("BidReceipt", {"b": 1, "a": "x", "signature": "00"})
    b'pdqs receipt 1\\nBidReceipt\\n{"a":"x","b":1}'
    """
    said = {name: value for name, value in fields.items() if name != "signature"}
    form = 2 if WHOSE in said else 1
    text = json.dumps(said, sort_keys=True, separators=(",", ":"))
    return f"pdqs receipt {form}\n{kind}\n{text}".encode()


def is_signed_by(public_key: str, kind: str, fields: Mapping[str, object]) -> bool:
    """Whether the holder of this key (in hexadecimal) signed these fields, their ``signature`` among them."""
    try:
        from cryptography.exceptions import InvalidSignature
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    except ImportError:
        raise MissingExtraError("a signature is checked with an extra package: pip install 'pdqs[owner]'") from None
    try:
        key = Ed25519PublicKey.from_public_bytes(bytes.fromhex(public_key))
        key.verify(bytes.fromhex(str(fields["signature"])), signed_bytes(kind, fields))
    except (ValueError, InvalidSignature):
        return False
    return True
