"""The market's key for receipts: made once, kept in the database, named in every round's frozen terms."""

from __future__ import annotations

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from sqlalchemy import Connection, select

from pdqs.market.context import Market
from pdqs.market.store.schema import receipt_keys
from pdqs.model.errors import ensure
from pdqs.protocol import receipts
from pdqs.protocol.receipts import Receipt


def current_key(connection: Connection, now_ms: int) -> str:
    """The public key, in hexadecimal, that new rounds promise; one is made when there is none."""
    newest = select(receipt_keys.c.public_key).order_by(receipt_keys.c.created_at_ms.desc()).limit(1)
    known = connection.scalar(newest)
    if known is not None:
        return str(known)
    made = Ed25519PrivateKey.generate()
    public = made.public_key().public_bytes_raw().hex()
    row = {"public_key": public, "private_key": made.private_bytes_raw().hex(), "created_at_ms": now_ms}
    connection.execute(receipt_keys.insert().values(row))
    return public


def signed(market: Market, public_key: str, receipt: Receipt) -> Receipt:
    """The receipt, signed by the key that its round promised; a round opened before there were keys has none."""
    return receipts.sign(_private(market, public_key), receipt) if public_key else receipt


def _private(market: Market, public_key: str) -> Ed25519PrivateKey:
    known = market.signers.get(public_key)
    if known is None:
        wanted = select(receipt_keys.c.private_key).where(receipt_keys.c.public_key == public_key)
        with market.store.look() as connection:
            text = connection.scalar(wanted)
        ensure(text is not None, "the key that a round's receipts are signed with is gone")
        known = market.signers[public_key] = Ed25519PrivateKey.from_private_bytes(bytes.fromhex(str(text)))
    return known
