"""The market's web pages: server-rendered, with no request to anywhere else.

One file per party (``consumer``, ``owner``, ``operator``), ``money_moves`` for the ledger, ``payout_pages`` for
batches, ``entrance`` and ``account`` for everybody, ``letters`` by e-mail and webhook, ``api_page`` for programmers;
``render`` makes HTML, ``session`` says who is looking, ``charts`` draws.
"""

from __future__ import annotations

from pdqs.market.pages import (
    account,
    api_page,
    comparing,
    consumer,
    consumer_money,
    entrance,
    events,
    fresh_code_pages,
    groups,
    letters,
    money_moves,
    operator,
    operator_lists,
    owner,
    payout_pages,
)

PARTS = (
    entrance,
    account,
    letters,
    events,
    comparing,
    consumer,
    consumer_money,
    owner,
    operator_lists,
    fresh_code_pages,
    payout_pages,
    groups,
    operator,
    money_moves,
    api_page,
)
"""Every module with pages; each has a router."""

__all__ = ["PARTS"]
