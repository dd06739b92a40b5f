"""The ledger page: what is owed, and money in and out. What is asked for is said back before anything moves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import final

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse
from pydantic import ValidationError
from starlette.datastructures import FormData

from pdqs.market import ledger, payout_undoing, reads, transfers
from pdqs.market.context import Market
from pdqs.market.looking_up import how_many_owed, people_like
from pdqs.market.namesakes import called, marks, named
from pdqs.market.pages.error_pages import PageRoute
from pdqs.market.pages.render import Filled, page
from pdqs.market.pages.session import After, Form, OperatorSession, if_any, key_of, market_of
from pdqs.market.payouts import OnItsWay, on_their_way
from pdqs.market.people import user_by_id
from pdqs.model.errors import InputError
from pdqs.model.money import Currency
from pdqs.protocol.market_messages import Transaction, Transfer, User
from pdqs.protocol.problems import ConflictError, MarketError, NotFoundError, ProblemType, UnprocessableError
from pdqs.protocol.summaries import TransferLine

router = APIRouter(prefix="/operator/ledger", route_class=PageRoute, include_in_schema=False)

_LISTED = 500
"""Consumers in the list to choose from; with more, the id is typed."""
_SHOWN = 20

_ENTERED = {"deposit": transfers.deposit, "payout": transfers.pay_out, "refund": transfers.refund}
MOVES = (*_ENTERED, "reversal")


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """Money that is about to move: whose, how much is added to her balance, and what she has now."""

    kind: str
    person: User
    change_micros: int
    balance_micros: int
    coming: OnItsWay = OnItsWay()
    """Before a payout: what a provider was asked to pay her as well, or has paid her."""
    undoes: str = ""
    """The transaction that a reversal mirrors."""
    closes_micros: int = 0
    """Before a payout of a batch is undone: what of it was paid beyond what was owed, and is closed with it."""

    @property
    def after_micros(self) -> int:
        """What she would have."""
        return self.balance_micros + self.change_micros

    @property
    def is_beside(self) -> bool:
        """Whether what is on its way to her is still owed then: else she is paid that twice."""
        return self.after_micros >= self.coming.micros

    @property
    def amount_micros(self) -> int:
        """How much moves, either way."""
        return abs(self.change_micros)


@router.get("")
def ledger_page(request: Request, session: OperatorSession, after: After = None) -> Response:
    """The trial balance, what is owed, and money in and out."""
    market, done = market_of(request), request.query_params.get("done", "")
    entered = if_any(lambda: transfers.one_transfer(market, session.user, done)) if done else None
    values: Filled = {"given": _given({}, ""), "fault": "", **_ledger(market, session.user, after, entered)}
    return page(request, "operator/ledger.html", **values)


@router.post("/{move}")
def move_money(request: Request, move: str, session: OperatorSession, form: Form) -> Response:
    """Say a move of money back, and enter it once it is confirmed. The form's key makes it once."""
    if move not in MOVES:
        raise NotFoundError(ProblemType.NO_MOVE, "money moves by deposit, payout, refund or reversal")
    market = market_of(request)
    try:
        key = key_of(form)
        if form.get("confirmed") == "yes":
            done = _enter(market, session.user, move, form, key)
            return RedirectResponse(f"/operator/ledger?done={done.transaction_id}", status_code=303)
        asked = _asked(market, session.user, move, form)
    except MarketError as refused:
        given = _given(form, move)
        values: Filled = {"given": given, "fault": str(refused), **_ledger(market, session.user, None)}
        return page(request, "operator/ledger.html", status=refused.status, **values)
    if payout_undoing.is_taking_off(asked.undoes):  # not by itself: the form goes on to where she is asked of all of it
        reference = payout_undoing.reference_in(asked.undoes)
        return RedirectResponse(f"/operator/payouts/over/{reference}/came-back", status_code=307)
    with market.store.read() as connection:
        name = called(connection, asked.person.user_id, asked.person.name)
    return page(request, "operator/confirm.html", move=asked, name=name, key=key)


def _given(form: Mapping[str, object], move: str) -> dict[str, str]:
    """What was chosen and typed, and for which move, so that a refusal loses none of it."""
    return {"move": move, **{name: str(form.get(name, ""))[:200] for name in ("user_id", "amount")}}


