"""What the device holds a market's draws to; part of :mod:`pdqs.owner.checks`. The browser's twin: ``lots.mjs``.

The draw follows from the market's seed and the consumer's nonce, to which the terms she bid on are committed, and from
her name in the round, which her device wrote down when she bid: so it was settled before anyone could know it. Whether
her *chance* is right only the record of the whole round can show; but she is asked if and only if her draw is below it,
and where a price is posted she is paid that price, and left out only if it is less than hers. Where no lot says who is
asked, her chance is the whole.
"""

from __future__ import annotations

import json
import math
from types import MappingProxyType

from pdqs.model.money import exact_money
from pdqs.model.names import QuestionKind
from pdqs.owner.account import StoredLots, StoredOffer
from pdqs.owner.errors import OfferRefused
from pdqs.owner.told import MARGIN_MS, Checks, Told
from pdqs.privacy.draws import JITTER_WORD, LOTTERY_WORD, committed_words
from pdqs.privacy.loss import Q_UNITS
from pdqs.protocol.device_messages import BidsRoot, Lots, Offer
from pdqs.protocol.receipts import is_signed
from pdqs.rounds.commitments import bid_entry, commitment_to, pseudonym_of
from pdqs.rounds.merkle import InclusionProof, is_included


def _hexadecimal(text: str) -> bool:
    return len(text) == 64 and all(c in "0123456789abcdef" for c in text)


def _promised(told: Told) -> str | None:
    committed = _hexadecimal(told.promise.seed_hash) and _hexadecimal(told.promise.nonce_hash)
    asking = told.promise.terms.asking
    dealt = asking.stages > 1 or asking.kind == QuestionKind.BUCKET
    if committed or not (told.promise.by_lot or dealt):
        return None
    what = "who is asked" if told.promise.by_lot else "who is asked what"
    return f"{what} goes by lot, and the terms are committed to no seed and nonce"


def _committed(told: Told) -> str | None:
    good = _hexadecimal(told.promise.seed_hash) and _hexadecimal(told.promise.nonce_hash)
    return (
        None if good else "its terms are committed to no seed and nonce: nothing would show that your bid was counted"
    )


def _fresh(told: Told) -> str | None:
    used = {told.promise.seed_hash, told.promise.nonce_hash} & told.known_secrets
    return "its draws hang on a seed or a nonce of another round, which is known by now" if used else None


def _there(told: Told) -> tuple[Offer, Lots, BidsRoot] | None:
    """What is to be looked at, where anything is."""
    offer, root = told.offer, told.notice.bids_root
    if not told.promise.seed_hash or offer is None or offer.lots is None or root is None:
        return None
    return offer, offer.lots, root


def _told(told: Told) -> str | None:
    good = not told.promise.seed_hash or _there(told) is not None
    return None if good else "the offer does not show where its draw came from"


def _root_for(told: Told) -> str | None:
    there = _there(told)
    here = (told.notice.round_id, told.notice.terms_hash)
    good = there is None or (there[2].round_id, there[2].terms_hash) == here
    return None if good else "the root over the bids is that of another round"


def _root_time(told: Told) -> str | None:
    there = _there(told)
    if there is None:
        return None
    offer, _, root = there
    if root.published_at_ms < told.notice.bids_close_at_ms:
        return "the root over the bids was published before bids were closed"
    late = root.published_at_ms > offer.now_ms + MARGIN_MS
    return "the root over the bids is to be published later, and the draws are told already" if late else None


def _root_signed(told: Told) -> str | None:
    there = _there(told)
    good = there is None or is_signed(told.promise.receipt_key, there[2])
    return None if good else "the root over the bids is not signed by the market's key"


def _seed(told: Told) -> str | None:
    there = _there(told)
    good = there is None or commitment_to("seed", bytes.fromhex(there[1].seed)) == told.promise.seed_hash
    return None if good else "the seed is not the one that the terms are committed to"


def _nonce(told: Told) -> str | None:
    there = _there(told)
    good = there is None or commitment_to("nonce", bytes.fromhex(there[1].nonce)) == told.promise.nonce_hash
    return None if good else "the nonce is not the one that the terms are committed to"


def _name(told: Told) -> bytes:
    """Hers in this round, from the id that the market knew her by when she bid."""
    return pseudonym_of(told.notice.round_id, told.bid.owner_id if told.bid else "")


def _counted(told: Told) -> str | None:
    there = _there(told)
    if there is None or told.bid is None:
        return None
    _, lots, root = there
    path = tuple(bytes.fromhex(beside) for beside in lots.path)
    proof = InclusionProof(place=lots.place, leaves=root.bids, path=path)
    good = is_included(bid_entry(_name(told), told.bid.bid_micros), proof, bytes.fromhex(root.root))
    return None if good else "your bid is not among those that the root was published over"


