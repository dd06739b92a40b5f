"""A payout of a batch that did not stay paid: all that was entered of it is undone, and what was kept apart is closed.

What was entered of one payout has several parts where some of it was beyond what was owed: ``payout:`` and its
reference is what was owed when it was confirmed, and what was taken off later has a number behind it. Undoing one part
alone would leave her owed the rest of money that she does not have, or with money that nobody looks for; so they go
together, in one transaction. The payout has failed then, and remembers that it was undone: should a file say that it
was paid, that is an older file or a later attempt of the provider, and an operator says which (``overpaid.py``).
"""

from __future__ import annotations

import re
from collections.abc import Collection

from sqlalchemy import Connection, func, or_, select, update

from pdqs.market import ledger, reversals
from pdqs.market.given_up import give_up_again
from pdqs.market.store.payout_tables import payout_lines
from pdqs.market.store.schema import accounts, postings
from pdqs.market.store.sql import Found

_PAYOUT = "payout:"
_OF_A_BATCH = re.compile(_PAYOUT + r"(p_[0-9a-f]+)((?::[0-9]+)*)")


def transaction_of(reference: str) -> str:
    """The name of the ledger's entry for a payout of a batch."""
    return _PAYOUT + reference


def taking_off(reference: str, undone: int, over_micros: int) -> str:
    """The name of the entry that takes off what was kept apart, which falls each time, so that no two are alike; and
    after the payout was undone it may be as much again, so that it is said how often that was.

    >>> taking_off("p_1", 0, 5), taking_off("p_1", 2, 5)
    ('payout:p_1:5', 'payout:p_1:2:5')
    """
    return ":".join([transaction_of(reference), *([str(undone)] if undone else []), str(over_micros)])


def reference_in(transaction_id: str) -> str:
    """The payout of a batch that an entry is a part of; nothing where it is of none.

    >>> reference_in("payout:p_1:5"), reference_in("payout:t_1")
    ('p_1', '')
    """
    found = _OF_A_BATCH.fullmatch(transaction_id)
    return found[1] if found else ""


def is_taking_off(transaction_id: str) -> bool:
    """Whether an entry takes off what was kept apart, whenever that was.

    >>> [is_taking_off(name) for name in ("payout:p_1:5", "payout:p_1:2:5", "payout:p_1", "payout:t_1")]
    [True, True, False, False]
    """
    found = _OF_A_BATCH.fullmatch(transaction_id)
    return bool(found and found[2])


def line_of(connection: Connection, transaction_id: str, *, held: bool = False) -> Found | None:
    """The payout of a batch that an entry is a part of, if there is one."""
    reference = reference_in(transaction_id)
    if not reference:
        return None
    wanted = select(payout_lines).where(payout_lines.c.reference == reference)
    return held_line(connection, reference) if held else connection.execute(wanted).one_or_none()


def held_line(connection: Connection, reference: str) -> Found | None:
    """A payout with its owner's balance, locked in that order, as confirmations do."""
    wanted = select(payout_lines).where(payout_lines.c.reference == reference)
    line = connection.execute(wanted.with_for_update()).one_or_none()
    if line is not None:
        account = ledger.account_of("owner", line.user_id)
        connection.execute(select(accounts).where(accounts.c.account == account).with_for_update())
    return line


def standing(connection: Connection, references: Collection[str]) -> dict[str, dict[str, int]]:
    """What is entered of these payouts and was not undone: by reference, the amount of each part by its name."""
    first, name = _PAYOUT + payout_lines.c.reference, postings.c.transaction_id
    later = first + ":"
    a_part = or_(name == first, func.substr(name, 1, func.length(later)) == later)
    listed = (
        select(payout_lines.c.reference, name, postings.c.amount_micros)
        .join(postings, postings.c.account == "owner:" + payout_lines.c.user_id)
        .where(payout_lines.c.reference.in_(references), a_part, reversals.stands(name))
    )
    parts: dict[str, dict[str, int]] = {reference: {} for reference in references}
    for row in sorted(connection.execute(listed).all()):
        parts[row.reference][row.transaction_id] = -row.amount_micros
    return parts


def entered_of(connection: Connection, reference: str) -> int:
    """What is entered of a payout, all its parts together, and was not undone."""
    return sum(standing(connection, [reference])[reference].values())


def undo(connection: Connection, line: Found, now: int) -> None:
    """Undo all that was entered of a payout that is held, and close what was kept apart. It has failed then."""
    for name in standing(connection, [line.reference])[line.reference]:
        reversals.mirror(connection, name, now)
    give_up_again(connection, line, now)
    changed = {"state": "failed", "over_micros": 0, "let_be_micros": 0, "undone": line.undone + 1}
    connection.execute(update(payout_lines).where(payout_lines.c.reference == line.reference).values(changed))
