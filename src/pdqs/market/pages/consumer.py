"""The consumer's pages: plan a round, open it, follow it, read the answer."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from urllib.parse import urlencode

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse
from starlette.datastructures import FormData, QueryParams

from pdqs.market import as_shown, drafts, forecasting, groups, reads
from pdqs.market.context import Market
from pdqs.market.handing_over import clear_or_wait, settle_or_wait
from pdqs.market.pages import own_nonce, plan_form
from pdqs.market.pages.answer_files import answer_csv, as_attachment, file_name, picture_words
from pdqs.market.pages.confirming import asked_back, is_confirmed, to_cancel
from pdqs.market.pages.draft_changes import kept_instead
from pdqs.market.pages.error_pages import PageRoute
from pdqs.market.pages.field_names import named_fault, why_not_priced
from pdqs.market.pages.plan_form import PlanForm
from pdqs.market.pages.question_templates import TEMPLATES
from pdqs.market.pages.render import Filled, page
from pdqs.market.pages.round_figures import could_answer, scale
from pdqs.market.pages.round_step import cancelling, refusal
from pdqs.market.pages.session import After, ConsumerSession, Form, RoundId, if_any, is_key, key_of, market_of
from pdqs.market.price_outlook import owners_able, owners_expected
from pdqs.protocol.device_messages import Identifier
from pdqs.protocol.forecasts import Forecast, ForecastRequest
from pdqs.protocol.market_messages import Round, RoundPlan, User
from pdqs.protocol.problems import (
    ConflictError,
    MarketError,
    NotFoundError,
    ProblemType,
    TooManyRequestsError,
    UnprocessableError,
)

router = APIRouter(prefix="/consumer", route_class=PageRoute, include_in_schema=False)

STEPS = {"clear": clear_or_wait, "settle": settle_or_wait}


@router.get("")
def home(request: Request, session: ConsumerSession, after: After = None) -> Response:
    """The consumer's rounds and balance."""
    market = market_of(request)
    listed = reads.rounds_page(market, session.user, after=after)
    return page(request, "consumer/home.html", me=reads.me(market, session.user), rounds=listed)


@router.get("/plan")
def plan(request: Request, session: ConsumerSession, like: Identifier | None = None, form: str = "") -> Response:
    """The form, with a picture of what the plan buys; filled in as the round that it is to be ``like``, if any.

    Its key is in its address: who goes back is at the same form, with scripts or without, and finds the draft that it
    made, to change. A form that is begun anew has another.
    """
    kept = [(name, value) for name, value in request.query_params.multi_items() if name != "form"]
    if not is_key(form):
        return _fresh_form(kept)
    market, given = market_of(request), QueryParams(kept)
    made = if_any(lambda: reads.round_by_id(market, session.user, drafts.draft_id(session.user, form)))
    if made is not None and made.state != "draft":  # its terms are frozen: what may be asked again is another form
        return _fresh_form([("like", made.round_id)])
    of = made.round_id if made is not None else like
    filled = _read_like(market, session.user, of) if of else _read(market, given)
    faults, sent = filled.faults if of or given else {}, "before" if made is not None else "like" if of else ""
    shown = as_shown.hash_of(made.plan) if made is not None else ""
    return _plan_page(request, session.user, filled, faults=faults, key=form, sent=sent, shown=shown)


def _fresh_form(asked: list[tuple[str, str]]) -> Response:
    """To a form of its own, filled in as it was asked for."""
    address = urlencode([*asked, ("form", secrets.token_urlsafe(18))])
    return RedirectResponse(f"/consumer/plan?{address}", status_code=303)


def _read_like(market: Market, user: User, round_id: str) -> PlanForm:
    """The form filled in as a round of hers."""
    plan = reads.round_by_id(market, user, round_id).plan
    return _read(market, plan_form.fields_of(plan, market.settings.money), plan.groups)


def _read(market: Market, given: Mapping[str, object], groups: Sequence[str] = ()) -> PlanForm:
    """A form that expects, unless it says how many, the owners that there are."""
    return plan_form.read(given, market.settings.money, owners_expected(market, groups))


@router.get("/rounds/{round_id}/edit")
def edit(request: Request, round_id: RoundId, session: ConsumerSession) -> Response:
    """The form of a draft, to change it."""
    market = market_of(request)
    found = reads.round_by_id(market, session.user, round_id)  # first of all: whether there is such a round of hers
    if found.state != "draft":  # its terms are frozen: its page says where it stands, and how to ask otherwise
        return RedirectResponse(f"/consumer/rounds/{round_id}", status_code=303)
    given = request.query_params
    form = _read(market, given, found.plan.groups) if given else _read_like(market, session.user, round_id)
    shown = as_shown.hash_of(found.plan)
    return _plan_page(request, session.user, form, faults=form.faults, editing=round_id, shown=shown)


