"""Who may read an offer, a bid or a report: the owner whose it is, and nobody else."""

from __future__ import annotations

from typing import Literal

from sqlalchemy import Select, Table, and_, select

from pdqs.market import access
from pdqs.market.bidding import bid_receipt, report_receipt
from pdqs.market.context import Market
from pdqs.market.lots import lots_for
from pdqs.market.store.schema import bids, offers, questions, reports, rounds, stages
from pdqs.market.store.sql import Found
from pdqs.market.views import offer_message
from pdqs.protocol.device_messages import BidReceipt, Offer, ReportReceipt
from pdqs.protocol.market_messages import User
from pdqs.protocol.problems import NotFoundError, ProblemType


def bid(market: Market, actor: User, round_id: str) -> BidReceipt:
    """The owner's own bid."""
    row = _own(market, actor, round_id, select(bids), bids, "bid")
    return bid_receipt(market, round_id, row.bid_micros, row.placed_at_ms)


def offer(market: Market, actor: User, round_id: str, *, with_lots: bool = True) -> Offer:
    """The owner's own offer; ``with_lots`` shows where its draw came from."""
    names = ("terms_hash", "plan", "reports_close_at_ms", "seed", "nonce", "bids_root", "stages")
    hers = (stages.c.round_id == offers.c.round_id) & (stages.c.number == offers.c.stage)
    asked = (questions.c.round_id == offers.c.round_id) & (questions.c.owner_id == offers.c.owner_id)
    listed = (
        select(offers, *(rounds.c[name] for name in names), stages.c.closes_at_ms, questions.c.side)
        .join(rounds, rounds.c.round_id == offers.c.round_id)
        .outerjoin(stages, hers)
        .outerjoin(questions, asked)
    )
    row = _own(market, actor, round_id, listed, offers, "offer")
    return offer_message(row, lots_for(market, row, actor.user_id) if with_lots else None, market.clock())


def report(market: Market, actor: User, round_id: str) -> ReportReceipt:
    """The owner's own report."""
    theirs = and_(offers.c.round_id == reports.c.round_id, offers.c.owner_id == reports.c.owner_id)
    listed = select(reports, offers.c.payment_micros).join(offers, theirs)
    row = _own(market, actor, round_id, listed, reports, "report")
    return report_receipt(market, row, row.payment_micros)


_MISSING = {"bid": ProblemType.NO_BID, "offer": ProblemType.NO_OFFER, "report": ProblemType.NO_REPORT}


def _own(
    market: Market,
    actor: User,
    round_id: str,
    listed: Select[object],
    table: Table,
    what: Literal["bid", "offer", "report"],
) -> Found:
    """The caller's own row in a round; the same answer whether there is none or the round is not there."""
    access.require(actor, "owner")
    mine = listed.where(table.c.round_id == round_id, table.c.owner_id == actor.user_id)
    with market.store.read() as connection:
        row = connection.execute(mine).one_or_none()
    if row is None:
        raise NotFoundError(_MISSING[what], f"you have no {what} in round {round_id}")
    return row
