"""What a person sees when a page cannot be shown: errors as pages, in the same words as the API's."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from urllib.parse import quote

from fastapi import Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import RedirectResponse
from fastapi.routing import APIRoute

from pdqs.market import access
from pdqs.market.http.plain_answers import title_of
from pdqs.market.pages.not_sent import form_of_earlier_session, form_without_session
from pdqs.market.pages.render import page
from pdqs.market.pages.session import HOMES, SignInFirst, own_path
from pdqs.protocol.problems import MarketError, ProblemType

_LOST_PLACE = "this page of the list is not there any more: begin at its first page"


class PageRoute(APIRoute):
    """A route whose errors are pages too, in the same words as the API's."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[object, None, Response]]:
        handler = super().get_route_handler()

        async def handled(request: Request) -> Response:
            try:
                return await handler(request)
            except SignInFirst:
                if request.method == "POST":
                    return await form_without_session(request)
                return RedirectResponse(_door_before(request), status_code=303)
            except MarketError as fault:
                if fault.type == ProblemType.BAD_CSRF_TOKEN:
                    return form_of_earlier_session(request)
                if fault.type == ProblemType.BAD_CURSOR:
                    return page(request, "error.html", status=404, title="Not found", detail=_LOST_PLACE)
                if fault.type == ProblemType.WRONG_ROLE and (found := _for_others(request)):
                    return found
                return page(request, "error.html", status=fault.status, title=title_of(fault.status), detail=str(fault))
            except RequestValidationError:
                return page(request, "error.html", status=404, title="Not found", detail="there is no such page")

        return handled


def _for_others(request: Request) -> Response | None:
    """A page of another role: whom it is for, who is signed in, and what she can do."""
    session, place = request.state.session, "/" + request.url.path[1:].partition("/")[0]
    whose = next((role for role, home in HOMES.items() if home == place), session.user.role)
    if whose == session.user.role:
        return None
    wanted = _asked_for(request) if request.method == "GET" else ""
    values = {"whose": whose, "one": access.ONE, "home": HOMES[session.user.role], "wanted": wanted}
    return page(request, "for_others.html", status=403, **values)


def _door_before(request: Request) -> str:
    """The door, which leads on to the page that was asked for."""
    wanted = _asked_for(request)
    return f"/enter?next={quote(wanted)}" if wanted.strip("/") else "/"


def _asked_for(request: Request) -> str:
    return own_path(f"{request.url.path}?{request.url.query}".rstrip("?"))
