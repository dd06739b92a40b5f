"""A consumer's own part of the draw on her pages: its hash comes with the opening of a round, the part itself once bids
are closed. Her browser draws it, keeps it and tells it (``static/nonce.mjs``); a program can give it to her to enter.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from starlette.datastructures import FormData

from pdqs.market import drafts, reads, round_steps
from pdqs.market.context import Market
from pdqs.market.lots import NONCE_SECONDS
from pdqs.market.stuck_rounds import told_why
from pdqs.protocol.market_messages import NonceReveal, Round, User
from pdqs.protocol.problems import ProblemType, UnprocessableError

_HASH = re.compile(r"[0-9a-f]{64}")

Step = Callable[[Market, User, str], Round]


def steps_of(form: FormData) -> dict[str, Step]:
    """The steps that read what the form carries: ``open`` its ``nonce_hash``, ``nonce`` the nonce itself."""

    def open_round(market: Market, user: User, round_id: str) -> Round:
        shown = _typed(form, "shown")  # the draft that the button stood under
        _commit(market, user, round_id, _typed(form, "nonce_hash"), shown)
        return round_steps.open_round(market, user, round_id, shown)

    def tell(market: Market, user: User, round_id: str) -> Round:
        nonce = _typed(form, "nonce").lower()
        if not _HASH.fullmatch(nonce):
            said = "your part of the draw is 64 letters and digits, 0 to 9 and a to f, as the file of it has them"
            raise UnprocessableError(ProblemType.OTHER_NONCE, said)
        with told_why(user, round_id):
            return round_steps.reveal_nonce(market, user, round_id, NonceReveal(nonce=nonce))

    return {"open": open_round, "nonce": tell}


def due_ms(found: Round) -> int | None:
    """Until when the draw waits for her part."""
    return None if found.bids_close_at_ms is None else found.bids_close_at_ms + 1000 * NONCE_SECONDS


def _commit(market: Market, user: User, round_id: str, nonce_hash: str, shown: str) -> None:
    """Put the hash into the draft, if one came; a round that is open already keeps what it is committed to."""
    if not nonce_hash:
        return
    if not _HASH.fullmatch(nonce_hash):
        raise UnprocessableError(ProblemType.BAD_TERMS, "the hash of your part of the draw came garbled: try again")
    found = reads.round_by_id(market, user, round_id)
    if found.state == "draft":
        committed = found.plan.model_copy(update={"nonce_hash": nonce_hash})
        drafts.change_draft(market, user, round_id, committed, shown)


def _typed(form: FormData, name: str) -> str:
    return str(form.get(name, "")).strip()[:400]
