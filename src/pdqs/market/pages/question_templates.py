"""Questions to begin with: each fills in the plan's form, and everything can be changed."""

from __future__ import annotations

from urllib.parse import urlencode

from pdqs.model.names import QueryKind

_STARTS: dict[str, dict[str, str]] = {
    "A share: how many have, do or own something": {
        "kind": QueryKind.COUNT.value,
        "text": "Have you had a flu vaccination this year?",
        "attribute": "flu-vaccination",
    },
    "An average: hours, visits, amounts": {
        "kind": QueryKind.MEAN.value,
        "text": "How many hours did you sleep last night?",
        "attribute": "sleep",
        "start": "0",
        "stop": "14",
        "step": "1",
    },
    "The middle: an income, a rent, an age": {
        "kind": QueryKind.MEDIAN.value,
        "text": "What is your monthly rent, to the nearest 100?",
        "attribute": "rent",
        "start": "0",
        "stop": "3000",
        "step": "100",
    },
    "A choice: how many take each answer": {
        "kind": QueryKind.HISTOGRAM.value,
        "text": "How do you mostly travel to work?",
        "attribute": "commute",
        "labels": "on foot\nby bicycle\nby bus or train\nby car\nI do not travel to work",
    },
}

TEMPLATES = {name: f"/consumer/plan?{urlencode(fields)}" for name, fields in _STARTS.items()}
"""What it is for, and the address of the form filled in with it."""