@router.post("/rounds/{round_id}/edit")
def change(request: Request, round_id: RoundId, session: ConsumerSession, form: Form) -> Response:
    """Keep a draft as it was changed."""

    def keep(market: Market, plan: RoundPlan) -> None:
        _changed(market, session.user, round_id, plan, _shown(form))

    return _kept(request, session.user, form, keep, round_id, editing=round_id)


def _changed(market: Market, user: User, round_id: str, plan: RoundPlan, shown: str) -> None:
    """Put a plan in the place of the draft that the form showed; where another is kept by now, say what that is."""
    before = reads.round_by_id(market, user, round_id).plan
    try:
        drafts.change_draft(market, user, round_id, plan_form.with_unshown(plan, before), shown)
    except ConflictError as refused:
        if refused.type is not ProblemType.OTHER_TERMS:
            raise
        raise ConflictError(refused.type, kept_instead(before, plan, market.settings.money)) from refused


def _shown(form: FormData) -> str:
    """The hash of the draft that a form was filled in from; empty if from none."""
    return str(form.get("shown", ""))[:64]


def _kept(
    request: Request,
    user: User,
    form: FormData,
    keep: Callable[[Market, RoundPlan], None],
    round_id: str,
    editing: str = "",
    key: str = "",
) -> Response:
    """Keep a plan and go to its round; what stands against it is said above the form, and what was typed stays."""
    market = market_of(request)
    filled = plan_form.read(form, market.settings.money)
    if form.get("look") == "yes":  # without scripts: the picture alone, and no words of hers in an address
        return _plan_page(request, user, filled, faults=filled.faults, editing=editing, key=key, shown=_shown(form))
    faults, shown = {**filled.faults, **plan_form.missing(filled)}, _shown(form)
    if not faults and filled.plan is not None:
        try:
            keep(market, filled.plan)
        except (ConflictError, UnprocessableError) as refused:
            faults = {"": str(refused)}
            if refused.type is ProblemType.OTHER_TERMS:  # she has now been told what is kept
                shown = as_shown.hash_of(reads.round_by_id(market, user, round_id).plan)
            elif isinstance(refused, ConflictError):  # that round is frozen: sent again, it is another
                key = ""
        else:
            return RedirectResponse(f"/consumer/rounds/{round_id}", status_code=303)
    return _plan_page(request, user, filled, faults=faults, status=422, editing=editing, key=key, shown=shown)


@router.get("/rounds/{round_id}/forecast")
def forecast_of(request: Request, round_id: RoundId, session: ConsumerSession) -> Response:
    """What a draft buys if everyone in this market bids, for the page where she pays."""
    market = market_of(request)
    found = reads.round_by_id(market, session.user, round_id)
    form = PlanForm(fields={}, plan=found.plan, owners=max(owners_able(market, found.plan), found.plan.minimum_owners))
    return page(request, "consumer/preview.html", form=form, **_forecast(market, session.user, form))


@router.get("/plan/preview")
def preview(request: Request, session: ConsumerSession) -> Response:
    """The picture alone, for the form to show as it is filled in."""
    form = plan_form.read(request.query_params, market_of(request).settings.money)
    return page(request, "consumer/preview.html", form=form, **_forecast(market_of(request), session.user, form))


@router.get("/rounds")
def form_again(_session: ConsumerSession) -> Response:
    """Where a plan was sent and refused, the form stood at this address: asked for anew, it is the form."""
    return RedirectResponse("/consumer/plan", status_code=303)


@router.post("/rounds")
def draft(request: Request, session: ConsumerSession, form: Form) -> Response:
    """Keep a plan as a draft."""
    key = key_of(form)
    round_id = drafts.draft_id(session.user, key)

    def keep(market: Market, plan: RoundPlan) -> None:
        try:
            drafts.draft_round(market, session.user, plan, key)
        except ConflictError as refused:
            if refused.type is not ProblemType.IDEMPOTENCY_KEY_REUSED:
                raise
            # She went back to this very form and changed it: so is the draft.
            _changed(market, session.user, round_id, plan, _shown(form))

    return _kept(request, session.user, form, keep, round_id, key=key)


@router.get("/rounds/{round_id}")
def one_round(request: Request, round_id: RoundId, session: ConsumerSession) -> Response:
    """A round: where it stands, what it costs, and its answer."""
    return page(request, "consumer/round.html", fault="", **_round(market_of(request), session.user, round_id))


@router.get("/rounds/{round_id}/progress")
def progress(request: Request, round_id: RoundId, session: ConsumerSession) -> Response:
    """The part of the page that changes, for the page to follow."""
    return page(request, "consumer/progress.html", **_round(market_of(request), session.user, round_id))


