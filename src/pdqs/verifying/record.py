"""The record of a settled round: all that anyone needs to make it again, owners under names of this round only.

A JSON object with exactly these fields; money is whole micro-units, chances are whole numbers of 2^-32:

    format      "pdqs record 1", or "pdqs record 2" where sides were asked: then every row has a stage and a side;
                "pdqs record 3" where too few reported for an answer: rows as in 2, of those who reported alone
    software    what wrote it
    terms       the frozen document, as canonical JSON text, and terms_hash, its SHA-256
    seed, nonce what every draw follows from; the document holds their hashes as seed_hash and nonce_hash
    bids_root   the root over all bids that was published when bids were closed
    reports_root  the root over all reports that was told with the answer
    owners      in the order of their pseudonyms, a row each
    answer      what the consumer was told
    ledger      escrow_micros, paid_micros, returned_micros

The bytes that are hashed are those of :mod:`pdqs.rounds.commitments`. Reading is strict: what is not as it would be
written is refused with one sentence. Spaces and the order of fields mean nothing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields, replace
from types import MappingProxyType
from typing import final

import numpy as np

from pdqs.model.checks import shown
from pdqs.model.errors import InputError, InvariantError, TermsError, ensure
from pdqs.model.question import MOST_STAGES
from pdqs.rounds.canonical import written
from pdqs.rounds.commitments import bid_entry, report_entry
from pdqs.rounds.merkle import MerkleTree, merkle_tree
from pdqs.rounds.terms import Terms
from pdqs.verifying.figures import AnswerFigures
from pdqs.verifying.signatures import promises_whose
from pdqs.verifying.strict import (
    chance,
    constant,
    fields_of,
    figure,
    hexadecimal,
    micros,
    or_none,
    parsed,
    refuse_other_kind,
    truth,
    tuple_of,
    whole_below,
    word,
    words,
)

FORMAT = "pdqs record 1"
FORMAT_OF_SIDES = "pdqs record 2"
FORMAT_OF_FEW = "pdqs record 3"
_NO_RECORD = (
    "the record does not say that it is one: take the file of “download its record” on the round's page, or of pdqs"
    " owner proof ROUND --record FILE"
)

MOST_VALUES = 100_000
"""Rounds over domains of more values than this are not checked: a few kilobytes would hold whoever checks them for half
a minute. A market's rounds have at most a tenth of it."""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class RecordLine:
    """One owner: her bid, what the lot and the offer were, her report (None: nothing came), and what she was paid.

    Where sides were asked, ``stage`` is hers and ``side`` the code that she was asked about (None: nothing was asked).
    """

    pseudonym: str
    bid_micros: int
    draw: int
    chance_numerator: int
    q_numerator: int
    posted_micros: int | None
    payment_micros: int
    code: int | None
    paid_micros: int
    stage: int = 1
    side: int | None = None


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """What came in for a round, what owners were paid of it, and what went back."""

    escrow_micros: int
    paid_micros: int
    returned_micros: int


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class RoundRecord:
    """A settled round. Its fields are those of the format; make one with :meth:`read`."""

    software: str
    terms: str
    terms_hash: str
    seed: str
    nonce: str
    bids_root: str
    reports_root: str
    owners: tuple[RecordLine, ...]
    answer: AnswerFigures
    ledger: Totals
    of_few: bool = False
    """Whether only those who reported are in it (:mod:`pdqs.verifying.few_reports`)."""

    @staticmethod
    def read(text: str) -> RoundRecord:
        """A record from its JSON text."""
        return RoundRecord.of(parsed(text, "the record"))

    @staticmethod
    def of(plain: object) -> RoundRecord:
        """A record from the plain values of its JSON."""
        refuse_other_kind(plain, "pdqs record ", _NO_RECORD)
        said = plain.get("format") if isinstance(plain, dict) else None
        form = {FORMAT_OF_SIDES: _RECORD_OF_SIDES, FORMAT_OF_FEW: _RECORD_OF_FEW}.get(str(said), _RECORD)
        held = fields_of(plain, form, "the record")
        held["of_few"] = held.pop("format") == FORMAT_OF_FEW
        record = RoundRecord(**held)
        _refuse_disorder(record.owners)
        return record

    def text(self) -> str:
        """The record as it is written: one text for one record."""
        held = asdict(self)
        if held.pop("of_few"):
            return written({"format": FORMAT_OF_FEW, **held})
        if any(line.stage != 1 or line.side is not None for line in self.owners):
            return written({"format": FORMAT_OF_SIDES, **held})
        owners = [{name: value for name, value in line.items() if name in _LINE} for line in held["owners"]]
        return written({"format": FORMAT, **held, "owners": owners})

    def without_silent(self) -> RoundRecord:
        """The same record with those who reported alone."""
        return replace(self, owners=tuple(line for line in self.owners if line.code is not None), of_few=True)

    @property
    def hash(self) -> str:
        """SHA-256 of that text: whoever has the same was shown the same."""
        return hashlib.sha256(self.text().encode()).hexdigest()

    @property
    def names(self) -> list[bytes]:
        """The owners' pseudonyms, in order."""
        return [bytes.fromhex(line.pseudonym) for line in self.owners]

    @property
    def bid_micros(self) -> list[int]:
        """Their bids."""
        return [line.bid_micros for line in self.owners]

    @property
    def codes(self) -> list[int | None]:
        """Their reports."""
        return [line.code for line in self.owners]

    def tree(self) -> MerkleTree:
        """The tree over the bids as listed."""
        return tree_over(self.names, self.bid_micros)


