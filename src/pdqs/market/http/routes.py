"""``/v1``: each route is one command or query, with its messages. Docstrings are the API's own documentation."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Header, Path, Query, Request, Response
from fastapi.concurrency import run_in_threadpool

from pdqs.market import access, forecasting, own_data, payouts, people, reads, records, round_steps, transfers
from pdqs.market.handing_over import clear_or_wait, settle_or_wait
from pdqs.market.http.credentials import Calling
from pdqs.market.paging import LIMIT
from pdqs.market.passkeys import is_passkey
from pdqs.market.stuck_rounds import told_why
from pdqs.protocol.device_messages import Identifier
from pdqs.protocol.forecasts import Forecast, ForecastRequest
from pdqs.protocol.market_messages import (
    AnswerMessage,
    Cursor,
    IdempotencyKey,
    Invitation,
    Me,
    Member,
    NewUser,
    NonceReveal,
    PayablePage,
    Redemption,
    Round,
    RoundPlan,
    RoundState,
    Statement,
    Token,
    Transaction,
    Transfer,
    TrialBalance,
    User,
    UserPage,
)
from pdqs.protocol.own_data import Erasure, Export
from pdqs.protocol.problems import PROBLEM_JSON, Problem
from pdqs.protocol.sign_ins import AccessPage, NewToken, SignIns
from pdqs.protocol.summaries import RoundPage, TransferPage

_PROBLEM = {"content": {PROBLEM_JSON: {"schema": Problem.model_json_schema()}}}
PROBLEMS: dict[int | str, dict[str, object]] = {
    400: {"description": "The request cannot be read", **_PROBLEM},
    401: {"description": "The caller is not known", **_PROBLEM},
    403: {"description": "The caller's role may not do this", **_PROBLEM},
    404: {"description": "No such object, or not the caller's to see", **_PROBLEM},
    409: {"description": "The state, the clock or an earlier request stands against it", **_PROBLEM},
    413: {"description": "The body is too large", **_PROBLEM},
    422: {"description": "The request is not valid", **_PROBLEM},
    429: {"description": "Too many requests", **_PROBLEM},
}

router = APIRouter(prefix="/v1", responses=PROBLEMS)

RoundId = Annotated[Identifier, Path(description="The round's id")]
UserId = Annotated[Identifier, Path(description="The user's id")]
SignInId = Annotated[Identifier, Path(description="The id of a session, a token or a passkey")]
Key = Annotated[IdempotencyKey, Header(alias="Idempotency-Key", description="The same key makes the same thing, once")]
After = Annotated[Cursor | None, Query(description="The 'next' of the page before")]
Limit = Annotated[int, Query(ge=1, le=200, description="How many at most")]


@router.post("/tokens", tags=["people"])
async def redeem_code(redemption: Redemption, request: Request) -> Token:
    """Exchange a one-time code for a bearer token."""
    market = request.app.state.market
    return await run_in_threadpool(lambda: access.redeem_for_token(market, redemption.code, redemption.name))


@router.get("/me", tags=["people"])
def get_me(caller: Calling) -> Me:
    """Who am I, and what is my balance?"""
    return reads.me(caller.market, caller.user())


@router.get("/me/access", tags=["people"])
def get_access(caller: Calling, after: After = None, limit: Limit = LIMIT) -> AccessPage:
    """Who signed in as me, by whose code, and who ended my sign-ins; newest first."""
    return reads.access_page(caller.market, caller.user(), after, limit)


@router.get("/me/sign-ins", tags=["people"])
def get_sign_ins(caller: Calling) -> SignIns:
    """Everything that can act as me: page sessions, tokens and passkeys."""
    return access.sign_ins(caller.market, caller.user())


@router.post("/me/sign-ins/{sign_in_id}/end", tags=["people"])
def post_end(sign_in_id: SignInId, caller: Calling) -> SignIns:
    """End one of them; what is left comes back."""
    user = caller.fresh_user() if is_passkey(sign_in_id) else caller.user()  # or the next request had none to show
    access.end_sign_in(caller.market, user, sign_in_id)
    return access.sign_ins(caller.market, user)


@router.post("/me/tokens", tags=["people"])
def post_token(new: NewToken, caller: Calling) -> Token:
    """Another bearer token, with a name; the one of the same name before it is void."""
    user = caller.fresh_user()
    return access.make_token(caller.market, user, new.name, by=user.user_id)


@router.get("/me/export", tags=["people"], response_model=Export)
def get_export(caller: Calling) -> Response:
    """Everything that the market holds on me."""
    return Response(own_data.export_text(caller.market, caller.user()), media_type="application/json")


@router.post("/me/erase", tags=["people"])
def post_erase(wish: Erasure, caller: Calling) -> Member:
    """Forget my name, end my sign-ins and close my account; the ledger keeps its lines."""
    return own_data.erase(caller.market, caller.fresh_user(), wish)


@router.post("/users/{user_id}/revoke", tags=["people"])
def post_revoke(user_id: UserId, caller: Calling) -> User:
    """End every sign-in (sessions, token, unused code), of oneself or (operator) of anyone."""
    return people.revoke_all(caller.market, caller.user(), user_id)


@router.post("/users/{user_id}/disable", tags=["people"])
def post_disable(user_id: UserId, caller: Calling) -> Member:
    """Shut someone out until enabled again (operator)."""
    return people.disable_user(caller.market, caller.user(), user_id)


@router.post("/users/{user_id}/enable", tags=["people"])
def post_enable(user_id: UserId, caller: Calling) -> Member:
    """Let someone in again, with a new code (operator)."""
    return people.enable_user(caller.market, caller.user(), user_id)


@router.post("/users", tags=["people"])
def post_user(new: NewUser, key: Key, caller: Calling) -> Invitation:
    """Let someone in (operator)."""
    actor = caller.fresh_user() if new.role == "operator" else caller.user()
    return round_steps.register_user(caller.market, actor, new, key)


@router.get("/users", tags=["people"])
def get_users(caller: Calling, after: After = None, limit: Limit = LIMIT) -> UserPage:
    """Everyone, newest first (operator)."""
    return reads.users_page(caller.market, caller.user(), after, limit)


@router.post("/users/{user_id}/code", tags=["people"])
def post_code(user_id: UserId, caller: Calling) -> Invitation:
    """A fresh one-time code, for oneself or (operator) for anyone."""
    return round_steps.renew_code(caller.market, caller.fresh_user(), user_id)


@router.get("/statement", tags=["money"])
def get_statement(caller: Calling, after: After = None, limit: Limit = LIMIT) -> Statement:
    """The caller's own postings, newest first."""
    return reads.statement(caller.market, caller.user(), after, limit)


