"""What only the owner can decide: each is a question to her, and nothing is drawn until she agrees.

A new fact, words that were asked before under another name, a round that was answered from here under another name,
reports that another device made, a market that signs with another key than before.
"""

from __future__ import annotations

from pdqs.owner.account import Account
from pdqs.owner.told import Told

NAMES = ("new fact", "asked before", "answered before", "elsewhere", "new key")


def asks_of(account: Account, market: str, told: Told) -> dict[str, str]:
    """By name, what the owner is asked before anything is drawn."""
    question, found = told.notice.question, {}
    before = account.also_asked_as(question.attribute, question.text)
    if not account.knows(question.attribute):
        found["new fact"] = (
            f"{question.attribute!r} is a fact that you were never asked about before; it gets an account of its own,"
            " so agree only if it is not one of yours under a new name"
        )
    if before and not account.asked_so(question.attribute, question.text):
        found["asked before"] = (
            f"the same words, or ones that look like them, were asked before under another name ({', '.join(before)})"
        )
    if told.drawn_elsewhere:
        found["answered before"] = (
            "a report on these very terms was made from here already, under another name of yours or of the market's:"
            " agree only if it was somebody else who answered"
        )
    if told.counted > told.made:
        found["elsewhere"] = (
            f"the market has {told.counted} reports of yours and this device made {told.made}: another device reports"
            " for you, or this device's file is an old copy, and what they spent is not in this account"
        )
    keys = account.keys(market)
    if keys and told.promise.receipt_key not in keys:
        found["new key"] = (
            "the market signs with another key than in the rounds that you reported in: what it signed then it could"
            " deny now, so agree only if it has told you why"
        )
    return found
