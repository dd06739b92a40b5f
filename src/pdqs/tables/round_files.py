"""Offers and reports as files: what `pdqs clear` writes, and `pdqs answer` reads."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from pdqs.model import columns
from pdqs.model.arrays import Booleans, Floats
from pdqs.model.domain import Domain
from pdqs.model.errors import InputError, RowError
from pdqs.model.money import LARGEST_PAYMENT_MICROS, MICROS_PER_UNIT
from pdqs.model.question import Question
from pdqs.privacy.loss import Q_UNITS, epsilon_upper
from pdqs.rounds.offers import Offers
from pdqs.rounds.reports import Reports, received
from pdqs.rounds.terms import Terms
from pdqs.tables.files import amounts, naming, read_table
from pdqs.tables.question_files import COLUMNS, question_columns, with_question
from pdqs.trade import Trade

OFFER_COLUMNS = ("owner", "bid", "q", "epsilon", "payment")
LOTTERY_COLUMNS = ("chance", "draw")
"""Offers written before there were lotteries have none: everyone was asked for certain."""

REPORT_COLUMNS = ("owner", "report")


def offer_columns(owners: Sequence[str], offers: Offers) -> dict[str, Sequence[object]]:
    """The columns of an offers file; money as decimal text, so that it is exact."""
    return {
        "owner": owners,
        "bid": offers.bids.tolist(),
        "q": offers.q.tolist(),
        "epsilon": offers.epsilon.tolist(),
        "payment": amounts(offers.payment_micros),
        "chance": offers.chance.tolist(),
        "draw": offers.draw.tolist(),
        **question_columns(offers),
    }


def trade_columns(owners: Sequence[str], trade: Trade) -> dict[str, Sequence[object]]:
    """The columns of a whole round: each offer, the report that came of it, and what was paid."""
    return {
        **offer_columns(owners, trade.offers),
        "report": [value if there else None for value, there in _reported(trade.reports)],
        "paid": amounts(trade.payments.micros),
    }


def _reported(reports: Reports) -> Iterator[tuple[object, bool]]:
    """Each owner's report and whether there is one: a cell without one stays empty."""
    return zip(reports.values.tolist(), reports.arrived.tolist(), strict=True)


def read_offers(path: Path, asked: Domain | Question) -> tuple[list[str], Offers]:
    """Owners and their offers, made for this very question (of a domain: for its values whole): the epsilon must be
    that of q on its kappa answers."""
    question = asked if isinstance(asked, Question) else Question(domain=asked)
    own = COLUMNS[question.kind]
    table = read_table(path, OFFER_COLUMNS, optional=(*LOTTERY_COLUMNS, *own), may_be_missing=("at_most",))
    bids, q, epsilon, payments = (table.floats(name) for name in OFFER_COLUMNS[1:])
    chance = table.floats("chance") if "chance" in table else np.ones(len(table))
    draw = table.floats("draw") if "draw" in table else np.zeros(len(table))
    with naming(path):
        if len(table) < 2:
            raise InputError(f"a market needs at least 2 owners, got {len(table)}")
        offers = with_lottery(checked_offers(bids, q, epsilon, payments, question), chance, draw)
        numbers = {name: table.floats(name) for name in own if name in table and name != "at_most"}
        offers = with_question(offers, numbers, table.columns.get("at_most"))
    return [str(owner) for owner in table.columns["owner"]], offers


def checked_offers(bids: Floats, q: Floats, epsilon: Floats, payments: Floats, question: Question) -> Offers:
    """Offers from their columns, refused where they are none or another question's; the budget is their sum."""
    _refuse((q >= 0) & (q < 1), "q", q, "is not a chance of at least 0 and below 1")
    _refuse(q * Q_UNITS == np.floor(q * Q_UNITS), "q", q, "is not a multiple of 2^-32, as the q of an offer is")
    true_epsilon = epsilon_upper(q, question.kappa)
    same = np.abs(epsilon - true_epsilon) <= 1e-9 * (1.0 + true_epsilon)
    of = f"on {question.kappa} values" if question.whole else f"among {question.kappa} {question.kind}s"
    _refuse(same, "epsilon", epsilon, f"is not the loss of this q {of}: another domain or question made it")
    countable = (payments >= 0) & (payments * MICROS_PER_UNIT <= LARGEST_PAYMENT_MICROS)
    _refuse(countable, "payment", payments, "is not an amount of money")
    payment_micros = np.rint(payments * MICROS_PER_UNIT).astype(np.int64)
    return Offers(
        bids=bids,
        q=q,
        epsilon=true_epsilon,
        payment_micros=payment_micros,
        domain=question.domain,
        budget_micros=int(payment_micros.sum()),
        question=question,
    )


def refuse_other_terms(offers: Offers, terms: Terms) -> None:
    """Refuse offers that these terms cannot have made: a bid beyond the range, a payment below what the owner asks.

    Money is whole micro-units, and what is asked is known to a rounding of it.
    """
    columns.bids_in_range(offers.bids, terms.setting.low, terms.setting.high)
    if terms.clearing_facts.calibrates:
        asked = np.floor(offers.bids * terms.setting.load(offers.q) * MICROS_PER_UNIT * (1 - 1e-9))
        fault = f"is less than the owner asks for this q under contract {terms.contract!r}"
        _refuse(offers.payment_micros >= asked, "payment", offers.payment, fault)


def with_lottery(offers: Offers, chance: Floats, draw: Floats) -> Offers:
    """The offers with the chances and draws of their columns, refused where they are none."""
    words = chance * Q_UNITS
    _refuse((chance >= 0) & (chance <= 1), "chance", chance, "is not a chance from 0 to 1")
    _refuse(words == np.floor(words), "chance", chance, "is not a multiple of 2^-32, as the chance of an offer is")
    _refuse((chance > 0) | ~offers.asked, "chance", chance, "is no chance of being asked, but the offer has a q")
    whole = (draw >= 0) & (draw < Q_UNITS) & (draw == np.floor(draw))
    _refuse(whole, "draw", draw, "is not a whole number from 0 to 2^32 - 1")
    return dataclasses.replace(offers, chance=chance, draw=draw.astype(np.uint32))


def read_reports(path: Path, owners: Sequence[str], domain: Domain) -> Reports:
    """Reports in the order of ``owners``. Whoever is not in the file, or has an empty cell, did not report."""
    table = read_table(path, REPORT_COLUMNS, may_be_missing=("report",))
    place = {owner: i for i, owner in enumerate(owners)}
    for row, owner in enumerate(table.columns["owner"], start=1):
        if str(owner) not in place:
            raise InputError(f"{path}: row {row}, column 'owner': {str(owner)!r} has no offer")
    with naming(path):
        listed = received(table.values(domain, "report"), domain, column="report")
    rows = np.array([place[str(owner)] for owner in table.columns["owner"]], dtype=np.intp)
    codes, arrived = np.zeros(len(owners), dtype=np.int64), np.zeros(len(owners), dtype=bool)
    codes[rows], arrived[rows] = listed.codes, listed.arrived
    return Reports(codes=codes, arrived=arrived, selected=listed.selected, domain=domain)


def _refuse(good: Booleans, name: str, cells: Floats, fault: str) -> None:
    if not good.all():
        row = int(np.argmin(good))
        raise RowError(row + 1, name, f"{cells[row]:.10g} {fault}")
