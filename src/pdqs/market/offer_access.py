"""Who may read an offer, a bid or a report: the owner whose it is, and nobody else."""

from __future__ import annotations

from sqlalchemy import Connection, Select, Table, and_, bindparam, select

from pdqs.market import access
from pdqs.market.bidding import bid_receipt, promise_of, report_receipt
from pdqs.market.context import Market
from pdqs.market.groups import is_for
from pdqs.market.lots import lots_for
from pdqs.market.store.schema import bids, offers, questions, reports, rounds, stages, users
from pdqs.market.store.sql import Found
from pdqs.market.store.withdrawal_table import withdrawals
from pdqs.market.views import notice_message, offer_message, opened_stages
from pdqs.protocol.device_messages import BidReceipt, MyRound, Offer, ReportReceipt
from pdqs.protocol.market_messages import User
from pdqs.protocol.problems import NotFoundError, ProblemType

_ROUND, _OWNER = bindparam("round", type_=rounds.c.round_id.type), bindparam("owner", type_=users.c.user_id.type)


def _mine(listed: Select[object], table: Table) -> Select[object]:
    return listed.where(table.c.round_id == _ROUND, table.c.owner_id == _OWNER)


def _every_offer() -> Select[object]:
    """Offers with what of their rounds, stages and questions is told with them."""
    names = ("terms_hash", "plan", "reports_close_at_ms", "seed", "nonce", "bids_root", "stages")
    hers = (stages.c.round_id == offers.c.round_id) & (stages.c.number == offers.c.stage)
    asked = (questions.c.round_id == offers.c.round_id) & (questions.c.owner_id == offers.c.owner_id)
    return (
        select(offers, *(rounds.c[name] for name in names), stages.c.closes_at_ms, questions.c.side)
        .join(rounds, rounds.c.round_id == offers.c.round_id)
        .outerjoin(stages, hers)
        .outerjoin(questions, asked)
    )


def _every_report() -> Select[object]:
    theirs = and_(offers.c.round_id == reports.c.round_id, offers.c.owner_id == reports.c.owner_id)
    asked = (questions.c.round_id == offers.c.round_id) & (questions.c.owner_id == offers.c.owner_id)
    told = select(reports, offers.c.payment_micros, offers.c.q_numerator, offers.c.stage, questions.c.side)
    return told.join(offers, theirs).outerjoin(questions, asked)


def _every_round() -> Select[object]:
    """Rounds that an owner may see, with her bid and her last withdrawal, if any, and how many reports she has made."""
    own = bids.alias("own")  # is_for looks at bids too, and would take these for its own
    hers = (own.c.round_id == rounds.c.round_id) & (own.c.owner_id == _OWNER)
    gone = (withdrawals.c.round_id == rounds.c.round_id) & (withdrawals.c.owner_id == _OWNER)
    names = ("round_id", "state", "plan", "terms", "terms_hash", "bids_root", "bids_close_at_ms", "reports_close_at_ms")
    return (
        select(
            *(rounds.c[name] for name in names),
            users.c.reports_made,
            own.c.bid_micros,
            own.c.placed_at_ms,
            withdrawals.c.withdrawn_at_ms,
        )
        .select_from(rounds.join(users, users.c.user_id == _OWNER).outerjoin(own, hers).outerjoin(withdrawals, gone))
        .where(rounds.c.round_id == _ROUND, rounds.c.terms_hash.is_not(None), is_for(_OWNER))
    )


def _every_offer_and_report() -> Select[object]:
    hers = (reports.c.round_id == offers.c.round_id) & (reports.c.owner_id == offers.c.owner_id)
    told = _every_offer().outerjoin(reports, hers)
    return told.add_columns(reports.c.code, reports.c.received_at_ms, reports.c.ordinal)


# Made once: to write a statement takes longer than the database takes to answer it.
_BID, _OFFER, _REPORT = _mine(select(bids), bids), _mine(_every_offer(), offers), _mine(_every_report(), reports)
_SHOWN, _BOTH = _every_round(), _mine(_every_offer_and_report(), offers)


def bid(market: Market, actor: User, round_id: str) -> BidReceipt:
    """The owner's own bid."""
    return _bid_message(market, actor, _own(market, actor, round_id, _BID, ProblemType.NO_BID, "bid"))


def offer(market: Market, actor: User, round_id: str, *, with_lots: bool = True) -> Offer:
    """The owner's own offer; ``with_lots`` shows where its draw came from."""
    row = _own(market, actor, round_id, _OFFER, ProblemType.NO_OFFER, "offer")
    return _offer_message(market, row, with_lots=with_lots)


def report(market: Market, actor: User, round_id: str) -> ReportReceipt:
    """The owner's own report."""
    return _report_message(market, _own(market, actor, round_id, _REPORT, ProblemType.NO_REPORT, "report"))


def my_round(market: Market, actor: User, round_id: str) -> MyRound:
    """The round as owners see it, and all that is this owner's in it: one look for a device instead of five."""
    access.require(actor, "owner")
    by_sides = promise_of(market, round_id).by_sides
    whose = {"round": round_id, "owner": actor.user_id}
    with market.store.look() as connection:
        row = _found(connection, _SHOWN, whose)
        if row is None:
            raise NotFoundError(ProblemType.NO_ROUND, f"there is no round {round_id} that you can see")
        offered = None if row.state == "open" else _found(connection, _BOTH, whose)  # before that there are none
        # Last, so that the notice tells of every stage that the offer knows.
        opened = opened_stages(connection, [round_id]).get(round_id, []) if by_sides else []
    return MyRound(
        owner_id=actor.user_id,
        reports_made=row.reports_made,
        notice=notice_message(row, opened),
        bid=None if row.bid_micros is None else _bid_message(market, actor, row),
        offer=None if offered is None else _offer_message(market, offered),
        report=None if offered is None or offered.code is None else _report_message(market, offered),
        withdrawn_at_ms=row.withdrawn_at_ms or 0,
    )


def _bid_message(market: Market, actor: User, row: Found) -> BidReceipt:
    return bid_receipt(market, actor.user_id, row.round_id, row.bid_micros, row.placed_at_ms)


def _offer_message(market: Market, row: Found, *, with_lots: bool = True) -> Offer:
    return offer_message(row, lots_for(market, row, row.owner_id) if with_lots else None, market.clock())


def _report_message(market: Market, row: Found) -> ReportReceipt:
    return report_receipt(market, row, row, row.side)


def _found(connection: Connection, mine: Select[object], whose: dict[str, str]) -> Found | None:
    return connection.execute(mine, whose).one_or_none()


def _own(market: Market, actor: User, round_id: str, mine: Select[object], missing: ProblemType, what: str) -> Found:
    """The caller's own row in a round; the same answer whether there is none or the round is not there."""
    access.require(actor, "owner")
    with market.store.look() as connection:
        row = _found(connection, mine, {"round": round_id, "owner": actor.user_id})
    if row is None:
        raise NotFoundError(missing, f"you have no {what} in round {round_id}")
    return row
