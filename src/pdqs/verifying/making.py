"""A round from its frozen document, secrets, bids and reports: what its record must hold, step by step."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from pdqs import __version__
from pdqs.privacy.draws import committed_words
from pdqs.privacy.loss import Q_UNITS
from pdqs.rounds.canonical import plain_terms, written
from pdqs.rounds.commitments import commitment_to
from pdqs.rounds.offers import Offers
from pdqs.rounds.settlement import settle
from pdqs.rounds.terms import Terms
from pdqs.verifying.figures import Cleared, PublicWords, answer_figures, cleared, reports_of, with_stage
from pdqs.verifying.record import RecordLine, RoundRecord, Totals, promise_in, reports_tree, tree_over

SOFTWARE = f"pdqs {__version__}"

Reporting = Callable[[Offers], Sequence[int | None]]
"""From offers to the codes that come back, None where nothing does; asked once a stage, of those whose turn it is."""


def frozen_document(round_id: str, terms: Terms, seed: bytes, nonce: bytes) -> str:
    """The least that a round's frozen document holds: its id, its terms, and what its draws are committed to."""
    committed = {"seed_hash": commitment_to("seed", seed), "nonce_hash": commitment_to("nonce", nonce)}
    return written({"round": round_id, "terms": plain_terms(terms), **committed})


def words_for(seed: str, nonce: str, names: Sequence[bytes]) -> PublicWords:
    """The public words of each owner, from the two secrets in hexadecimal."""
    return lambda word: committed_words(bytes.fromhex(seed), bytes.fromhex(nonce), names, word)


def lines_of(
    names: Sequence[bytes],
    bid_micros: Sequence[int],
    made: Cleared,
    codes: Sequence[int | None],
    paid_micros: Sequence[int],
) -> tuple[RecordLine, ...]:
    """The rows of a record; all in the order of pseudonyms."""
    offers = made.offers
    columns = {
        "pseudonym": [name.hex() for name in names],
        "bid_micros": bid_micros,
        "draw": made.draws.tolist(),
        "chance_numerator": (offers.chance * Q_UNITS).astype(np.int64).tolist(),
        "q_numerator": (offers.q * Q_UNITS).astype(np.int64).tolist(),
        "posted_micros": made.posted_micros,
        "payment_micros": offers.payment_micros.tolist(),
        "code": codes,
        "paid_micros": paid_micros,
        "stage": offers.stage.tolist(),
        "side": [None if side < 0 else side for side in offers.side.tolist()],
    }
    return tuple(RecordLine(**dict(zip(columns, row, strict=True))) for row in zip(*columns.values(), strict=True))


def _played(made: Cleared, terms: Terms, reporting: Reporting) -> tuple[Cleared, list[int | None]]:
    """Every stage in turn: the offers with all questions, and the reports of each owner in her own stage."""
    codes: list[int | None] = [None] * len(made.offers)
    for stage in range(1, terms.asking.stages + 1):
        if stage > 1:
            made = with_stage(codes, made, terms, stage)
        told, turns = reporting(made.offers), (made.offers.stage == stage).tolist()
        codes = [new if turn else old for old, new, turn in zip(codes, told, turns, strict=True)]
    return made, codes


def record_of(document: str, seed: bytes, nonce: bytes, bids: Mapping[bytes, int], reporting: Reporting) -> RoundRecord:
    """Play a round and write it down: ``bids`` in micro-units by pseudonym, ``reporting`` plays the owners' devices.

    >>> from pdqs.model.query import Count
    >>> terms = Terms(query=Count(), budget=2.0)
    >>> document = frozen_document("r_1", terms, bytes(32), bytes(32))
    >>> bids = {bytes([i] * 32): 100_000 * i for i in range(1, 9)}
    >>> record = record_of(document, bytes(32), bytes(32), bids, lambda offers: [1 if q else None for q in offers.q])
    >>> record.ledger.paid_micros <= 2_000_000
    True
    """
    terms = promise_in(document).terms
    names = sorted(bids)
    bid_micros = [bids[name] for name in names]
    made, codes = _played(cleared(bid_micros, words_for(seed.hex(), nonce.hex(), names), terms), terms, reporting)
    payments = settle(made.offers, reports_of(codes, made.offers, terms), terms)
    return RoundRecord(
        software=SOFTWARE,
        terms=document,
        terms_hash=hashlib.sha256(document.encode()).hexdigest(),
        seed=seed.hex(),
        nonce=nonce.hex(),
        bids_root=tree_over(names, bid_micros).root.hex(),
        reports_root=reports_tree(names, codes).root.hex(),
        owners=lines_of(names, bid_micros, made, codes, payments.micros.tolist()),
        answer=answer_figures(codes, made.offers, terms),
        ledger=Totals(
            escrow_micros=terms.budget_micros,
            paid_micros=payments.total_micros,
            returned_micros=terms.budget_micros - payments.total_micros,
        ),
    )
