"""What an owner's device keeps of a round, as a file: her bid's place under the root, and what she was told and paid.

A JSON object with exactly the fields of :class:`OwnProof` and ``format``. It tells her pseudonym, and with it her bid
and report in the record: it is hers to keep, and to show only to whom she trusts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from types import MappingProxyType
from typing import final

from pdqs.model.question import MOST_STAGES
from pdqs.rounds.canonical import written
from pdqs.rounds.commitments import bid_entry
from pdqs.rounds.merkle import InclusionProof, is_included
from pdqs.verifying.signatures import SINCE, WHOSE
from pdqs.verifying.strict import (
    chance,
    constant,
    fields_of,
    hexadecimal,
    micros,
    or_none,
    parsed,
    refuse_other_kind,
    signature,
    truth,
    tuple_of,
    whole_below,
    word,
    words,
)

PROOF_FORMAT = "pdqs proof 3"
FORMAT_BEFORE = "pdqs proof 2"
"""Without the market's receipt: read all the same, and said to leave that open."""
FORMAT_BEFORE_THAT = "pdqs proof 1"
"""Without what she was asked for, too."""
_NO_PROOF = "the proof does not say that it is one: take the file of pdqs owner proof ROUND --out FILE"


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class OwnProof:
    """``place`` and ``path`` lead from her bid to ``bids_root``, which stands for so many ``bids``.

    ``payment_micros`` is what she was offered, where her device reported; ``code`` what it sent (None: nothing), and
    ``paid_micros`` what the market says it paid (None: her device has not heard). ``epsilon_nanos`` is what her device
    charged for that report, and ``stage`` and ``side`` what it was asked about where sides are asked: a market that
    asks one owner for more, or about something else, than its record says is seen by her alone. ``receipt`` is the
    market's signed receipt for her report, field by field: what it says of that, the market cannot deny.
    """

    terms_hash: str
    pseudonym: str
    bid_micros: int
    bids_root: str
    bids: int
    place: int
    path: tuple[str, ...]
    asked: bool
    draw: int
    chance_numerator: int
    posted_micros: int | None
    payment_micros: int | None
    code: int | None
    paid_micros: int | None
    epsilon_nanos: int | None = None
    stage: int | None = None
    side: int | None = None
    receipt: Mapping[str, int | str | None] | None = None

    @staticmethod
    def read(text: str) -> OwnProof:
        """A proof from its JSON text; strictly, as records are read."""
        plain = parsed(text, "the proof")
        refuse_other_kind(plain, "pdqs proof ", _NO_PROOF)
        form = plain.get("format") if isinstance(plain, dict) else None
        readers = {FORMAT_BEFORE: _PROOF_BEFORE, FORMAT_BEFORE_THAT: _PROOF_BEFORE_THAT}
        held = fields_of(plain, readers.get(str(form), _PROOF), "the proof")
        held.pop("format")
        return OwnProof(**held)

    def text(self) -> str:
        """The proof as it is written."""
        return written({"format": PROOF_FORMAT, **asdict(self)})

    def leads_to(self, root: str) -> bool:
        """Whether her bid is among those that this root was published over."""
        path = tuple(bytes.fromhex(beside) for beside in self.path)
        proof = InclusionProof(place=self.place, leaves=self.bids, path=path)
        return is_included(bid_entry(bytes.fromhex(self.pseudonym), self.bid_micros), proof, bytes.fromhex(root))


_COUNT = whole_below(10**9 + 1)
_PROOF_BEFORE_THAT = MappingProxyType(
    {
        "format": constant(FORMAT_BEFORE_THAT),
        "terms_hash": hexadecimal,
        "pseudonym": hexadecimal,
        "bid_micros": micros,
        "bids_root": hexadecimal,
        "bids": _COUNT,
        "place": _COUNT,
        "path": tuple_of(hexadecimal),
        "asked": truth,
        "draw": word,
        "chance_numerator": chance,
        "posted_micros": or_none(micros),
        "payment_micros": or_none(micros),
        "code": or_none(whole_below(2**31)),
        "paid_micros": or_none(micros),
    }
)
_STAGE, _SIDE = or_none(whole_below(MOST_STAGES + 1)), or_none(whole_below(2**31))
_PROOF_BEFORE = MappingProxyType(
    {
        **_PROOF_BEFORE_THAT,
        "format": constant(FORMAT_BEFORE),
        "epsilon_nanos": or_none(whole_below(2**53)),
        "stage": _STAGE,
        "side": _SIDE,
    }
)
_RECEIPT_BEFORE = MappingProxyType(
    {
        "round_id": words,
        "terms_hash": hexadecimal,
        "code": whole_below(2**31),
        "received_at_ms": whole_below(2**53),
        "payment_micros": micros,
        "ordinal": _COUNT,
        "signature": signature,
    }
)
_RECEIPT = MappingProxyType(
    {**_RECEIPT_BEFORE, WHOSE: hexadecimal, "q_numerator": word, "stage": _STAGE, "side": _SIDE}
)


def _receipt(plain: object, where: str) -> Mapping[str, int | str | None]:
    """A receipt of either form; one that says whose it is or anything of what was asked says all of it."""
    says = isinstance(plain, dict) and any(name in plain for name in SINCE)
    return fields_of(plain, _RECEIPT if says else _RECEIPT_BEFORE, where)


_PROOF = MappingProxyType(
    {**_PROOF_BEFORE, "format": constant(PROOF_FORMAT), "receipt": or_none(_receipt)},
)
