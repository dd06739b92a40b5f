"""The frozen document as a device reads it: what a market's round can say, and nothing else.

The core knows terms that no market opens a round under (a rule with figures of its own, a prior, a scale). A device
refuses them: it would have to hold draws and prices to rules that its twin, ``browser/reading.mjs``, does not know. So
a rule is a name, and the two read the same documents. Beside what is read here a document may say more, which is hashed
with the rest and which no device relies on.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, NoReturn, final

from pydantic import ValidationError

from pdqs.model.errors import TermsError
from pdqs.model.money import MICROS_PER_UNIT
from pdqs.protocol.device_messages import MOST_BID_MICROS, DomainMessage
from pdqs.rounds.canonical import written
from pdqs.rounds.terms import Terms

MOST_DEEP: Final = 32
"""Objects and lists within one another; a document has four."""
MOST_EPSILON: Final = 20.0
MOST_BUDGET: Final = 1e9
_MOST_WHOLE = 2**53 - 1
_NEEDED: Mapping[str, type] = {
    "round": str, "attribute": str, "receipt_key": str, "bids_close_at_ms": int, "report_seconds": int
}  # fmt: skip
RECEIPT_FORMS: Final = (1, 2)
"""What receipts of a round may say; in one that does not say ``receipt_form`` they say nothing of what was asked."""
_TEXTS = ("seed_hash", "nonce_hash", "nonce_by", "asked_by", "purpose", "use")


@final
@dataclass(frozen=True, slots=True)
class Document:
    """What a frozen document says, the terms in it, and whether both are spelled in the one way that they are."""

    said: Mapping[str, object]
    terms: Terms
    as_written: bool


def read_document(text: str) -> Document:
    """Read a frozen document; refused where it is not what a market's round could say."""
    document = _parsed(text)
    if not isinstance(document, dict):
        raise TermsError("it is no object")
    for name, kind in _NEEDED.items():
        if type(document.get(name)) is not kind:
            raise TermsError(f"it has no {name!r} as one is written")
    for name in _TEXTS:
        if not isinstance(document.get(name, ""), str):
            raise TermsError(f"its {name!r} is no text")
    form = document.get("receipt_form", 1)
    if type(form) is not int or form not in RECEIPT_FORMS:
        raise TermsError("its receipts are of a form that this device does not know: is there a newer one of it?")
    groups = document.get("groups", [])
    if not isinstance(groups, list) or not all(isinstance(name, str) for name in groups):
        raise TermsError("its 'groups' are no list of names")
    if not isinstance(plain := document.get("terms"), dict):
        raise TermsError("it has no terms")
    terms = Terms.read(plain)
    _refuse_other_terms(terms)
    _refuse_unshown(terms)
    as_written = written(plain) == terms.canonical() and written(document) == text
    return Document(document, terms, as_written)


def _parsed(text: str) -> object:
    def no_number(constant: str) -> NoReturn:
        raise TermsError(f"{constant} is not a number")

    document = json.loads(text, parse_int=_whole, parse_constant=no_number)
    left = [(document, 1)]
    while left:
        held, deep = left.pop()
        if isinstance(held, float) and not math.isfinite(held):
            raise TermsError("a number in it is endless")
        if isinstance(held, str):
            held.encode()  # half a character is a ValueError
        if not isinstance(held, dict | list):
            continue
        if deep > MOST_DEEP:
            raise TermsError("its nesting is endless")
        parts = [*held, *held.values()] if isinstance(held, dict) else held
        left += [(part, deep + 1) for part in parts]
    return document


def _whole(digits: str) -> int:
    if len(digits) > 17 or abs(int(digits)) > _MOST_WHOLE:
        raise TermsError("a number in it is endless")
    return int(digits)


def _refuse_other_terms(terms: Terms) -> None:
    if not isinstance(terms.rule, str):
        raise TermsError("its rule is not one of those that have a name")
    if terms.prior is not None or terms.scale is not None or terms.priced_as_binary:
        raise TermsError("it has a prior, a scale or a way of pricing that rounds in a market have not")
    ends = [(end, round(end * MICROS_PER_UNIT)) for end in terms.bid_range]
    if not all(micros <= MOST_BID_MICROS and micros / MICROS_PER_UNIT == end for end, micros in ends):
        raise TermsError("its bid range is not in whole millionths, up to 1,000")
    if terms.epsilon_max > MOST_EPSILON or terms.budget > MOST_BUDGET:
        raise TermsError(f"its cap is above {MOST_EPSILON:g}, or its budget above {MOST_BUDGET:,.0f}")


def _refuse_unshown(terms: Terms) -> None:
    """The answers must fit into the message that shows them to her; what else is shown is compared with it."""
    if not all(isinstance(label, str) for label in terms.domain.labels):
        raise TermsError("an answer in it is a number where answers are words")
    try:
        DomainMessage.of(terms.domain)
    except ValidationError:
        raise TermsError(
            "its answers cannot be shown: one is empty, too long or holds marks that turn writing around, or there are"
            " more than 10,000"
        ) from None
