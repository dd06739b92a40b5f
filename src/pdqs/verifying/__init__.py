"""Rounds that anyone can check: a record is read, made again by the core alone, and held against itself.

>>> from pdqs.model.query import Count
>>> from pdqs.rounds.terms import Terms
>>> document = frozen_document("r_1", Terms(query=Count(), budget=2.0), bytes(32), bytes(32))
>>> bids = {bytes([i] * 32): 100_000 * i for i in range(1, 9)}
>>> record = record_of(document, bytes(32), bytes(32), bids, lambda offers: [1 if q else None for q in offers.q])
>>> verify(record).agrees
True
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import final

import numpy as np

from pdqs.model.checks import shown
from pdqs.model.errors import InputError
from pdqs.present.text import Shown, printable
from pdqs.verifying.checks import check_kept, check_outcome, check_promises, failed
from pdqs.verifying.figures import AnswerFigures
from pdqs.verifying.findings import Finding
from pdqs.verifying.making import SOFTWARE, frozen_document, record_of
from pdqs.verifying.own_checks import check_own
from pdqs.verifying.proof import OwnProof
from pdqs.verifying.record import FrozenPromise, RecordLine, RoundRecord, Totals, promise_in
from pdqs.verifying.strict import hexadecimal

__all__ = [
    "AnswerFigures",
    "Finding",
    "OwnProof",
    "RecordLine",
    "RoundRecord",
    "Totals",
    "Verification",
    "frozen_document",
    "record_of",
    "verify",
]

UNSEEN = (
    "that every owner is a person: bids that a market entered in names of its own before the close look like others'",
    "that a report is the one its owner sent, that she was asked for no more than it says, and that she was paid: only"
    " she can tell, with --proof",
    "that reports are honest",
)
"""What no record can show."""


@final
@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Verification(Shown):
    """What a check of a record found. ``agrees``: nothing was found that does not agree."""

    record: RoundRecord
    round_id: str
    findings: tuple[Finding, ...]
    unseen: tuple[str, ...]

    @property
    def agrees(self) -> bool:
        return not failed(self.findings)

    def title(self) -> str:
        wrong, checks = len(failed(self.findings)), len(self.findings)
        unmade = sum(each.verdict == "not checked" for each in self.findings)
        said = f"{wrong} of {checks} checks do not agree" if wrong else "everything agrees"
        if unmade and not wrong:
            said += f" that could be checked ({unmade} of {checks} checks could not be made)"
        return f"Round {printable(self.round_id, 60)}: {said}"

    def rows(self) -> list[tuple[str, str]]:
        return [*((each.name, printable(each.line)) for each in self.findings), ("record", self.record.hash)]

    def notes(self) -> tuple[str, ...]:
        return tuple(f"not shown by a record: {what}" for what in self.unseen)

    def to_dict(self) -> dict[str, object]:
        """Plain values, ready for JSON."""
        return {
            "round": self.round_id,
            "agrees": self.agrees,
            "checks": [asdict(each) for each in self.findings],
            "not_shown": list(self.unseen),
            "record_hash": self.record.hash,
            "terms_hash": self.record.terms_hash,
            "owners": len(self.record.owners),
        }


def verify(
    record: RoundRecord | Mapping[str, object] | str,
    *,
    root: str | None = None,
    terms_hash: str | None = None,
    proof: OwnProof | str | None = None,
) -> Verification:
    """Check the record of a round (itself, its JSON text, or the plain values of that) with the core alone.

    ``root`` and ``terms_hash`` are those you wrote down when they were published, ``proof`` what an owner's own device
    kept (``pdqs owner proof``). A file that is no record is refused with one sentence; one that is, but does not hold
    together, is told check by check.
    """
    with np.errstate(all="ignore"):  # what comes of values beyond all numbers is told as a finding, not by the library
        return _verified(_read(record), root, terms_hash, OwnProof.read(proof) if isinstance(proof, str) else proof)


def _verified(told: RoundRecord, root: str | None, terms_hash: str | None, own: OwnProof | None) -> Verification:
    promise = promise_in(told.terms)
    for kept, what in ((root, "root"), (terms_hash, "terms_hash")):
        if kept is not None:
            hexadecimal(kept, f"the {what} to compare with")
    findings = [
        *check_promises(told, promise),
        *check_kept(told, root, terms_hash),
        *check_outcome(told, promise),
        *([] if own is None else check_own(told, own, promise)),
    ]
    return Verification(
        record=told,
        round_id=promise.round_id,
        findings=tuple(findings),
        unseen=tuple(_unseen(told, promise, root is not None or own is not None)),
    )


def _read(record: RoundRecord | Mapping[str, object] | str) -> RoundRecord:
    if isinstance(record, RoundRecord):
        return record
    if isinstance(record, str):
        return RoundRecord.read(record)
    if isinstance(record, Mapping):
        return RoundRecord.of(dict(record))
    raise InputError(f"a record is its JSON text, or what that holds, got {shown(record)}")


def _unseen(record: RoundRecord, promise: FrozenPromise, kept_root: bool) -> list[str]:
    """What this record leaves open, for this reader."""
    found = list(UNSEEN)
    if not kept_root:
        found.append(
            "that the root was published before seed and nonce were told: write it down when bids close, and give it"
            " as --root"
        )
    if promise.nonce_by != "consumer":
        who = (
            "the market drew the consumer's nonce too"
            if promise.nonce_by
            else "the terms do not say who drew the nonce"
        )
        found.append(f"that nobody knew the draws while bids were taken: {who}")
    if record.software != SOFTWARE:
        ours, theirs = SOFTWARE, printable(record.software, 40)
        found.append(f"that versions agree: it was written by {theirs} and checked by {ours}")
    return found
