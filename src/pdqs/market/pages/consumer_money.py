"""The consumer's money: every entry that changed her balance, and which round it was for."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from pdqs.market import reads
from pdqs.market.pages.error_pages import PageRoute
from pdqs.market.pages.render import page
from pdqs.market.pages.session import After, ConsumerSession, market_of
from pdqs.protocol.market_messages import Posting

router = APIRouter(prefix="/consumer", route_class=PageRoute, include_in_schema=False)

_WORDS = {
    "deposit": "Deposit",
    "escrow": "Put in escrow for a round",
    "settlement": "Left over when a round was settled",
    "return": "Returned: a round was called off",
    "payout": "Paid out to you",
    "refund": "Paid back to you",
}


@router.get("/money")
def money(request: Request, session: ConsumerSession, after: After = None) -> Response:
    """Her postings, newest first."""
    found = reads.statement(market_of(request), session.user, after=after)
    return page(request, "consumer/money.html", statement=found, told=told)


def told(line: Posting) -> str:
    """What a posting was, in words; a reversal mirrors a deposit, which it takes back, or what was paid to her."""
    if line.kind == "reversal":
        return "A deposit undone" if line.amount_micros < 0 else "A payment to you undone"
    return _WORDS[line.kind]