def own_word(told: Told, word: int) -> int:
    """A public word of hers, from the seed and the nonce that came with the offer."""
    lots = None if told.offer is None else told.offer.lots
    if lots is None:
        raise OfferRefused(f"round {told.notice.round_id}: the offer does not show where its draw came from")
    return int(committed_words(bytes.fromhex(lots.seed), bytes.fromhex(lots.nonce), [_name(told)], word)[0])


def _draw(told: Told) -> str | None:
    there = _there(told)
    if there is None:
        return None
    drawn = own_word(told, LOTTERY_WORD if told.promise.by_lot else JITTER_WORD)
    return None if there[0].draw == drawn else "the draw is not the one that follows from seed and nonce"


def _lot(told: Told) -> str | None:
    offer = told.offer
    if offer is None or not told.promise.by_lot or (offer.q_numerator > 0) == (offer.draw < offer.chance_numerator):
        return None
    if offer.q_numerator:
        return "you are asked, though the lot did not fall on you"
    return "you are not asked, though the lot fell on you"


def _whole(told: Told) -> str | None:
    good = told.offer is None or told.promise.by_lot or told.offer.chance_numerator == Q_UNITS
    return None if good else "the offer speaks of a chance, and by the terms no lot says who is asked"


def _posted(told: Told) -> str | None:
    offer = told.offer
    if offer is None or not told.promise.by_lot or (offer.posted_micros is None and not offer.q_numerator):
        return None
    posted, bid_micros = offer.posted_micros or 0, told.bid.bid_micros if told.bid else 0
    if offer.q_numerator:  # whoever is asked is paid the price posted, so there is one
        paid, said = exact_money(offer.payment_micros), exact_money(posted)
        return None if offer.payment_micros == posted else f"the offer pays {paid} where the price posted is {said}"
    # Nobody is asked for more than the cap, so her price comes to this at most.
    most = math.ceil(bid_micros * told.promise.terms.epsilon_max)
    return None if posted <= most else f"the price posted, {exact_money(posted)}, is above yours, and you are not asked"


def _stand(told: Told) -> str | None:
    there, kept = _there(told), told.lots
    good = there is None or kept is None or lots_of(there[0], there[2]) == kept
    return None if good else "the draw or the root is not the one that the market told before"


def _offer_stands(told: Told) -> str | None:
    good = told.offer is None or told.first is None or offer_of(told.offer) == told.first
    return None if good else "the offer is not the one that the market told first, and no other is taken"


def offer_of(offer: Offer) -> StoredOffer:
    """What the device holds later offers in the round to."""
    return StoredOffer(
        q_numerator=offer.q_numerator,
        payment_micros=offer.payment_micros,
        stage=offer.stage,
        closes_at_ms=offer.reports_close_at_ms,
    )


def lots_of(offer: Offer, root: BidsRoot) -> StoredLots:
    """What the device keeps of a draw: the figures, and all that shows them to be right."""
    evidence = {"root": root.model_dump(), "lots": None if offer.lots is None else offer.lots.model_dump()}
    return StoredLots(
        asked=offer.q_numerator > 0,
        draw=offer.draw,
        chance_numerator=offer.chance_numerator,
        posted_micros=offer.posted_micros,
        evidence=json.dumps(evidence, sort_keys=True, separators=(",", ":")),
    )


def chance_in_words(chance_numerator: int) -> str:
    """A chance, in hundredths, never rounded to what it is not.

    >>> chance_in_words(2663000000), chance_in_words(2**32), chance_in_words(1), chance_in_words(0)
    ('62 in 100', '100 in 100', 'less than 1 in 100', '0 in 100')
    """
    if chance_numerator in (0, Q_UNITS):
        return "100 in 100" if chance_numerator else "0 in 100"
    hundredths = 100 * chance_numerator / Q_UNITS
    if hundredths < 1:
        return "less than 1 in 100"
    return "more than 99 in 100" if hundredths > 99 else f"{round(hundredths)} in 100"


def lot_in_words(offer: Offer) -> str:
    """What the lot decided, for the owner."""
    fell = "drawn" if offer.q_numerator else "not drawn this time"
    return f"{fell}: your chance was {chance_in_words(offer.chance_numerator)}"


LOT_CHECKS: Checks = MappingProxyType(
    {
        "commitments": ("notice", _promised),
        "committed": ("bidding", _committed),
        "fresh secrets": ("bidding", _fresh),
        "lots told": ("offer", _told),
        "root round": ("offer", _root_for),
        "root time": ("offer", _root_time),
        "root signature": ("offer", _root_signed),
        "seed": ("offer", _seed),
        "nonce": ("offer", _nonce),
        "bid counted": ("offer", _counted),
        "draw": ("offer", _draw),
        "lot": ("offer", _lot),
        "whole chance": ("offer", _whole),
        "posted price": ("offer", _posted),
        "lots stand": ("offer", _stand),
        "offer stands": ("offer", _offer_stands),
        "asked": (
            "drawing",
            lambda t: (
                None if t.offer is not None and t.offer.q_numerator else "nothing is asked of you: nothing is drawn"
            ),
        ),
    }
)