def _enter(market: Market, user: User, move: str, form: FormData, key: str) -> Transaction:
    if move == "reversal":
        return transfers.reverse(market, user, str(form.get("undoes", "")))
    return _ENTERED[move](market, user, _transfer(market.settings.money, form), key)


def _asked(market: Market, user: User, move: str, form: FormData) -> Move:
    """What the form asks for; refused at once when she has too little for it."""
    undoes, closes = str(form.get("undoes", "")), 0
    if move == "reversal":
        line = transfers.one_transfer(market, user, undoes)
        if line.undone or line.kind == "reversal":
            raise ConflictError(ProblemType.NOT_REVERSIBLE, "this was undone before, or undoes another")
        user_id, change = line.user_id, -line.amount_micros
        with market.store.read() as connection:
            payout = payout_undoing.line_of(connection, undoes)
            if payout is not None:  # all its parts go together
                change, closes = payout_undoing.entered_of(connection, payout.reference), payout.over_micros
    else:
        transfer = _transfer(market.settings.money, form)
        user_id, change = transfer.user_id, transfer.amount_micros * (1 if move == "deposit" else -1)
    with market.store.read() as connection:
        person = user_by_id(connection, user_id)
        if person.role == "operator":
            raise ConflictError(ProblemType.WRONG_ACCOUNT, "operators have no balance")
        if move in ("deposit", "refund") and person.role != "consumer":
            raise ConflictError(ProblemType.WRONG_ACCOUNT, f"{person.name} is an owner: {move}s are for consumers")
        if move == "payout" and person.role != "owner":
            raise ConflictError(ProblemType.WRONG_ACCOUNT, f"{person.name} is a consumer: she is paid by a refund")
        account = ledger.account_of(person.role, user_id)
        held, bound = ledger.balance(connection, account), transfers.in_escrow(connection, account)
        coming = on_their_way(connection, [user_id]).get(user_id, OnItsWay()) if move == "payout" else OnItsWay()
    if held + change < 0:
        has, needs = market.settings.money.exact(held), market.settings.money.exact(-change)
        rest = f"; rounds of hers hold {market.settings.money.exact(bound)} more until they end" if bound else ""
        detail = f"{person.name} has {has}, which does not cover {needs}{rest}"
        raise ConflictError(ProblemType.INSUFFICIENT_FUNDS, detail)
    moved = Move(kind=move, person=person, change_micros=change, balance_micros=held, undoes=undoes)
    return replace(moved, coming=coming, closes_micros=closes)


def _transfer(money: Currency, form: FormData) -> Transfer:
    try:
        micros = money.read(str(form.get("amount", "")))
        if micros == 0 or micros != money.payable(micros):
            least = money.exact(money.step)
            raise InputError(f"amount: it must be at least {least}, and have at most {money.decimals} decimals")
        if not form.get("user_id"):
            raise UnprocessableError(ProblemType.BAD_AMOUNT, "choose a consumer")
        return Transfer(user_id=str(form.get("user_id", "")), amount_micros=micros)
    except InputError as doubt:
        raise UnprocessableError(ProblemType.BAD_AMOUNT, str(doubt)) from None
    except ValidationError:
        told = f"choose someone, and give an amount within the limits: {transfers.limits_told(money)}"
        raise UnprocessableError(ProblemType.BAD_AMOUNT, told) from None


def _ledger(market: Market, user: User, after: str | None, entered: TransferLine | None = None) -> Filled:
    owed, moved = reads.payables(market, user, limit=_SHOWN), transfers.journal(market, user, after, 20)
    consumers = people_like(market, user, role="consumer", limit=_LISTED)
    with market.store.read() as connection:
        known = marks(connection, named(owed.items, moved.items, consumers.items, [entered] if entered else []))
        coming = on_their_way(connection, [one.user_id for one in owed.items])
    return {
        "entered": entered,
        "books": reads.trial_balance(market, user),
        "payables": owed,
        "how_many": how_many_owed(market, user),
        "journal": moved,
        "consumers": consumers,
        "coming": coming,
        "marks": known,
    }
