"""``/v1``: letters by e-mail and webhook, and those that could not be delivered."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path

from pdqs.market import letter_choices, outbox
from pdqs.market.http.credentials import Calling
from pdqs.market.http.routes import PROBLEMS, After, Limit
from pdqs.market.paging import LIMIT
from pdqs.protocol.letters import DeadLetterPage, EmailWord, LetterChoices, LettersKept
from pdqs.protocol.market_messages import Cursor

router = APIRouter(prefix="/v1", responses=PROBLEMS, tags=["letters"])

LetterId = Annotated[Cursor, Path(description="The letter's id")]


@router.get("/me/letters")
def get_letters(caller: Calling) -> LettersKept:
    """What am I told of, and where?"""
    return letter_choices.choices(caller.market, caller.user())


@router.put("/me/letters")
def put_letters(wanted: LetterChoices, caller: Calling) -> LettersKept:
    """Choose what to be told of, and where."""
    return letter_choices.choose(caller.market, caller.user(), wanted)


@router.post("/me/letters/word")
def post_word(told: EmailWord, caller: Calling) -> LettersKept:
    """Tell the word that was sent to a new e-mail address."""
    return letter_choices.confirm_email(caller.market, caller.user(), told.word)


@router.get("/dead-letters")
def get_dead_letters(caller: Calling, after: After = None, limit: Limit = LIMIT) -> DeadLetterPage:
    """Letters that could not be delivered (operator)."""
    return outbox.dead_letters(caller.market, caller.user(), after, limit)


@router.post("/dead-letters/{letter_id}/retry")
def post_retry(letter_id: LetterId, caller: Calling) -> DeadLetterPage:
    """Try one again; those that are left come back (operator)."""
    actor = caller.user()
    outbox.try_again(caller.market, actor, letter_id)
    return outbox.dead_letters(caller.market, actor)