@router.post("/rounds/{round_id}/{step}")
def take_step(request: Request, round_id: RoundId, step: str, session: ConsumerSession, form: Form) -> Response:
    """Open, cancel, tell a nonce, clear or settle; what stands against it is said on the page itself."""
    market = market_of(request)
    if step == "cancel" and not is_confirmed(form):
        found = reads.round_by_id(market, session.user, round_id)
        if found.state in ("draft", "open"):
            sure = to_cancel(found, market.settings.money, whose="your balance")
            return asked_back(request, sure, back=f"/consumer/rounds/{round_id}")
    refused = refusal({**STEPS, **own_nonce.steps_of(form), **cancelling(form)}, step, market, session.user, round_id)
    if refused:
        values = _round(market, session.user, round_id)
        return page(request, "consumer/round.html", status=refused.status, fault=str(refused), **values)
    return RedirectResponse(f"/consumer/rounds/{round_id}", status_code=303)


@router.get("/rounds/{round_id}/answer.{kind}")
def download(request: Request, round_id: RoundId, kind: str, session: ConsumerSession) -> Response:
    """The answer as a file."""
    found = reads.answer(market_of(request), session.user, round_id)
    of = reads.round_by_id(market_of(request), session.user, round_id)
    if kind == "json":
        text, media = found.model_dump_json(indent=2), "application/json"
    elif kind == "csv":
        text, media = answer_csv(found, of), "text/csv; charset=utf-8"
    else:
        raise NotFoundError(ProblemType.NO_FORMAT, "an answer can be had as json or csv")
    headers = {"Content-Disposition": as_attachment(of, kind), "Cache-Control": "no-store"}
    return Response(text, media_type=media, headers=headers)


def _plan_page(
    request: Request,
    user: User,
    form: PlanForm,
    *,
    faults: dict[str, str],
    status: int = 200,
    editing: str = "",
    key: str = "",
    sent: str = "",
    shown: str = "",
) -> Response:
    """The form; ``editing`` is the draft that it will change, ``key`` its own if it has one. ``sent``: it made a draft
    ``before``, or is filled in ``like`` another. ``shown``: the hash of the draft that it was filled in from."""
    market = market_of(request)
    balance = reads.me(market, user).balance_micros
    values = {"form": form, "faults": faults, "balance_micros": balance, **_forecast(market, user, form)}
    values["groups"] = groups.all_groups(market, user).items
    values |= {"editing": editing, "key": key or secrets.token_urlsafe(18), "sent": sent, "templates": TEMPLATES}
    values |= {"shown": shown, "named_fault": named_fault}
    return page(request, "consumer/plan.html", status=status, **values)


def _forecast(market: Market, user: User, form: PlanForm) -> Filled:
    """What the plan buys; a plan that cannot be priced says why instead, and one that must wait that it does."""
    if form.plan is None:
        return {"forecast": None, "why": why_not_priced(form.faults)}
    try:
        # The words of the question change nothing about its price: leave them out, so that typing them costs nothing.
        query = form.plan.query.model_copy(update={"text": ""})
        words = {"query": query, "attribute": "unnamed", "purpose": "", "use": "", "groups": []}
        plain = form.plan.model_copy(update=words)
        request = ForecastRequest(plan=plain, owners=form.owners)
        return {"forecast": _known_forecast(market, user, request.model_dump_json()), "why": ""}
    except TooManyRequestsError:
        return {"forecast": None, "why": ""}
    except MarketError as fault:
        return {"forecast": None, "why": str(fault)}


@lru_cache(maxsize=256)
def _known_forecast(market: Market, user: User, request: str) -> Forecast:
    """Forecasts are pure, and a form asks for the same one again and again."""
    return forecasting.forecast(market, user, ForecastRequest.model_validate_json(request))


def _round(market: Market, user: User, round_id: str) -> Filled:
    found: Round = reads.round_by_id(market, user, round_id)
    answer = reads.answer(market, user, round_id) if found.state == "settled" else None
    balance = reads.me(market, user).balance_micros
    figures: Filled = {
        "balance_micros": balance,
        "shown": as_shown.hash_of(found.plan),
        "nonce_due_ms": own_nonce.due_ms(found),
        "could_answer": could_answer(found),
        "owners_able": owners_able(market, found.plan) if found.state == "draft" else 0,
        "too_few": groups.refusal_now(market, found.plan) if found.state == "draft" else "",
    }
    if answer is not None:
        mark = market.settings.money.mark
        figures |= {"file_name": file_name(found), "picture_words": picture_words(answer, found, mark)}
    return {"round": found, "answer": answer, "scale": scale(found, answer), **figures}
