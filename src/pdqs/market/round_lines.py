"""What the store holds of every owner of a cleared round, side by side: bid, offer, question and report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields

from sqlalchemy import Connection, select

from pdqs.market.lots import words_of
from pdqs.market.round_terms import KeptLines, Line
from pdqs.market.store.schema import bids, offers, questions, reports
from pdqs.market.store.sql import Found
from pdqs.rounds.commitments import pseudonym_of


def rows_of(connection: Connection, round_id: str, names: Sequence[str]) -> Sequence[Found]:
    """The owner and these columns of each, by owner."""
    same_bid = (bids.c.round_id == offers.c.round_id) & (bids.c.owner_id == offers.c.owner_id)
    asked = (questions.c.round_id == offers.c.round_id) & (questions.c.owner_id == offers.c.owner_id)
    reported = (reports.c.round_id == offers.c.round_id) & (reports.c.owner_id == offers.c.owner_id)
    at = {**offers.c, "bid_micros": bids.c.bid_micros, "code": reports.c.code, "side": questions.c.side}
    return connection.execute(
        select(offers.c.owner_id, *(at[name] for name in names))
        .select_from(offers.join(bids, same_bid).outerjoin(questions, asked).outerjoin(reports, reported))
        .where(offers.c.round_id == round_id)
        .order_by(offers.c.owner_id)
    ).all()


def kept_lines(connection: Connection, row: Found) -> KeptLines:
    """All that a settlement, or the next stage, is made from."""
    names = [field.name for field in fields(Line)]
    found = rows_of(connection, row.round_id, names)
    owner_ids = [line.owner_id for line in found]
    return KeptLines(
        owner_ids=owner_ids,
        lines=[Line(**dict(zip(names, line[1:], strict=True))) for line in found],
        words=words_of(row, [pseudonym_of(row.round_id, owner_id) for owner_id in owner_ids]),
    )
