"""Letters: what people want to be told of outside of these pages, and for the operator those that did not arrive."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Request, Response
from fastapi.responses import RedirectResponse
from pydantic import ValidationError

from pdqs.market import letter_choices, outbox
from pdqs.market.access import Session
from pdqs.market.letter_words import FOR_ROLE, KINDS
from pdqs.market.namesakes import marks, named
from pdqs.market.pages.error_pages import PageRoute
from pdqs.market.pages.render import Filled, page
from pdqs.market.pages.session import After, AnySession, Form, OperatorSession, market_of
from pdqs.protocol.letters import LetterChoices
from pdqs.protocol.market_messages import Cursor
from pdqs.protocol.problems import MarketError

router = APIRouter(route_class=PageRoute, include_in_schema=False)


@router.get("/account/letters")
def chosen(request: Request, session: AnySession) -> Response:
    """What I am told of, and where."""
    told = {"chosen": "Your choice is saved.", "confirmed": "Your address is confirmed."}
    return _shown(request, session, done=told.get(request.query_params.get("done", ""), ""))


@router.post("/account/letters")
def choose(request: Request, session: AnySession, form: Form) -> Response:
    """Choose."""
    given = {"email": str(form.get("email", "")).strip(), "webhook": str(form.get("webhook", "")).strip()}
    kinds = [kind for kind in KINDS if form.get(kind) == "yes"]
    if kinds and not any(given.values()):
        return _shown(request, session, fault=_nowhere(request), status=422, typed={**given, "kinds": kinds})
    try:
        letter_choices.choose(market_of(request), session.user, LetterChoices.model_validate({**given, "kinds": kinds}))
    except ValidationError as fault:
        wrong = {str(error["loc"][0]) for error in fault.errors()}
        said = (
            "this is not an e-mail address" if "email" in wrong else "a webhook is an address that begins with https://"
        )
        return _shown(request, session, fault=said, status=422, typed={**given, "kinds": kinds})
    except MarketError as refused:
        return _shown(request, session, fault=str(refused), status=refused.status, typed={**given, "kinds": kinds})
    return RedirectResponse("/account/letters?done=chosen", status_code=303)


def _nowhere(request: Request) -> str:
    """Why a choice of letters without an address is not kept: none of them could arrive."""
    if market_of(request).settings.mail_url:
        return "nothing was saved: give the address that letters should go to, or tick none"
    return "nothing was saved: this market sends no e-mail, so give the address of a webhook, or tick none"


@router.post("/account/letters/word")
def confirm(request: Request, session: AnySession, form: Form) -> Response:
    """Tell the word that was sent to a new e-mail address."""
    try:
        word = "".join(filter(str.isalnum, str(form.get("word", "")).lower()))
        letter_choices.confirm_email(market_of(request), session.user, word)
    except MarketError as refused:
        return _shown(request, session, fault=str(refused), status=refused.status)
    return RedirectResponse("/account/letters?done=confirmed", status_code=303)


@router.get("/operator/letters")
def undelivered(request: Request, session: OperatorSession, after: After = None) -> Response:
    """Letters that could not be delivered."""
    listed = outbox.dead_letters(market_of(request), session.user, after)
    with market_of(request).store.read() as connection:
        known = marks(connection, named(listed.items))
    return page(request, "operator/letters.html", letters=listed, kinds=KINDS, marks=known)


@router.post("/operator/letters/{letter_id}/again")
def again(request: Request, letter_id: Annotated[Cursor, Path()], session: OperatorSession, form: Form) -> Response:
    """Try one again."""
    assert form is not None  # its CSRF token has been checked
    outbox.try_again(market_of(request), session.user, letter_id)
    return RedirectResponse("/operator/letters", status_code=303)


def _shown(
    request: Request,
    session: Session,
    *,
    fault: str = "",
    done: str = "",
    status: int = 200,
    typed: Filled | None = None,
) -> Response:
    """The form as it is kept; after a fault as it was ``typed``."""
    market = market_of(request)
    offered = {kind: KINDS[kind] for kind in FOR_ROLE[session.user.role]}
    can = {"has_email": bool(market.settings.mail_url), "has_webhooks": market.settings.webhooks != "none"}
    kept = letter_choices.choices(market, session.user)
    shown = typed or {"email": kept.email, "webhook": kept.webhook, "kinds": kept.kinds}
    values = {"kept": kept, "typed": shown, "offered": offered, "fault": fault, "done": done}
    return page(request, "letters.html", status=status, **values, **can)
