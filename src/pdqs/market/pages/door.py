"""The door: where whoever is not signed in comes in, also in the middle of a form."""

from __future__ import annotations

import re
import secrets

from fastapi import Request, Response

from pdqs.market import access
from pdqs.market.http.cookies import KNOCK, read_cookie, set_cookie
from pdqs.market.pages.render import page
from pdqs.market.pages.session import market_of
from pdqs.market.pages.whereabouts import place_here

_WORD = re.compile(r"[A-Za-z0-9_-]{43}")


def is_knock(word: str) -> bool:
    """Whether a word could be one of ours: what the browser keeps until there is a session."""
    return _WORD.fullmatch(word) is not None


def door_page(
    request: Request,
    *,
    wanted: str = "",
    fault: str = "",
    status: int = 200,
    unsent: bool = False,
    written: dict[str, str] | None = None,
) -> Response:
    """The page to come in by. ``unsent``: a form was sent without a session; ``written`` are the words in it."""
    knock = read_cookie(request, KNOCK)
    if not is_knock(knock):
        knock = secrets.token_urlsafe(32)
    token = access.form_token(market_of(request), "door", knock)
    values = {"fault": fault, "door_token": token, "wanted": wanted, "has_passkeys": place_here(request) is not None}
    answer = page(request, "door.html", status=status, unsent=unsent, written=written or {}, **values)
    set_cookie(request, answer, knock, seconds=3600, name=KNOCK)
    return answer
