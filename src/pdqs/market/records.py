"""The record of a settled round, from what the market holds: the ledger's payments, not what they should have been.

It is for those who took part: its consumer, the operator, and every owner who bid. Owners are in it under names of this
round only. Whether there is one is said in the frozen terms (``record``), before anyone bids; unless they say ``full``,
one of a round that too few reported in for an answer lists those who reported and nobody else's bid.
"""

from __future__ import annotations

import json
from dataclasses import fields

from sqlalchemy import Connection, select

from pdqs.estimate.enough import LEAST_REPORTS
from pdqs.market import access
from pdqs.market.context import Market
from pdqs.market.ledger import account_of
from pdqs.market.round_lines import rows_of
from pdqs.market.store.schema import bids, postings, rounds
from pdqs.market.store.sql import Found
from pdqs.market.views import visible_round
from pdqs.protocol.device_messages import BidsRoot
from pdqs.protocol.market_messages import AnswerMessage, User
from pdqs.protocol.problems import NotFoundError, ProblemType, TooManyRequestsError
from pdqs.rounds.commitments import pseudonym_of
from pdqs.verifying.figures import AnswerFigures
from pdqs.verifying.making import SOFTWARE
from pdqs.verifying.record import RecordLine, RoundRecord, Totals


def record(market: Market, actor: User, round_id: str) -> RoundRecord:
    """All that anyone needs to make a settled round again."""
    access.require(actor, "consumer", "operator", "owner")
    with market.store.read() as connection:
        row = _round_for(connection, actor, round_id)
        _refuse_missing(row)
        moved = _posted(connection, f"settlement:{round_id}")
        escrow = _posted(connection, f"escrow:{round_id}").get(account_of("escrow", round_id), 0)
        lines = _lines(connection, round_id, moved)
    answer = AnswerMessage.model_validate_json(row.answer)
    back = moved.get(account_of("consumer", row.consumer_id), 0)
    paid = -moved.get(account_of("escrow", round_id), 0) - back
    found = RoundRecord(
        software=SOFTWARE,
        terms=row.terms,
        terms_hash=row.terms_hash,
        seed=row.seed,
        nonce=row.nonce,
        bids_root=BidsRoot.model_validate_json(row.bids_root).root,
        reports_root=str(answer.reports_root),
        owners=lines,
        answer=_figures(answer),
        ledger=Totals(escrow_micros=escrow, paid_micros=paid, returned_micros=back),
    )
    few = json.loads(row.terms).get("record") == "answered" and answer.reports < LEAST_REPORTS
    return found.without_silent() if few else found


def record_text(market: Market, actor: User, round_id: str) -> bytes:
    """The same as a file, made once for all who ask while it is asked for."""
    access.require(actor, "consumer", "operator", "owner")
    with market.store.read() as connection:
        _refuse_missing(_round_for(connection, actor, round_id))

    def written() -> bytes:
        return record(market, actor, round_id).text().encode()

    found = market.records.get(round_id, written, caller=actor.user_id)
    if found is None:
        raise TooManyRequestsError(
            ProblemType.TOO_MANY_REQUESTS, "other records are being written: ask again in a moment"
        )
    return found


def _round_for(connection: Connection, actor: User, round_id: str) -> Found:
    """The round, for someone who took part; to anyone else it does not exist."""
    if actor.role != "owner":
        return visible_round(connection, actor, round_id)
    hers = select(rounds).join(bids, bids.c.round_id == rounds.c.round_id)
    found = connection.execute(
        hers.where(rounds.c.round_id == round_id, bids.c.owner_id == actor.user_id)
    ).one_or_none()
    if found is None:
        raise NotFoundError(ProblemType.NO_BID, f"you have no bid in round {round_id}")
    return found


def _refuse_missing(row: Found) -> None:
    if row.state != "settled":
        raise NotFoundError(ProblemType.NO_RECORD, f"round {row.round_id} is {row.state}: there is no record yet")
    if json.loads(row.terms).get("record") not in ("answered", "full"):
        raise NotFoundError(ProblemType.NO_RECORD, f"the terms of round {row.round_id} promise no record")
    if row.purged_at_ms is not None:
        raise NotFoundError(ProblemType.NO_RECORD, f"the bids and reports of round {row.round_id} were purged")


def _posted(connection: Connection, transaction_id: str) -> dict[str, int]:
    """What a transaction moved, by account."""
    moved = select(postings.c.account, postings.c.amount_micros).where(postings.c.transaction_id == transaction_id)
    return {row.account: row.amount_micros for row in connection.execute(moved)}


def _lines(connection: Connection, round_id: str, paid: dict[str, int]) -> tuple[RecordLine, ...]:
    names = [field.name for field in fields(RecordLine) if field.name not in ("pseudonym", "paid_micros")]
    found = rows_of(connection, round_id, names)
    lines = [
        RecordLine(
            pseudonym=pseudonym_of(round_id, line.owner_id).hex(),
            paid_micros=paid.get(account_of("owner", line.owner_id), 0),
            **dict(zip(names, line[1:], strict=True)),
        )
        for line in found
    ]
    return tuple(sorted(lines, key=lambda line: line.pseudonym))


def _figures(answer: AnswerMessage) -> AnswerFigures:
    """The figures of an answer as it was told."""
    told = answer.model_dump()
    ends = {name: tuple((low, high) for low, high in told[name]) for name in ("interval", "interval_if_dishonest")}
    lists = {name: tuple(told[name]) for name in ("labels", "values", "raw", "warnings")}
    kept = {field.name: told[field.name] for field in fields(AnswerFigures)}
    return AnswerFigures(**{**kept, **lists, **ends})
