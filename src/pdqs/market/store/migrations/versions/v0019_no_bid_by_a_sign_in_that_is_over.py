"""A bid that is kept with others is refused if the token or session that it came by is over.

Who is calling was looked up before, and may have been by another process than the one that ended it. So the function
takes the hash of what she came by, and holds it: an end that is under way waits for this bid, or this bid is not kept.

Revision ID: 0019
"""

from __future__ import annotations

from alembic import op

revision = "0019"
down_revision = "0018"
branch_labels = None
depends_on = None

_NOW = "this_round text, this_owner text, this_bid bigint, this_now bigint, made_after bigint, came_by text"
_BEFORE = "this_round text, this_owner text, this_bid bigint, this_now bigint, made_after bigint"
_STILL_IN = """
    -- Nothing: whoever sits at the machine has no sign-in to lose. By a statement of its own, once her row is held.
    IF came_by <> '' THEN
        PERFORM FROM tokens
            WHERE tokens.token_hash = came_by AND tokens.user_id = this_owner FOR KEY SHARE SKIP LOCKED;
        IF NOT FOUND THEN
            PERFORM FROM sessions
                WHERE sessions.cookie_hash = came_by AND sessions.user_id = this_owner FOR KEY SHARE SKIP LOCKED;
            IF NOT FOUND THEN
                RETURN FALSE;
            END IF;
        END IF;
    END IF;"""


def _function(given: str, still_in: str) -> str:
    """As in 0016, with what is asked about her sign-in beside."""
    return f"""
CREATE FUNCTION keep_bid_if_open({given}) RETURNS boolean LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    -- Her turn first, by a statement of its own: what comes after it sees all that was committed before it was taken.
    -- Nothing here waits, for others may be kept in the same transaction: a bid that would have to is not kept. So her
    -- row, which the foreign key holds too, is taken beforehand or not at all.
    IF NOT pg_try_advisory_xact_lock(hashtextextended(this_round || ' ' || this_owner, 0)) THEN
        RETURN FALSE;
    END IF;
    PERFORM FROM users
        WHERE users.user_id = this_owner AND users.disabled_at_ms IS NULL FOR KEY SHARE SKIP LOCKED;
    IF NOT FOUND THEN
        RETURN FALSE;
    END IF;{still_in}
    INSERT INTO bids (round_id, owner_id, bid_micros, placed_at_ms)
        SELECT this_round, this_owner, this_bid, this_now
        FROM rounds
        WHERE rounds.round_id = this_round AND rounds.state = 'open'
            AND rounds.bids_close_at_ms > this_now AND rounds.bids_root IS NULL
            AND (
                NOT EXISTS (SELECT FROM round_groups WHERE round_groups.round_id = this_round)
                OR EXISTS (
                    SELECT FROM round_groups JOIN group_members ON group_members.name = round_groups.name
                    WHERE round_groups.round_id = this_round AND group_members.user_id = this_owner
                )
            )
            AND NOT EXISTS (
                SELECT FROM withdrawals
                WHERE withdrawals.round_id = this_round AND withdrawals.owner_id = this_owner
                    AND withdrawals.withdrawn_at_ms > made_after
            )
        FOR SHARE OF rounds SKIP LOCKED
        ON CONFLICT DO NOTHING;
    RETURN FOUND;
END $$
"""


def upgrade() -> None:
    """SQLite is in the process itself, and asks the same in its statement."""
    if op.get_bind().dialect.name == "postgresql":
        op.execute("DROP FUNCTION keep_bid_if_open(text, text, bigint, bigint, bigint)")
        op.execute(_function(_NOW, _STILL_IN))


def downgrade() -> None:
    """Whoever is calling is taken on trust again."""
    if op.get_bind().dialect.name == "postgresql":
        op.execute("DROP FUNCTION keep_bid_if_open(text, text, bigint, bigint, bigint, text)")
        op.execute(_function(_BEFORE, ""))
