"""Bids that come at the same moment are kept together: in one transaction, and in one trip to PostgreSQL.

What would be the bulk of the work for each alone (a connection, a transaction, a wait for the disk: group commit) is
done once for all of them. Only bids that need nothing else are kept so; whatever is out of the ordinary with one, be
it late, withdrawn, a change or her second, is for :func:`pdqs.market.bidding.place_bid`, which looks at it by itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

from sqlalchemy.exc import DBAPIError

from pdqs.market import access, bidding
from pdqs.market.context import Market
from pdqs.market.revocation import sign_in_of
from pdqs.market.withdrawals import ANY_TIME
from pdqs.protocol.device_messages import Bid
from pdqs.protocol.market_messages import User


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class FirstBid:
    """A bid that keeps the rules of its round, if that is still open and it is its owner's first there."""

    round_id: str
    owner_id: str
    bid_micros: int
    after_ms: int
    came_by: str = ""
    """The hash of the token or session that she came by, which is not taken on trust; nothing for one who has none."""


def first_bid(market: Market, actor: User, round_id: str, bid: Bid, after: int | None) -> FirstBid | None:
    """The bid as one that can be kept with others; nothing where more has to be looked at. Asks no database."""
    access.require(actor, "owner")
    promise = market.promises.get(round_id)
    if promise is None or promise.receipt_key not in market.signers:
        return None
    if bid.replaces is not None or bidding.bid_refusal(promise, bid) is not None:
        return None
    return FirstBid(
        round_id=round_id,
        owner_id=actor.user_id,
        bid_micros=bid.bid_micros,
        after_ms=ANY_TIME if after is None else after,
        came_by=sign_in_of(actor),
    )


def keep_together(market: Market, waiting: Sequence[FirstBid]) -> list[int]:
    """Keep those of the bids that can be kept at once; when each was, by the server's clock, or 0 if it was not.

    A fault of one is a fault of the transaction. None of them is kept then, and each is to be tried by itself.
    """
    try:
        return _kept_here(market, waiting) if market.store.dialect == "sqlite" else _kept_there(market, waiting)
    except DBAPIError:
        return [0] * len(waiting)


def _kept_here(market: Market, waiting: Sequence[FirstBid]) -> list[int]:
    with market.store.write() as connection:
        now = market.clock()
        return [now if bidding.keep_if_open(connection, _parameters(bid, now)) else 0 for bid in waiting]


def _kept_there(market: Market, waiting: Sequence[FirstBid]) -> list[int]:
    columns = {
        "rounds": [bid.round_id for bid in waiting],
        "owners": [bid.owner_id for bid in waiting],
        "bids": [bid.bid_micros for bid in waiting],
        "afters": [bid.after_ms for bid in waiting],
        "came": [bid.came_by for bid in waiting],
    }
    with market.store.look() as connection:
        now = market.clock()
        found = connection.exec_driver_sql(_AT_ONCE, {**columns, "now": now})
        return [now if kept else 0 for kept in found.scalars()]


def _parameters(bid: FirstBid, now: int) -> dict[str, object]:
    order = {"now": now, "after": bid.after_ms, "came_by": bid.came_by}
    return {"round": bid.round_id, "owner": bid.owner_id, "bid": bid.bid_micros, **order}


_AT_ONCE = """
SELECT keep_bid_if_open(one.round_id, one.owner_id, one.bid_micros, %(now)s, one.after_ms, one.came_by)
FROM unnest(%(rounds)s::text[], %(owners)s::text[], %(bids)s::bigint[], %(afters)s::bigint[], %(came)s::text[])
    WITH ORDINALITY AS one(round_id, owner_id, bid_micros, after_ms, came_by, place)
ORDER BY one.place
"""
"""By a function of the database's own, see migration 0019; this one statement is a transaction."""
