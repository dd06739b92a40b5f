"""Rounds to be checked: played by the core, with draws from a committed seed and nonce."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import numpy as np

import pdqs
from pdqs.privacy.loss import epsilon_nanos
from pdqs.rounds.canonical import written
from pdqs.rounds.commitments import pseudonym_of
from pdqs.rounds.offers import Offers
from pdqs.verifying import OwnProof, RoundRecord, frozen_document, record_of
from pdqs.verifying.record import promise_in

ROUND = "r_1"
SEED, NONCE = hashlib.sha256(b"seed").digest(), hashlib.sha256(b"nonce").digest()

Plain = dict[str, Any]


def played(terms: pdqs.Terms, owners: int = 60, *, silent: int = 0, **said: object) -> RoundRecord:
    """An honest round among so many owners, of whom the first few who are asked stay silent; ``said`` is what its
    document says beside the least."""
    rng = np.random.default_rng(11)
    bids = {pseudonym_of(ROUND, f"u_{i}"): int(rng.integers(50_000, 1_000_000)) for i in range(owners)}
    values = rng.integers(0, terms.domain_size, owners)

    def reporting(offers: Offers) -> list[int | None]:
        told = pdqs.randomise(terms.domain.decode(values), offers, rng)
        asked = np.flatnonzero(offers.asked)[silent:]
        codes: list[int | None] = [None] * len(offers)
        for row in asked.tolist():
            codes[row] = int(told.codes[row])
        return codes

    document = written({**json.loads(frozen_document(ROUND, terms, SEED, NONCE)), **said})
    return record_of(document, SEED, NONCE, bids, reporting)


def plain(record: RoundRecord) -> Plain:
    """What a forger starts from: the JSON of a record."""
    found: Plain = json.loads(record.text())
    return found


def asked_row(told: Plain) -> Plain:
    """An owner who was asked, and reported."""
    row: Plain = next(row for row in told["owners"] if row["code"] is not None)
    return row


def kept_by(record: RoundRecord, pseudonym: str) -> OwnProof:
    """What the device of one owner keeps of an honest round."""
    place, kappa = [line.pseudonym for line in record.owners].index(pseudonym), promise_in(record.terms).terms.kappa
    line, proof = record.owners[place], record.tree().proof(place)
    return OwnProof(
        terms_hash=record.terms_hash,
        pseudonym=pseudonym,
        bid_micros=line.bid_micros,
        bids_root=record.bids_root,
        bids=len(record.owners),
        place=place,
        path=tuple(beside.hex() for beside in proof.path),
        asked=line.q_numerator > 0,
        draw=line.draw,
        chance_numerator=line.chance_numerator,
        posted_micros=line.posted_micros,
        payment_micros=line.payment_micros if line.code is not None else None,
        code=line.code,
        paid_micros=line.paid_micros,
        epsilon_nanos=None if line.code is None else epsilon_nanos(line.q_numerator, kappa),
        stage=None if line.side is None else line.stage,
        side=line.side,
    )
