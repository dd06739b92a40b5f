"""What parties may look at. Nothing here changes anything, and nobody sees what is another's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from sqlalchemy import Connection, and_, or_, select
from sqlalchemy.exc import DBAPIError

from pdqs import __version__
from pdqs.market import access, ledger
from pdqs.market.context import Market
from pdqs.market.groups import is_for
from pdqs.market.paging import LIMIT, newest_first
from pdqs.market.people import member_from
from pdqs.market.store import migrate
from pdqs.market.store.away import is_away, why_away
from pdqs.market.store.schema import (
    access_events,
    accounts,
    bids,
    postings,
    rounds,
    server_keys,
    transactions,
    users,
)
from pdqs.market.store.sql import put
from pdqs.market.views import (
    LISTED,
    notice_message,
    notice_summary,
    opened_stages,
    round_messages,
    round_summaries,
    visible_round,
)
from pdqs.protocol.device_messages import RoundNotice
from pdqs.protocol.market_messages import (
    AnswerMessage,
    Health,
    Me,
    Payable,
    PayablePage,
    Posting,
    Round,
    RoundState,
    Statement,
    TrialBalance,
    User,
    UserPage,
)
from pdqs.protocol.problems import NotFoundError, ProblemType
from pdqs.protocol.sign_ins import AccessEvent, AccessPage
from pdqs.protocol.summaries import NoticePage, RoundPage

_PROBE_MS = 2_000


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class About:
    """Which software and database a market runs on."""

    version: str
    database: str
    migration: str


def me(market: Market, actor: User) -> Me:
    """The caller and her balance."""
    with market.store.read() as connection:
        return me_in(connection, actor)


def me_in(connection: Connection, actor: User) -> Me:
    """The same, in a transaction that reads more."""
    made = connection.scalar(select(users.c.reports_made).where(users.c.user_id == actor.user_id)) or 0
    return Me(user=actor, balance_micros=ledger.balance(connection, _account(actor)), reports_made=made)


def statement(market: Market, actor: User, after: str | None = None, limit: int = LIMIT) -> Statement:
    """The caller's postings, newest first."""
    with market.store.read() as connection:
        return statement_in(connection, actor, after, limit)


def statement_in(connection: Connection, actor: User, after: str | None, limit: int) -> Statement:
    """The same, in a transaction that reads more."""
    account = _account(actor)
    listed = (
        select(transactions, postings.c.account, postings.c.amount_micros)
        .join(postings, postings.c.transaction_id == transactions.c.transaction_id)
        .where(postings.c.account == account)
    )
    at, name = transactions.c.at_ms, transactions.c.transaction_id
    rows, following = newest_first(connection, listed, at, name, after, limit)
    items = [
        Posting(
            transaction_id=row.transaction_id,
            kind=row.kind,
            account=row.account,
            amount_micros=row.amount_micros,
            at_ms=row.at_ms,
            round_id=row.round_id,
        )
        for row in rows
    ]
    return Statement(balance_micros=ledger.balance(connection, account), items=items, next=following)


def access_page(market: Market, actor: User, after: str | None = None, limit: int = LIMIT) -> AccessPage:
    """Who made codes for the caller, who signed in with them, and who ended her sign-ins, newest first."""
    with market.store.read() as connection:
        return access_in(connection, actor, after, limit)


def access_in(connection: Connection, actor: User, after: str | None, limit: int) -> AccessPage:
    """The same, in a transaction that reads more."""
    who = users.alias("who")
    listed = (
        select(access_events, who.c.name)
        .outerjoin(who, who.c.user_id == access_events.c.by_user_id)
        .where(access_events.c.user_id == actor.user_id)
    )
    at, name = access_events.c.at_ms, access_events.c.event_id
    rows, following = newest_first(connection, listed, at, name, after, limit)
    items = [
        AccessEvent(at_ms=row.at_ms, what=row.what, by_user_id=row.by_user_id, by_name=row.name or "the server itself")
        for row in rows
    ]
    return AccessPage(items=items, next=following)


def rounds_page(
    market: Market, actor: User, state: RoundState | None = None, after: str | None = None, limit: int = LIMIT
) -> RoundPage:
    """A consumer's own rounds, or all of them for an operator, newest first."""
    access.require(actor, "consumer", "operator")
    listed = select(*LISTED)
    if actor.role == "consumer":
        listed = listed.where(rounds.c.consumer_id == actor.user_id)
    if state is not None:
        listed = listed.where(rounds.c.state == state)
    with market.store.read() as connection:
        rows, following = newest_first(connection, listed, rounds.c.created_at_ms, rounds.c.round_id, after, limit)
        return RoundPage(items=round_summaries(connection, rows), next=following)


