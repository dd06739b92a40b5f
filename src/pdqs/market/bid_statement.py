"""The one statement that keeps a bid: it looks itself whether the round is open, for her, and not withdrawn from, and
whether she is still in."""

from __future__ import annotations

from functools import cache

from sqlalchemy import Executable, bindparam, exists, not_, or_, select
from sqlalchemy.dialects import postgresql, sqlite

from pdqs.market.groups import is_open_to
from pdqs.market.store.schema import bids, rounds, sessions, tokens, users
from pdqs.market.withdrawals import withdrawn_after


@cache
def keep_statement(dialect: str) -> Executable:
    """Insert a bid where its round takes it, and hold the round's row; PostgreSQL has the same as a function (0019).

    ``came_by``: the hash of the token or session that must still be there; none where that was looked at already.
    """
    columns = {"round": bids.c.round_id, "owner": bids.c.owner_id, "bid": bids.c.bid_micros, "now": bids.c.placed_at_ms}
    given = {name: bindparam(name, type_=column.type) for name, column in columns.items()}
    came_by = bindparam("came_by", value="", type_=tokens.c.token_hash.type)
    taking = select(*given.values()).where(
        rounds.c.round_id == given["round"],
        rounds.c.state == "open",
        rounds.c.bids_close_at_ms > given["now"],
        rounds.c.bids_root.is_(None),  # should the clock ever go back: no bid after the root is published
        is_open_to(given["owner"]),
        exists(select(1).where(users.c.user_id == given["owner"], users.c.disabled_at_ms.is_(None))),
        or_(
            came_by == "",
            exists(select(1).where(tokens.c.token_hash == came_by, tokens.c.user_id == given["owner"])),
            exists(select(1).where(sessions.c.cookie_hash == came_by, sessions.c.user_id == given["owner"])),
        ),
        not_(withdrawn_after(given["round"], given["owner"], bindparam("after", type_=bids.c.placed_at_ms.type))),
    )
    insert = sqlite.insert(bids) if dialect == "sqlite" else postgresql.insert(bids)
    rows = insert.from_select([column.name for column in columns.values()], taking.with_for_update(read=True))
    return rows.on_conflict_do_nothing().returning(bids.c.round_id)
