"""``/v1`` for an operator with very many people; each route is one command or query."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query, Response

from pdqs.market import deeds, invitations, looking_up, overpaid, payout_confirmations, payouts
from pdqs.market.http.credentials import Calling
from pdqs.market.http.routes import PROBLEMS, After, Key, Limit
from pdqs.market.paging import LIMIT
from pdqs.protocol.device_messages import Identifier
from pdqs.protocol.market_messages import PayablePage, Role, UserPage
from pdqs.protocol.operator_messages import (
    Confirmation,
    ConfirmedBatch,
    DeedPage,
    Invitations,
    JournalPage,
    NewUsers,
    Overpaid,
    OverpaidPage,
    PayoutBatch,
    PayoutBatchPage,
    Reference,
)

router = APIRouter(prefix="/v1", responses=PROBLEMS)

BatchId = Annotated[Identifier, Path(description="The batch's id")]
PayoutReference = Annotated[Reference, Path(description="The payout's reference")]
Text = Annotated[str, Query(max_length=looking_up.MOST_LETTERS, description="A part of a name, or the start of an id")]


@router.post("/invitations", tags=["people"])
def post_invitations(new: NewUsers, key: Key, caller: Calling) -> Invitations:
    """Let many people in at once (operator)."""
    actor = caller.fresh_user() if new.role == "operator" else caller.user()
    return invitations.register_many(caller.market, actor, new, key)


@router.get("/people", tags=["people"])
def get_people(
    caller: Calling, text: Text = "", role: Role | None = None, after: After = None, limit: Limit = LIMIT
) -> UserPage:
    """People by a part of their name, newest first (operator)."""
    return looking_up.people_like(caller.market, caller.user(), text, role, after, limit)


@router.get("/owed", tags=["money"])
def get_owed(caller: Calling, text: Text = "", after: After = None, limit: Limit = LIMIT) -> PayablePage:
    """Owners with money to come, by a part of their name (operator)."""
    return looking_up.payables_like(caller.market, caller.user(), text, after, limit)


@router.get("/journal", tags=["money"])
def get_journal(caller: Calling, after: After = None, limit: Limit = LIMIT) -> JournalPage:
    """Every transaction of the ledger, newest first (operator)."""
    return looking_up.journal_page(caller.market, caller.user(), after, limit)


@router.get("/deeds", tags=["operations"])
def get_deeds(caller: Calling, after: After = None, limit: Limit = LIMIT) -> DeedPage:
    """What operators did, newest first (operator)."""
    return deeds.deeds_page(caller.market, caller.user(), after, limit)


@router.post("/payout-batches", tags=["money"])
def post_batch(key: Key, caller: Calling) -> PayoutBatch:
    """Put what is owed into a batch for a payment provider (operator)."""
    return payouts.make_batch(caller.market, caller.user(), key)


@router.get("/payout-batches", tags=["money"])
def get_batches(caller: Calling, after: After = None, limit: Limit = LIMIT) -> PayoutBatchPage:
    """Batches of payouts, newest first (operator)."""
    return payouts.batches_page(caller.market, caller.user(), after, limit)


@router.get(
    "/payout-batches/{batch_id}/file.csv",
    tags=["money"],
    response_class=Response,
    responses={200: {"content": {"text/csv": {}}}},
)
def get_batch_file(batch_id: BatchId, caller: Calling) -> Response:
    """What a provider is asked to pay, as a CSV file (operator)."""
    text = payouts.batch_file(caller.market, caller.user(), batch_id)
    headers = {"Content-Disposition": f'attachment; filename="payouts-{batch_id}.csv"'}
    return Response(text, media_type="text/csv", headers=headers)


@router.post("/payout-batches/{batch_id}/confirmation", tags=["money"])
def post_confirmation(batch_id: BatchId, told: Confirmation, caller: Calling) -> ConfirmedBatch:
    """Read a provider's confirmation and enter what was paid; again, it changes nothing (operator)."""
    return payout_confirmations.confirm_batch(
        caller.market, caller.user(), batch_id, told.text, came_back=told.came_back
    )


@router.post("/payout-batches/{batch_id}/call-off", tags=["money"])
def post_call_off(batch_id: BatchId, caller: Calling) -> PayoutBatch:
    """Wait no longer for what still waits in a batch: it is owed as before (operator)."""
    return payouts.call_off(caller.market, caller.user(), batch_id)


@router.get("/overpaid", tags=["money"])
def get_overpaid(caller: Calling, after: After = None, limit: Limit = LIMIT) -> OverpaidPage:
    """What providers paid beyond what was owed, as far as nobody has seen to it (operator)."""
    return overpaid.overpaid_page(caller.market, caller.user(), after, limit)


@router.post("/overpaid/{reference}/entry", tags=["money"])
def post_overpaid_entry(reference: PayoutReference, caller: Calling) -> Overpaid:
    """Take it off what is owed to her now, as far as that goes (operator)."""
    return overpaid.enter(caller.market, caller.user(), reference)


@router.post("/overpaid/{reference}/came-back", tags=["money"])
def post_overpaid_came_back(reference: PayoutReference, caller: Calling) -> Overpaid:
    """It did not stay paid: undo all that was entered of it, and close what was kept apart (operator)."""
    return overpaid.came_back(caller.market, caller.user(), reference)


@router.post("/overpaid/{reference}/let-be", tags=["money"])
def post_overpaid_let_be(reference: PayoutReference, caller: Calling) -> Overpaid:
    """Close it: the money came back, or is given up (operator)."""
    return overpaid.let_be(caller.market, caller.user(), reference)