def tree_over(names: Sequence[bytes], bid_micros: Sequence[int]) -> MerkleTree:
    """The tree over a round's bids, in the order of pseudonyms."""
    return merkle_tree([bid_entry(*pair) for pair in zip(names, bid_micros, strict=True)])


def reports_tree(names: Sequence[bytes], codes: Sequence[int | None]) -> MerkleTree:
    """The tree over the reports that came, in the order of pseudonyms."""
    came = zip(names, codes, strict=True)
    return merkle_tree([report_entry(name, code) for name, code in came if code is not None])


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class FrozenPromise:
    """What a frozen document says that a check needs.

    ``as_written``: whether the document is what its own writer would write.
    """

    round_id: str
    terms: Terms
    seed_hash: str
    nonce_hash: str
    nonce_by: str
    record: str
    minimum_owners: int | None
    only_with_answer: bool
    """Whether the round is called off where even reports of all who are asked could not answer."""
    receipt_key: str
    """The key that the market's receipts are signed with; empty where the document names none."""
    receipts_say_whose: bool
    """Whether it promises receipts of form 2: they say whose they are and what was asked."""
    as_written: bool


def promise_in(document: str) -> FrozenPromise:
    """Read a frozen document."""
    plain = parsed(document, "the frozen document")
    if not isinstance(plain, dict):
        raise InputError("the frozen document must be an object")
    for name in ("round", "terms", "seed_hash", "nonce_hash"):
        if name not in plain:
            raise InputError(f"the frozen document has no {name!r}")
    try:
        with np.errstate(all="ignore"):  # of values beyond all numbers it is said that they cannot be read, once
            terms = Terms.read(plain["terms"])
            ensure(terms.bound_rule is not None, "the terms have no rule")  # a property that refuses one which is none
        as_written = written(plain["terms"]) == terms.canonical() and written(plain) == document
    except TermsError as fault:
        raise InputError(f"the terms cannot be read: {fault}") from None
    except (ValueError, TypeError, KeyError, OverflowError, RecursionError, InvariantError) as fault:
        raise InputError(f"the terms cannot be read: {type(fault).__name__}") from None
    if terms.domain_size > MOST_VALUES:
        raise InputError(f"only rounds about at most {MOST_VALUES:,} values can be checked")
    return FrozenPromise(
        round_id=words(plain["round"], "the frozen document, 'round'"),
        terms=terms,
        seed_hash=hexadecimal(plain["seed_hash"], "the frozen document, 'seed_hash'"),
        nonce_hash=hexadecimal(plain["nonce_hash"], "the frozen document, 'nonce_hash'"),
        nonce_by=_known(plain, "nonce_by", "consumer", "market"),
        record=_known(plain, "record", "answered", "full", "none"),
        minimum_owners=or_none(_COUNT)(plain.get("minimum_owners"), "the frozen document, 'minimum_owners'"),
        only_with_answer=truth(plain.get("only_with_answer", False), "the frozen document, 'only_with_answer'"),
        receipt_key=words(plain.get("receipt_key", ""), "the frozen document, 'receipt_key'"),
        receipts_say_whose=promises_whose(plain),
        as_written=as_written,
    )


