"""What the fields of a plan are called in a sentence, and a fault of one with its name before it."""

from __future__ import annotations

from collections.abc import Mapping

NAMES = {
    "kind": "what you want to know",
    "text": "the question",
    "attribute": "the fact",
    "purpose": "why you ask",
    "use": "what it is for",
    "start": "the lowest answer",
    "stop": "the highest answer",
    "step": "the step",
    "labels": "the answers",
    "p": "which quantile",
    "method": "what the answer must stand",
    "budget": "the budget",
    "owners": "the owners you expect",
    "bid_time": "the time to bid",
    "report_time": "the time to report",
    "groups": "who may answer",
    "bid_low": "the lowest price",
    "bid_high": "the highest price",
    "epsilon_max": "the most privacy asked",
    "minimum_owners": "the fewest bids",
}


def named_fault(field: str, why: str) -> str:
    """A fault where it stands apart from its field.

    >>> named_fault("budget", "Give an amount up to 12."), named_fault("", "a part of it cannot be used")
    ('The budget: Give an amount up to 12.', 'A part of it cannot be used.')
    """
    name = NAMES.get(field, "")
    said = f"{name}: {why}" if name else why
    return f"{said[:1].upper()}{said[1:]}{'' if said.endswith('.') else '.'}"


def why_not_priced(faults: Mapping[str, str]) -> str:
    """Why there is no forecast of a plan with these faults, field by field."""
    return " ".join(named_fault(field, why) for field, why in faults.items())
