"""Finding someone among very many: people and payables by a part of a name or id, and the journal of all entries."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Collection
from contextlib import suppress

from sqlalchemy import ColumnElement, Select, and_, case, exists, false, func, or_, select

from pdqs.market import access
from pdqs.market.context import Market
from pdqs.market.namesakes import LETTERS
from pdqs.market.paging import LIMIT, newest_first
from pdqs.market.people import member_from
from pdqs.market.store.payout_tables import payout_lines
from pdqs.market.store.schema import accounts, postings, rounds, transactions, users
from pdqs.protocol.market_messages import Payable, PayablePage, Role, User, UserPage
from pdqs.protocol.operator_messages import JournalLine, JournalPage

MOST_LETTERS = 80
_MARK = re.compile(f"[0-9a-f]{{{LETTERS}}}")


def people_like(
    market: Market, actor: User, text: str = "", role: Role | None = None, after: str | None = None, limit: int = LIMIT
) -> UserPage:
    """People whose name or id has this text in it, newest first."""
    access.require(actor, "operator")
    listed = select(users).where(_named(text))
    if role is not None:
        listed = listed.where(users.c.role == role)
    with market.store.read() as connection:
        rows, following = newest_first(connection, listed, users.c.created_at_ms, users.c.user_id, after, limit)
    return UserPage(items=[member_from(row) for row in rows], next=following)


def payables_like(
    market: Market, actor: User, text: str = "", after: str | None = None, limit: int = LIMIT
) -> PayablePage:
    """Owners with money to come whose name or id has this text in it, by id."""
    access.require(actor, "operator")
    listed = owed().where(_named(text), users.c.user_id > (after or "")).order_by(users.c.user_id).limit(limit + 1)
    with market.store.read() as connection:
        rows = connection.execute(listed).all()
    items = [Payable(user_id=row.user_id, name=row.name, balance_micros=row.balance_micros) for row in rows[:limit]]
    return PayablePage(items=items, next=items[-1].user_id if len(rows) > limit else None)


def owed() -> Select[object]:
    """Owners with money to come: id, name and balance."""
    hers = accounts.c.account == "owner:" + users.c.user_id
    # The same the other way round: SQLite begins with accounts, and would go through all people for each of them.
    whose = users.c.user_id == func.substr(accounts.c.account, len("owner:") + 1)
    columns = (users.c.user_id, users.c.name, accounts.c.balance_micros)
    found = select(*columns).join(accounts, and_(hers, whose))
    return found.where(accounts.c.kind == "owner", accounts.c.balance_micros > 0)


def how_many_owed(market: Market, actor: User) -> int:
    """How many owners have money to come that can be paid: what is finer than money is paid in waits for more."""
    access.require(actor, "operator")
    payable = owed().where(accounts.c.balance_micros >= market.settings.money.step)
    counted = select(func.count()).select_from(payable.subquery())
    with market.store.read() as connection:
        return int(connection.scalar(counted) or 0)


def not_in_a_batch() -> ColumnElement[bool]:
    """Of users: whoever waits for no payout of a provider, and was paid by none beyond what was owed."""
    return ~exists(select(1).where(is_open_still(), payout_lines.c.user_id == users.c.user_id))


def is_open_still() -> ColumnElement[bool]:
    """Of payouts: that a provider has still to tell of it, or an operator to see to what was beyond what was owed."""
    return or_(payout_lines.c.state == "waiting", payout_lines.c.over_micros > 0)


def words_of(market: Market, round_ids: Collection[str]) -> dict[str, str]:
    """What each of these rounds asks, in the consumer's words; of a round that is damaged as much as can be read."""
    with market.store.read() as connection:
        found = connection.execute(select(rounds.c.round_id, rounds.c.summary).where(rounds.c.round_id.in_(round_ids)))
        kept = {row.round_id: row.summary for row in found}
    words = {}
    for round_id, summary in kept.items():
        with suppress(ValueError, AttributeError):
            words[round_id] = str(json.loads(summary).get("text", ""))
    return words


def journal_page(market: Market, actor: User, after: str | None = None, limit: int = LIMIT) -> JournalPage:
    """Every transaction, newest first: what kind, which round, how many lines, and how much moved."""
    access.require(actor, "operator")
    at, name = transactions.c.at_ms, transactions.c.transaction_id
    with market.store.read() as connection:
        rows, following = newest_first(connection, select(transactions), at, name, after, limit)
        gained = func.sum(case((postings.c.amount_micros > 0, postings.c.amount_micros), else_=0))
        theirs = postings.c.transaction_id.in_([row.transaction_id for row in rows])
        summed = select(postings.c.transaction_id, func.count(), gained).where(theirs)
        found = connection.execute(summed.group_by(postings.c.transaction_id)).all()
    sums = {identifier: (int(count), int(moved)) for identifier, count, moved in found}
    items = [
        JournalLine(
            transaction_id=row.transaction_id,
            kind=row.kind,
            at_ms=row.at_ms,
            round_id=row.round_id,
            lines=sums.get(row.transaction_id, (0, 0))[0],
            moved_micros=sums.get(row.transaction_id, (0, 0))[1],
        )
        for row in rows
    ]
    return JournalPage(items=items, next=following)


def _named(text: str) -> ColumnElement[bool]:
    """Users whose name has this text in it, however it is written, whose id begins with it, or whose mark it is."""
    wanted = text.strip()[:MOST_LETTERS]
    if not wanted:
        return and_(True)
    if "\x00" in wanted:  # no name has it, and PostgreSQL would not even look
        return false()
    found = or_(*map(_within_name, _spellings(wanted)), users.c.user_id.startswith(wanted, autoescape=True))
    return or_(found, users.c.user_id.endswith(wanted, autoescape=True)) if _MARK.fullmatch(wanted) else found


def _within_name(text: str) -> ColumnElement[bool]:
    """Users whose name has this text in it. The database makes both small, and so by one rule."""
    pattern = re.sub(r"([/%_])", r"/\1", text)
    return func.lower(users.c.name).like(func.lower(f"%{pattern}%"), escape="/")


def _spellings(text: str) -> list[str]:
    """The ways to write a text that a database may tell apart: SQLite makes no letters small but English ones.

    An accent may be a part of its letter or stand behind it, as in lists that were saved on some systems.

    >>> _spellings("Ann")
    ['Ann']
    >>> _spellings("Ева")
    ['ЕВА', 'Ева', 'ева']
    """
    if text.isascii():
        return [text]
    ways = {text, text.lower(), text.upper(), text.title()}
    return sorted({unicodedata.normalize(form, way) for way in ways for form in ("NFC", "NFD")})