def _known(plain: dict[str, object], name: str, *known: str) -> str:
    """A field of a frozen document that has one of a few words, or is not there."""
    said = plain.get(name, "")
    if name in plain and said not in known:
        raise InputError(f"the frozen document, {name!r} must be {' or '.join(map(repr, known))}, got {shown(said)}")
    return str(said)


def _refuse_disorder(lines: Sequence[RecordLine]) -> None:
    for place in range(1, len(lines)):
        before, here = lines[place - 1].pseudonym, lines[place].pseudonym
        if before == here:
            raise InputError(f"the record, 'owners', item {place + 1}: pseudonym {here[:12]}... comes twice")
        if before > here:
            raise InputError(f"the record, 'owners', item {place + 1}: pseudonyms are not in order")


_LINE = MappingProxyType(
    {
        "pseudonym": hexadecimal,
        "bid_micros": micros,
        "draw": word,
        "chance_numerator": chance,
        "q_numerator": word,
        "posted_micros": or_none(micros),
        "payment_micros": micros,
        "code": or_none(whole_below(2**31)),
        "paid_micros": micros,
    }
)

_LINE_OF_SIDES = MappingProxyType({**_LINE, "stage": whole_below(MOST_STAGES + 1), "side": or_none(whole_below(2**31))})

_COUNT = whole_below(2**31)
_ENDS = tuple_of(tuple_of(figure, 2))
_ANSWER = MappingProxyType(
    {
        "level": figure,
        "dishonest_share": figure,
        "owners": _COUNT,
        "asked": _COUNT,
        "reports": _COUNT,
        "labels": tuple_of(words),
        "values": tuple_of(figure),
        "raw": tuple_of(figure),
        "interval": _ENDS,
        "interval_if_dishonest": _ENDS,
        "information": figure,
        "sensitivity": words,
        "warnings": tuple_of(words),
    }
)

_LEDGER = MappingProxyType({field.name: micros for field in fields(Totals)})

_RECORD = MappingProxyType(
    {
        "format": constant(FORMAT),
        "software": words,
        "terms": words,
        "terms_hash": hexadecimal,
        "seed": hexadecimal,
        "nonce": hexadecimal,
        "bids_root": hexadecimal,
        "reports_root": hexadecimal,
        "owners": tuple_of(lambda plain, where: RecordLine(**fields_of(plain, _LINE, where))),
        "answer": lambda plain, where: AnswerFigures(**fields_of(plain, _ANSWER, where)),
        "ledger": lambda plain, where: Totals(**fields_of(plain, _LEDGER, where)),
    }
)

_RECORD_OF_SIDES = MappingProxyType(
    {
        **_RECORD,
        "format": constant(FORMAT_OF_SIDES),
        "owners": tuple_of(lambda plain, where: RecordLine(**fields_of(plain, _LINE_OF_SIDES, where))),
    }
)

_RECORD_OF_FEW = MappingProxyType({**_RECORD_OF_SIDES, "format": constant(FORMAT_OF_FEW)})