@router.post("/deposits", tags=["money"])
def post_deposit(transfer: Transfer, key: Key, caller: Calling) -> Transaction:
    """Money from outside onto a consumer's balance (operator)."""
    return round_steps.deposit(caller.market, caller.user(), transfer, key)


@router.post("/payouts", tags=["money"])
def post_payout(transfer: Transfer, key: Key, caller: Calling) -> Transaction:
    """Enter that an owner was paid (operator)."""
    return round_steps.pay_out(caller.market, caller.user(), transfer, key)


@router.post("/refunds", tags=["money"])
def post_refund(transfer: Transfer, key: Key, caller: Calling) -> Transaction:
    """Enter that a consumer was paid unspent money back (operator)."""
    return transfers.refund(caller.market, caller.user(), transfer, key)


@router.get("/transfers", tags=["money"])
def get_transfers(caller: Calling, after: After = None, limit: Limit = LIMIT) -> TransferPage:
    """Deposits, payouts, refunds and reversals, newest first (operator)."""
    return transfers.journal(caller.market, caller.user(), after, limit)


@router.post("/transfers/{transaction_id}/reversal", tags=["money"])
def post_reversal(transaction_id: Annotated[Cursor, Path()], caller: Calling) -> Transaction:
    """Undo a deposit, a payout or a refund by an entry that mirrors it, once (operator)."""
    return transfers.reverse(caller.market, caller.user(), transaction_id)


@router.get("/payables", tags=["money"])
def get_payables(caller: Calling, after: After = None, limit: Limit = LIMIT) -> PayablePage:
    """Owners with money to come (operator)."""
    return reads.payables(caller.market, caller.user(), after, limit)


