"""Whether a caller may still do what she asks, looked at once more in the transaction that does it.

Who is calling was found out before it began, and may have been signed out since, by this process or another. So nothing
is done on trust: her row is held first, then the token or session that she came by, and whoever ends that deletes its
row. So what she does is there before the end is, or she finds it over. Always in this order, so that two never wait
for each other: people (all of them at once, by their ids), the sign-in, then rounds, payouts and balances.
"""

from __future__ import annotations

from sqlalchemy import Connection, Select, select

from pdqs.market.identity import SignedIn, user_from
from pdqs.market.store.schema import sessions, tokens, users
from pdqs.market.store.sql import Found
from pdqs.protocol.market_messages import User
from pdqs.protocol.problems import ProblemType, UnauthorizedError

_OVER = (
    "your sign-in was ended or your account closed while this was on its way, and nothing was changed: sign in again"
)
_KEPT = {"token": tokens.c.token_hash, "session": sessions.c.cookie_hash}


def hold_people(connection: Connection, *user_ids: str) -> dict[str, Found]:
    """The rows of people by id, as they are now and until the transaction ends; taken in one order, whoever asks.

    Their keys are not held (on PostgreSQL FOR NO KEY UPDATE): bids, which only need her to be there, need not wait.
    """
    rows = select(users).where(users.c.user_id.in_(user_ids)).order_by(users.c.user_id)
    return {row.user_id: row for row in connection.execute(rows.with_for_update(key_share=True))}


def require_signed_in(connection: Connection, actor: User, *others: str) -> User:
    """The caller as her row has her now; refused, if she was signed out or shut out meanwhile.

    Her row is held until the transaction ends, and so are those of others whom this is about. The market itself, and
    whoever sits at its machine, has no row and no sign-in to lose.
    """
    row = hold_people(connection, actor.user_id, *others).get(actor.user_id)
    if row is None:
        return actor
    refuse_over(connection, actor, row.disabled_at_ms)
    return user_from(row)


def require_not_ended(connection: Connection, actor: User) -> None:
    """The same for what comes by the thousand: of her row no more is held than that she is there and not erased.

    So what else she does at the moment need not wait. Whoever is about to be erased waits for this, or it is too late.
    """
    hers = select(users.c.disabled_at_ms).where(users.c.user_id == actor.user_id)
    refuse_over(connection, actor, connection.scalar(hers.with_for_update(read=True, key_share=True)))


def refuse_over(connection: Connection, actor: User, disabled_at_ms: int | None) -> None:
    """Refuse whoever is shut out by her row, which is held, or whose token or session is no more; that is held too."""
    is_over = isinstance(actor, SignedIn) and connection.scalar(_kept(actor)) is None
    if disabled_at_ms is not None or is_over:
        by_page = isinstance(actor, SignedIn) and actor.kind == "session"
        raise UnauthorizedError(ProblemType.NO_SESSION if by_page else ProblemType.BAD_TOKEN, _OVER)


def sign_in_of(actor: User) -> str:
    """The hash of the token or session that she came by; nothing for whoever has none to lose."""
    return actor.digest if isinstance(actor, SignedIn) else ""


def _kept(actor: SignedIn) -> Select[tuple[str]]:
    """A statement of its own, after her row is held: PostgreSQL's see what was there when they began."""
    column = _KEPT[actor.kind]
    return select(column).where(column == actor.digest).with_for_update(read=True, key_share=True)
