"""What only the owner can decide: each is what is so and a question to say yes to, and nothing is drawn until she does.

A new fact, words that were asked before under another name, a round that was answered from here under another name,
reports that another device made, fewer of them than before, a market that signs with another key than before or with
that of another market, draws that hang on what another market's do, or a market that will not sign for what it asked.

They follow from the account, which another window or terminal may change while she reads: they are asked for when she
looks, and looked at once more in the transaction that charges her.
"""

from __future__ import annotations

from collections.abc import Mapping

from pdqs.owner.account import Account, Fields
from pdqs.owner.commitments_before import named_elsewhere, signs_elsewhere
from pdqs.owner.errors import OwnerMustAgree
from pdqs.owner.told import Told
from pdqs.present.text import printable

NAMES = (
    "new fact",
    "asked before",
    "answered before",
    "elsewhere",
    "fewer elsewhere",
    "new key",
    "shared key",
    "same secrets",
    "unsigned asking",
)


def asks_of(account: Account, market: str, told: Told) -> dict[str, str]:
    """By name, what the owner is asked before anything is drawn: whole sentences, the last a question for a yes."""
    question, found = told.notice.question, {}
    before = account.also_asked_as(question.attribute, question.text)
    if not account.knows(question.attribute):
        found["new fact"] = (
            f"{question.attribute!r} is a new fact, and not one asked about before under another name: it gets an"
            " account and a lifetime cap of its own. Is that so?"
        )
    if before and not account.asked_so(question.attribute, question.text):
        found["asked before"] = (
            f"The same words, or ones that look like them, were asked before under another name ({', '.join(before)})."
            " Do you want to answer them again?"
        )
    if account.answered_as_another(market, told.notice.terms_hash):
        found["answered before"] = (
            "A report on these very terms was made from here already, under another name of yours or of the market's."
            " Was it somebody else who answered?"
        )
    return found | _asks_of_keys(account, market, told) | _asks_elsewhere(account, market, told)


def _asks_of_keys(account: Account, market: str, told: Told) -> dict[str, str]:
    """Where what the market signs with, or is committed to, may not be its own, or not sign for enough."""
    keys, found = account.keys(market), {}
    if keys and told.promise.receipt_key not in keys:
        found["new key"] = (
            "The market signs with another key than in the rounds that you reported in: what it signed then it could"
            " deny now. Has it told you why?"
        )
    others = [] if told.promise.receipt_key in keys else signs_elsewhere(account, market, told.promise.receipt_key)
    if others:
        found["shared key"] = (
            f"This market's key is the one that signed for your bids at {printable(', '.join(others))}: unless the two"
            " are one market, one passes on what the other says, and what is paid for your report may be paid to"
            " whoever does so. Do you know that the two are one market?"
        )
    named = frozenset({told.promise.seed_hash, told.promise.nonce_hash}) - {""}
    copied = named_elsewhere(account, market, named, told.notice.terms_hash)
    if copied:
        found["same secrets"] = (
            f"A round that you bid in at {printable(', '.join(copied))} is committed to the same seed or nonce as this"
            " one: one of the two has copied it, which anyone can, and if it was this one, your draw may have been"
            " known to others. Do you trust this market all the same?"
        )
    if told.promise.receipt_form < 2:
        found["unsigned asking"] = (
            "The market does not promise to sign for what it asks of you in this round, nor that its receipts are"
            " yours, as rounds of older markets did not: if its record says later that it asked for less, or it calls a"
            " receipt somebody else's, nothing that it signed would show it. Do you want to report all the same?"
        )
    return found


def _asks_elsewhere(account: Account, market: str, told: Told) -> dict[str, str]:
    """Where the market's count of her reports is not the account's."""
    known = account.elsewhere(market)
    made = account.made(market) + known
    if told.counted > made:
        return {
            "elsewhere": f"The market has {_reports(told.counted)} of yours and this device made {made}: another device"
            " reports for you, or this device's file is an old copy, and what they spent is not in this account. Do you"
            " want to report all the same?"
        }
    if told.accepted <= told.counted < told.accepted + known:  # less than it signed for here is refused by a check
        return {
            "fewer elsewhere": f"You agreed before that other devices made {_reports(known)} of yours in this market,"
            f" and it now counts {told.counted - told.accepted} of them: if there were more, it has forgotten some, and"
            f" could ask you once more for what you have told it. Is {told.counted - told.accepted} the right number?"
        }
    return {}


def _reports(count: int) -> str:
    return f"{count} report{'' if count == 1 else 's'}"


def admitted(account: Account, market: str, told: Told, agreed: Mapping[str, str]) -> list[Fields]:
    """What she agreed to, to be kept so that it is not asked again.

    ``account`` is as it is when she is charged, ``agreed`` what she was shown and agreed to: if she would be asked for
    anything else now, nothing is drawn.
    """
    now, question = asks_of(account, market, told), told.notice.question
    for name, sentence in now.items():
        if agreed.get(name) != sentence:
            raise OwnerMustAgree(
                "something has changed since you looked, from another window or terminal, and you are asked anew:"
                f" {sentence} Nothing was drawn and nothing was sent: look at the offer again"
            )
    found: list[Fields] = []
    if "new fact" in now or "asked before" in now:
        found.append({"kind": "admitted", "attribute": question.attribute, "text": question.text})
    if "elsewhere" in now or "fewer elsewhere" in now:
        others = max(told.counted - account.made(market), 0)
        found.append({"kind": "elsewhere", "market": market, "reports": others})
    return found
