"""What an entry of each kind holds: a file with links that fit may still have been written by something else.

Whoever can compute a hash can chain anything. It must not be read as an account, nor end a command in the middle.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

Fits = Callable[[object], bool]
Holds = dict[str, Fits]


def _text(value: object) -> bool:
    return isinstance(value, str)


def _whole(value: object) -> bool:
    return type(value) is int  # true and false are ints as well


def _number(value: object) -> bool:
    """Of what the market said: that it is a whole number is checked before, and by a check that can be taken out."""
    return _whole(value) or isinstance(value, float)


def _flag(value: object) -> bool:
    return isinstance(value, bool)


def _maybe(fits: Fits) -> Fits:
    return lambda value: value is None or fits(value)


def read_object(text: str) -> dict[str, Any]:
    """A message of the market as it was kept, or an empty one where the text is no JSON object.

    >>> read_object('{"ordinal": 7}'), read_object("nothing")
    ({'ordinal': 7}, {})
    """
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _json(value: object) -> bool:
    return isinstance(value, str) and bool(read_object(value))


_ROUND: Holds = {"market": _text, "round_id": _text}
_BID: Holds = {"bid_micros": _whole, "terms_hash": _text, "question": _text, "terms": _text, "body": _text}
_LOTS: Holds = {
    "asked": _flag,
    "draw": _number,
    "chance_numerator": _number,
    "evidence": _json,
    "posted_micros": _maybe(_number),
}
_CHARGE: Holds = {
    "attribute": _text,
    "text": _text,
    "terms_hash": _text,
    "epsilon_nanos": _whole,
    "payment_micros": _whole,
}

_HOLDS: Mapping[str, Holds] = {
    "cap": {"attribute": _text, "cap_nanos": _whole},
    "admitted": {"attribute": _text, "text": _text},
    "elsewhere": {"market": _text, "reports": _whole},
    "enrolled": {"market": _text, "owner_id": _text},
    "bid": _ROUND | _BID,
    "bid-accepted": _ROUND | {"receipt": _json},
    "bid-withdrawn": _ROUND,
    "lots": _ROUND | _LOTS,
    "offer": _ROUND | {"q_numerator": _number, "payment_micros": _number, "stage": _number},
    "question": _ROUND | {"stage": _number, "side": _number},
    "drawn": _ROUND | _CHARGE | {"drawn_at_ms": _whole, "body": _text},
    "sent": _ROUND,
    "accepted": _ROUND,
    "refused": _ROUND,
    "paid": _ROUND,
    "taken-back": _ROUND,
    "received": {"market": _text, "transaction_id": _text, "amount_micros": _whole},
}
_MAY_HOLD: Mapping[str, Fits] = {
    "owner_id": _text,
    "after_ms": _whole,
    "closes_at_ms": _whole,
    "withdrawn_at_ms": _whole,
    "at_ms": _maybe(_whole),
    "receipt": _json,
    "refused": _text,
    "paid_micros": _maybe(_whole),
    "taken_back_micros": _maybe(_whole),
}
"""What entries hold in some accounts, and not in others that were made before there was such a thing."""


def fault_of_entry(fields: Any) -> str:
    """Why this is no entry, or nothing. Kinds that are not known here are a later device's, and are let be.

    >>> fault_of_entry({"kind": "cap", "attribute": "", "cap_nanos": True})
    'its cap_nanos is none'
    """
    if not isinstance(fields, dict) or not isinstance(fields.get("kind"), str):
        return "it has no kind"
    must = _HOLDS.get(fields["kind"])
    if must is None:
        return ""
    may = {name: fits for name, fits in _MAY_HOLD.items() if name in fields}
    wrong = next((name for name, fits in {**may, **must}.items() if name not in fields or not fits(fields[name])), "")
    return f"its {wrong} is none" if wrong else ""
