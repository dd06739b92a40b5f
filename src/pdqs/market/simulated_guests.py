"""A simulation in a market that is not its own: among no real people, in a group of its own, and cleared away after."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TypeVar, final

from pdqs.market.client import MarketClient
from pdqs.market.simulated_crowd import Say
from pdqs.model.errors import InputError
from pdqs.protocol.market_messages import Invitation

One = TypeVar("One")

GROUP = "Simulated"
"""The group that simulated owners are in, and that their rounds are for."""
FEWEST = 5
"""A round for a group needs as many owners."""
NAMES = "simulated "
"""How the name of everyone who is simulated begins."""
_AT_A_TIME, _SAID_EVERY = 200, 500


def refuse_among_people(operator: MarketClient) -> None:
    """Refuse a market with anyone in it but operators and those whom a simulation let in."""
    after: str | None = None
    while True:
        listed = operator.users(after, _AT_A_TIME)
        people = [one for one in listed.items if one.role != "operator" and not one.name.startswith(NAMES)]
        if people:
            raise InputError(
                "there are real people in this market, and nobody was simulated there: try it on a market of its own"
                " (without --link), or say --among-people"
            )
        if listed.next is None:
            return
        after = listed.next


@final
@dataclass(slots=True)
class Guests:
    """Whom and what a simulation has let in so far."""

    owners: list[Invitation] = field(default_factory=list)
    consumer: MarketClient | None = None
    round_id: str = ""


@contextmanager
def staying(operator: MarketClient, say: Say, *, leave: bool) -> Iterator[Guests]:
    """Guests, who are taken out again when the block ends, however it ends; unless one says ``leave``."""
    guests = Guests()
    try:
        yield guests
    finally:
        try:
            if not leave:
                clear_away(operator, guests, say)
        finally:
            if guests.consumer is not None:
                guests.consumer.close()


def clear_away(operator: MarketClient, guests: Guests, say: Say) -> None:
    """Call the round off if it has not ended, take the invented money out again, what owners earned by payouts
    and what is left of the consumer's by a refund, and shut the simulated people out."""
    say("clearing away (Ctrl-C leaves what is left, as --leave does)")
    if guests.round_id:
        _end(operator, guests.round_id, say)
    user_ids = [one.user.user_id for one in guests.owners]
    owed = _earned(operator, set(user_ids))
    if guests.consumer is not None:
        me = guests.consumer.me()
        user_ids.append(me.user.user_id)
        if me.balance_micros:
            operator.refund(me.user.user_id, me.balance_micros)
    _each([one for one in owed.items() if one[1]], lambda one: operator.pay_out(*one), "are paid out", say)
    _each(user_ids, operator.disable, "are shut out", say)
    say(f"cleared away: {_money(operator, guests)}, and {len(user_ids):,} people are shut out")


def _end(operator: MarketClient, round_id: str, say: Say) -> None:
    """Call a round off that can be; one that is cleared goes on to its end, and pays whoever reported."""
    state = operator.round(round_id).state
    if state == "reporting":
        say(
            "owners may have reported in the simulated round, so it goes on until its time is over: what it pays then"
            " is among the payouts"
        )
    elif state in ("draft", "open"):
        operator.cancel(round_id)


def _money(operator: MarketClient, guests: Guests) -> str:
    over = not guests.round_id or operator.round(guests.round_id).state in ("settled", "cancelled")
    return "the invented money is out of the books" if over else "the invented money is in the round that goes on"


def _earned(operator: MarketClient, user_ids: AbstractSet[str]) -> dict[str, int]:
    """What is owed to these."""
    owed: dict[str, int] = {}
    after: str | None = None
    while True:
        listed = operator.payables(after, _AT_A_TIME)
        owed |= {one.user_id: one.balance_micros for one in listed.items if one.user_id in user_ids}
        if listed.next is None:
            return owed
        after = listed.next


def _each(all_of_them: Sequence[One], act: Callable[[One], object], done: str, say: Say) -> None:
    """Do something for each, and say now and then how far it is: a market takes some 20 requests a second."""
    began = time.monotonic()
    for count, one in enumerate(all_of_them, 1):
        act(one)
        if count % _SAID_EVERY == 0:
            left = (time.monotonic() - began) / count * (len(all_of_them) - count)
            say(f"{count:,} of {len(all_of_them):,} {done}, the others in about {left:,.0f} s")