@router.get("/payables.csv", tags=["money"], response_class=Response, responses={200: {"content": {"text/csv": {}}}})
def get_payables_file(caller: Calling) -> Response:
    """All owners with money to come, as a CSV file (operator): what can be paid to each, and her balance."""
    return Response(payouts.payables_file(caller.market, caller.user()), media_type="text/csv")


@router.get("/trial-balance", tags=["money"])
def get_trial_balance(caller: Calling) -> TrialBalance:
    """The books, added up anew (operator)."""
    return reads.trial_balance(caller.market, caller.user())


@router.post("/forecast", tags=["rounds"])
def post_forecast(forecast: ForecastRequest, caller: Calling) -> Forecast:
    """What would this plan buy? (consumer, operator)"""
    return forecasting.forecast(caller.market, caller.user(), forecast)


@router.post("/rounds", tags=["rounds"])
def post_round(plan: RoundPlan, key: Key, caller: Calling) -> Round:
    """Draft a round (consumer)."""
    return round_steps.draft_round(caller.market, caller.user(), plan, key)


@router.get("/rounds", tags=["rounds"])
def get_rounds(
    caller: Calling, state: RoundState | None = None, after: After = None, limit: Limit = LIMIT
) -> RoundPage:
    """A consumer's rounds, or all (operator), newest first."""
    return reads.rounds_page(caller.market, caller.user(), state, after, limit)


@router.get("/rounds/{round_id}", tags=["rounds"])
def get_round(round_id: RoundId, caller: Calling) -> Round:
    """One round (its consumer, operator)."""
    return reads.round_by_id(caller.market, caller.user(), round_id)


@router.post("/rounds/{round_id}/open", tags=["rounds"])
def open_round(round_id: RoundId, caller: Calling) -> Round:
    """Put the budget in escrow, freeze the terms and take bids (its consumer)."""
    return round_steps.open_round(caller.market, caller.user(), round_id)


@router.post("/rounds/{round_id}/clear", tags=["rounds"])
def clear_round(round_id: RoundId, caller: Calling) -> Round:
    """Turn the bids into offers, once bids are closed (its consumer, operator)."""
    return clear_or_wait(caller.market, caller.user(), round_id)


@router.post("/rounds/{round_id}/nonce", tags=["rounds"])
def reveal_nonce(round_id: RoundId, told: NonceReveal, caller: Calling) -> Round:
    """Tell the nonce that the terms are committed to, once the root over the bids is published (its consumer)."""
    with told_why(caller.user(), round_id):
        return round_steps.reveal_nonce(caller.market, caller.user(), round_id, told)


@router.post("/rounds/{round_id}/next-stage", tags=["rounds"])
def open_next_stage(round_id: RoundId, caller: Calling) -> Round:
    """Ask the next stage, once the one before it is over; the clock does so by itself (its consumer, operator)."""
    with told_why(caller.user(), round_id):
        return round_steps.open_next_stage(caller.market, caller.user(), round_id)


@router.post("/rounds/{round_id}/settle", tags=["rounds"])
def settle_round(round_id: RoundId, caller: Calling) -> Round:
    """Answer, pay and give back the rest, once reports are in or closed (its consumer, operator)."""
    return settle_or_wait(caller.market, caller.user(), round_id)


@router.post("/rounds/{round_id}/cancel", tags=["rounds"])
def cancel_round(round_id: RoundId, caller: Calling) -> Round:
    """Call the round off before it is cleared (its consumer, operator)."""
    return round_steps.cancel_round(caller.market, caller.user(), round_id)


@router.get("/rounds/{round_id}/answer", tags=["rounds"])
def get_answer(round_id: RoundId, caller: Calling) -> AnswerMessage:
    """What the round found (its consumer, operator)."""
    return reads.answer(caller.market, caller.user(), round_id)


@router.get(
    "/rounds/{round_id}/record",
    tags=["rounds"],
    response_class=Response,
    responses={200: {"content": {"application/json": {}}}},
)
def get_record(round_id: RoundId, caller: Calling) -> Response:
    """All that is needed to check a settled round with ``pdqs verify`` (its consumer, operator, owners who bid)."""
    text = records.record_text(caller.market, caller.user(), round_id)
    headers = {"Content-Disposition": f'attachment; filename="{round_id}.record.json"'}
    return Response(text, media_type="application/json", headers=headers)
