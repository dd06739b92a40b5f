"""The pages of payouts by the batch: what is owed, batches, confirmations, and what was paid beyond what was owed."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import RedirectResponse
from sqlalchemy import Connection

from pdqs.market import access, given_up, looking_up, overpaid, payout_confirmations, payout_undoing, payouts
from pdqs.market.namesakes import called, marks, named
from pdqs.market.pages.confirming import Sure, asked_back, is_confirmed
from pdqs.market.pages.error_pages import PageRoute
from pdqs.market.pages.render import Filled, page
from pdqs.market.pages.session import After, Form, OperatorSession, key_of, market_of
from pdqs.market.pages.uploads import Uploaded, file_of
from pdqs.market.times import moment_text
from pdqs.model.money import Currency
from pdqs.protocol.device_messages import Identifier
from pdqs.protocol.market_messages import User
from pdqs.protocol.operator_messages import Overpaid, Reference
from pdqs.protocol.problems import MarketError, NotFoundError, ProblemType

router = APIRouter(prefix="/operator/payouts", route_class=PageRoute, include_in_schema=False)

_NAMED = 12
"""How many of those whose payouts failed are named at once."""

BatchId = Annotated[Identifier, Path()]
PayoutReference = Annotated[Reference, Path()]
Text = Annotated[str, Query(max_length=looking_up.MOST_LETTERS)]
SEEN_TO = {"entry": overpaid.enter, "came-back": overpaid.came_back, "let-be": overpaid.let_be}


@router.get("")
def payouts_page(
    request: Request,
    session: OperatorSession,
    text: Text = "",
    after: After = None,
    older: After = None,
    told: Identifier = "",
) -> Response:
    """What is owed to whom, and the batches that providers were asked for; ``told``: one that was told of just now."""
    return _shown(request, session.user, text=text, after=after, older=older, told=told)


@router.post("")
def new_batch(request: Request, session: OperatorSession, form: Form) -> Response:
    """Put what is owed into a batch. No money moves yet."""
    try:
        payouts.make_batch(market_of(request), session.user, key_of(form))
    except MarketError as refused:
        return _shown(request, session.user, status=refused.status, fault=str(refused))
    return RedirectResponse("/operator/payouts", status_code=303)


@router.post("/{batch_id}/confirmation")
async def read_confirmation(request: Request, batch_id: BatchId, session: OperatorSession, form: Uploaded) -> Response:
    """Say back what a provider's file confirms; enter it once that is confirmed in turn."""
    access.check_csrf(session, str(form.get("csrf_token", "")))
    market = market_of(request)
    try:
        text = str(form.get("text", "")) or payout_confirmations.confirmation_text(await file_of(form))
        if form.get("confirmed") == "yes":
            back, confirm = form.get("came_back") == "yes", payout_confirmations.confirm_batch
            await run_in_threadpool(confirm, market, session.user, batch_id, text, came_back=back)
            return RedirectResponse(f"/operator/payouts?told={batch_id}", status_code=303)
        found = await run_in_threadpool(payout_confirmations.preview, market, session.user, batch_id, text)
    except MarketError as refused:
        return _shown(request, session.user, status=refused.status, fault=str(refused))
    with market.store.read() as connection:
        known = marks(connection, named(found.remarks))
    values: Filled = {"found": found, "marks": known, "text": text, "batch_id": batch_id}
    return page(request, "operator/confirm_batch.html", **values)


@router.post("/{batch_id}/call-off")
def call_off(request: Request, batch_id: BatchId, session: OperatorSession, form: Form) -> Response:
    """Wait no longer for what still waits in a batch, after a second word."""
    market = market_of(request)
    if is_confirmed(form):
        payouts.call_off(market, session.user, batch_id)
        return RedirectResponse("/operator/payouts", status_code=303)
    with market.store.read() as connection:
        batch = payouts.batch_by_id(connection, batch_id)
    sure = Sure(
        question="Call off what still waits?",
        about=f"The batch of {moment_text(batch.made_at_ms)}",
        facts={"Waiting": f"{batch.waiting:,}", "Together": market.settings.money.shown(batch.waiting_micros)},
        what=(
            "It is owed as before, and the next batch has it again. Do this only when the provider does not pay it any"
            " more: else it is paid twice. Should it be paid all the same, read the confirmation as usual."
        ),
        button="Call it off",
    )
    return asked_back(request, sure, back="/operator/payouts")


