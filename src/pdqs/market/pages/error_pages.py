"""What a person sees when a page cannot be shown: errors as pages, in the same words as the API's."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from urllib.parse import quote

from fastapi import Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import RedirectResponse
from fastapi.routing import APIRoute

from pdqs.market.pages.not_sent import form_of_earlier_session, form_without_session
from pdqs.market.pages.render import page
from pdqs.market.pages.session import SignInFirst, own_path
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
                return page(request, "error.html", status=fault.status, title=fault.title, detail=str(fault))
            except RequestValidationError:
                return page(request, "error.html", status=404, title="Not found", detail="there is no such page")

        return handled


def _door_before(request: Request) -> str:
    """The door, which leads on to the page that was asked for."""
    wanted = f"{request.url.path}?{request.url.query}".rstrip("?")
    return f"/enter?next={quote(wanted)}" if own_path(wanted).strip("/") else "/"
