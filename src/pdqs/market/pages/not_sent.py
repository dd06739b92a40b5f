"""Forms that were not taken: sent after the session had ended, or from a page of an earlier one.

Nothing is done and nothing is kept here: a market that kept what anybody sends without a session would keep it for
strangers, and one form that another site forged could wait for whoever signs in next. What she filled in stays in her
own tab, under her own account (``static/unsent.mjs``), and she sends it again herself. Without scripts she is shown
the words that she wrote, to copy: pages are not stored by browsers, for they hold balances and bids, so that the back
button of a browser has nothing to show.
"""

from __future__ import annotations

from fastapi import Request, Response
from starlette.datastructures import URL, FormData
from starlette.routing import Match

from pdqs.market.pages.door import door_page
from pdqs.market.pages.render import page
from pdqs.market.pages.session import market_of, own_path

WRITTEN = {
    "text": "The question",
    "attribute": "The fact it is about",
    "purpose": "Why you ask",
    "use": "What you will use the answer for",
    "labels": "Answers to choose from",
}
"""Words of the long form, by field. No other field is said back: a code, a nonce or a key has no business there."""


_LONGEST, _DEEPEST = 2_000, 8


async def form_without_session(request: Request) -> Response:
    """She was signed out: say so, and ask her in where she goes on to the page that the form was on."""
    form = await request.form(max_files=1, max_fields=100)
    return door_page(request, status=401, wanted=page_before(request), unsent=True, written=_written(form))


def form_of_earlier_session(request: Request) -> Response:
    """She has signed in anew, perhaps in another tab, since the page of this form was loaded."""
    session = request.state.session
    detail = f"nothing was sent: that page was loaded before you signed in as {session.user.name}"
    again = (
        "You sent this from a page that was loaded before you signed in, so it was not taken and nothing was changed."
    )
    values = {"title": "Please send it once more", "detail": detail, "back": page_before(request), "unsent": again}
    return page(request, "error.html", status=403, **values)


def page_before(request: Request) -> str:
    """The page that a form was on; where that cannot be asked for by its address, the nearest above it that can."""
    settings, said = market_of(request).settings, request.headers.get("referer", "")
    try:
        came = URL(said if len(said) <= _LONGEST else "")
        came.netloc, came.port  # noqa: B018  # what is no address says so only when it is looked at
    except ValueError:
        return ""
    if f"{came.scheme}://{came.netloc}" != settings.origin and came.netloc != request.url.netloc:
        return ""
    path, query = came.path.removeprefix(settings.prefix), came.query
    if path.count("/") > _DEEPEST:  # no page of ours: each step up would look through every route
        return ""
    while path.strip("/") and not _is_page(request, path):
        path, query = path.rpartition("/")[0], ""
    found = own_path(f"{path}?{query}".rstrip("?"))
    return found if found.strip("/") else ""


def _is_page(request: Request, path: str) -> bool:
    scope = {"type": "http", "method": "GET", "path": path, "root_path": "", "headers": []}
    return any(route.matches(scope)[0] is Match.FULL for route in request.app.router.routes)


def _written(form: FormData) -> dict[str, str]:
    """What was written in words, by the words of its field."""
    found = {label: form.get(name) for name, label in WRITTEN.items()}
    return {label: text[:4000] for label, text in found.items() if isinstance(text, str) and text.strip()}