@router.post("/over/{reference}/{what}")
def see_to(request: Request, reference: PayoutReference, what: str, session: OperatorSession, form: Form) -> Response:
    """Take what was paid beyond what was owed off what is owed now, undo it all, or let it be; after a second word."""
    if what not in SEEN_TO:
        raise NotFoundError(ProblemType.NO_MOVE, "what was paid too much is entered, came back, or is let be")
    market = market_of(request)
    try:
        if is_confirmed(form):
            SEEN_TO[what](market, session.user, reference)
            return RedirectResponse("/operator/payouts", status_code=303)
        sure = _before(request, session.user, reference, what)
    except MarketError as refused:
        return _shown(request, session.user, status=refused.status, fault=str(refused))
    return asked_back(request, sure, back="/operator/payouts")


def _before(request: Request, user: User, reference: str, what: str) -> Sure:
    """What is asked before it is entered or let be."""
    market = market_of(request)
    found, money = overpaid.one_overpaid(market, user, reference), market.settings.money
    with market.store.read() as connection:
        name = called(connection, found.user_id, found.name)
        before = payout_undoing.entered_of(connection, reference)
        again = given_up.taken_back(connection, reference, found.user_id)
    facts = {"Kept apart": money.exact(found.over_micros), "Owed now": money.exact(found.owed_micros)}
    if found.given_up_micros:
        facts["Given up"] = money.exact(found.given_up_micros)
    if what == "let-be":
        return Sure(
            question=f"Let it be with {name}?",
            facts=facts,
            what=(
                "It came back to you by other means, or you give it up. Nothing moves in the ledger, and what is owed"
                " to her stays owed."
            ),
            button="Let it be",
        )
    if what == "came-back":
        return Sure(
            question=f"Was {name} not paid after all?",
            facts={
                **facts,
                "Entered of it before": money.exact(before),
                "Owed then": money.exact(found.owed_micros + before - again),
                **({"Given up then": money.exact(found.given_up_micros + again)} if again else {}),
            },
            what=(
                "All that was entered of this payment is undone, and what was kept apart is closed: it is as if the"
                " provider had told that it failed. Do this when the money is with you: if she has it, she is paid it"
                " once more."
            ),
            button="She was not paid: undo it",
        )
    return _before_entry(found, name, facts, money)


def _before_entry(found: Overpaid, name: str, facts: dict[str, str], money: Currency) -> Sure:
    """What is asked before it is taken off what is owed, and then off what was given up."""
    entered = overpaid.within_reach(found)
    from_given = max(0, entered - found.owed_micros)
    then = {"Owed then": money.exact(found.owed_micros + from_given - entered)}
    what = "It is entered as a payout: she has this money already. She sees it on her statement."
    if from_given:
        then["Given up then"] = money.exact(found.given_up_micros - from_given)
        what = "It is entered as a payout: she has this money already, and so has not given it up after all."
    off = f"what is owed to {name}" if found.owed_micros or not from_given else f"what was given up by {name}"
    return Sure(
        question=f"Take {money.exact(entered)} off {off}?",
        facts={**facts, **then},
        what=what,
        button=f"Take off {money.exact(entered)}",
    )


def _shown(
    request: Request,
    user: User,
    *,
    text: str = "",
    after: str | None = None,
    older: str | None = None,
    status: int = 200,
    fault: str = "",
    told: str = "",
) -> Response:
    market = market_of(request)
    owed, over = looking_up.payables_like(market, user, text, after), overpaid.overpaid_page(market, user)
    with market.store.read() as connection:
        coming = payouts.on_their_way(connection, [one.user_id for one in owed.items])
        known = marks(connection, named(owed.items, over.items))
        entered = _entered(connection, told) if told else {}
    values: Filled = {
        "owed": owed,
        "over": over,
        "coming": coming,
        "marks": known,
        "how_many": looking_up.how_many_owed(market, user),
        "batches": payouts.batches_page(market, user, older, 20),
        "text": text,
        "fault": fault,
        "entered": entered,
    }
    return page(request, "operator/payouts.html", status=status, **values)


def _entered(connection: Connection, batch_id: str) -> Filled:
    """How a batch stands once its confirmation is read, and by name whose payouts failed."""
    batch = payouts.batch_by_id(connection, batch_id)
    lines = payouts.lines_of(connection, batch_id, held=False).values()
    failed = [line for line in lines if line.state == "failed"][:_NAMED]
    return {"batch": batch, "failed": [called(connection, line.user_id, line.name) for line in failed]}