def round_by_id(market: Market, actor: User, round_id: str) -> Round:
    """One round."""
    access.require(actor, "consumer", "operator")
    with market.store.read() as connection:
        return round_messages(connection, [visible_round(connection, actor, round_id)])[0]


def answer(market: Market, actor: User, round_id: str) -> AnswerMessage:
    """What a settled round found."""
    access.require(actor, "consumer", "operator")
    with market.store.read() as connection:
        row = visible_round(connection, actor, round_id)
    if row.answer is None:
        raise NotFoundError(ProblemType.NO_ANSWER, f"round {round_id} is {row.state}: there is no answer yet")
    return AnswerMessage.model_validate_json(row.answer)


def notices(market: Market, actor: User, after: str | None = None, limit: int = LIMIT) -> NoticePage:
    """Rounds that are open for bids, and those the owner has bid in, newest first."""
    access.require(actor, "owner")
    mine = select(bids.c.round_id).where(bids.c.owner_id == actor.user_id)
    open_now = and_(rounds.c.state == "open", rounds.c.bids_close_at_ms > market.clock())
    hers = or_(and_(open_now, is_for(actor.user_id)), rounds.c.round_id.in_(mine))
    listed = select(*LISTED).where(rounds.c.terms_hash.is_not(None), hers)
    with market.store.read() as connection:
        rows, following = newest_first(connection, listed, rounds.c.created_at_ms, rounds.c.round_id, after, limit)
    return NoticePage(items=[notice_summary(row) for row in rows], next=following)


def notice(market: Market, actor: User, round_id: str) -> RoundNotice:
    """One round as owners see it; drafts are nobody's business."""
    access.require(actor, "owner")
    with market.store.read() as connection:
        shown = select(rounds).where(rounds.c.round_id == round_id, rounds.c.terms_hash.is_not(None))
        row = connection.execute(shown.where(is_for(actor.user_id))).one_or_none()
        opened = opened_stages(connection, [round_id])
    if row is None:
        raise NotFoundError(ProblemType.NO_ROUND, f"there is no round {round_id} that you can see")
    return notice_message(row, opened.get(round_id, []))


def users_page(market: Market, actor: User, after: str | None = None, limit: int = LIMIT) -> UserPage:
    """Everyone, newest first."""
    access.require(actor, "operator")
    with market.store.read() as connection:
        rows, following = newest_first(connection, select(users), users.c.created_at_ms, users.c.user_id, after, limit)
    return UserPage(items=[member_from(row) for row in rows], next=following)


def payables(market: Market, actor: User, after: str | None = None, limit: int = LIMIT) -> PayablePage:
    """Owners with money to come, by account."""
    access.require(actor, "operator")
    listed = (
        select(users.c.user_id, users.c.name, accounts.c.balance_micros)
        .join(accounts, accounts.c.account == "owner:" + users.c.user_id)
        .where(accounts.c.kind == "owner", accounts.c.balance_micros > 0, users.c.user_id > (after or ""))
        .order_by(users.c.user_id)
        .limit(limit + 1)
    )
    with market.store.read() as connection:
        rows = connection.execute(listed).all()
    items = [Payable(user_id=row.user_id, name=row.name, balance_micros=row.balance_micros) for row in rows[:limit]]
    return PayablePage(items=items, next=items[-1].user_id if len(rows) > limit else None)


def trial_balance(market: Market, actor: User) -> TrialBalance:
    """The books."""
    access.require(actor, "operator")
    with market.store.read() as connection:
        return ledger.trial_balance(connection)


def health(market: Market) -> Health:
    """Whether the database takes what is written to it, tried at most every few seconds; raises when it does not."""
    now = market.clock()
    with market.store.read() as connection:
        migrate.current(connection)
    if not 0 <= now - market.written_at.get("health", -_PROBE_MS) < _PROBE_MS:
        with market.store.try_write() as writing:
            if writing is not None:
                put(writing, server_keys, {"purpose": "health", "key": str(now)}, key="purpose")
        market.written_at["health"] = now
    return Health(status="ok")


def why_ill(market: Market, actor: User) -> str:
    """Why nothing can be written just now, for operators; nothing when all is well."""
    access.require(actor, "operator")
    try:
        health(market)
    except DBAPIError as fault:
        if not is_away(fault):
            raise
        return why_away(fault, market.store.engine.url)
    return ""


def about(market: Market) -> About:
    """Which software and database this is, for operators."""
    with market.store.read() as connection:
        return About(version=__version__, database=market.store.dialect, migration=migrate.current(connection))


def _account(actor: User) -> str:
    return ledger.account_of("owner" if actor.role == "owner" else "consumer", actor.user_id)
