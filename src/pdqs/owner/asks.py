"""What only the owner can decide: each is a question to her, and nothing is drawn until she agrees.

A new fact, words that were asked before under another name, a round that was answered from here under another name,
reports that another device made, fewer of them than before, a market that signs with another key than before.

They follow from the account, which another window or terminal may change while she reads: they are asked for when she
looks, and looked at once more in the transaction that charges her.
"""

from __future__ import annotations

from collections.abc import Mapping

from pdqs.owner.account import Account, Fields
from pdqs.owner.errors import OwnerMustAgree
from pdqs.owner.told import Told

NAMES = ("new fact", "asked before", "answered before", "elsewhere", "fewer elsewhere", "new key")


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
    if account.answered_as_another(market, told.notice.terms_hash):
        found["answered before"] = (
            "a report on these very terms was made from here already, under another name of yours or of the market's:"
            " agree only if it was somebody else who answered"
        )
    keys = account.keys(market)
    if keys and told.promise.receipt_key not in keys:
        found["new key"] = (
            "the market signs with another key than in the rounds that you reported in: what it signed then it could"
            " deny now, so agree only if it has told you why"
        )
    return found | _asks_elsewhere(account, market, told)


def _asks_elsewhere(account: Account, market: str, told: Told) -> dict[str, str]:
    """Where the market's count of her reports is not the account's."""
    known = account.elsewhere(market)
    made = account.made(market) + known
    if told.counted > made:
        return {
            "elsewhere": f"the market has {told.counted} reports of yours and this device made {made}: another device"
            " reports for you, or this device's file is an old copy, and what they spent is not in this account"
        }
    if told.accepted <= told.counted < told.accepted + known:  # less than it signed for here is refused by a check
        return {
            "fewer elsewhere": f"you agreed before that other devices made {known} reports of yours in this market, and"
            f" it now counts {told.counted - told.accepted} of them: agree only if there were no more, for else it has"
            " forgotten some, and could ask you once more for what you have told it"
        }
    return {}


def admitted(account: Account, market: str, told: Told, agreed: Mapping[str, str]) -> list[Fields]:
    """What she agreed to, to be kept so that it is not asked again.

    ``account`` is as it is when she is charged, ``agreed`` what she was shown and agreed to: if she would be asked for
    anything else now, nothing is drawn.
    """
    now, question = asks_of(account, market, told), told.notice.question
    for name, sentence in now.items():
        if agreed.get(name) != sentence:
            raise OwnerMustAgree(
                f"something has changed since you looked, from another window or terminal: {sentence}; nothing was"
                " drawn and nothing was sent: look at the offer again"
            )
    found: list[Fields] = []
    if "new fact" in now or "asked before" in now:
        found.append({"kind": "admitted", "attribute": question.attribute, "text": question.text})
    if "elsewhere" in now or "fewer elsewhere" in now:
        others = max(told.counted - account.made(market), 0)
        found.append({"kind": "elsewhere", "market": market, "reports": others})
    return found
