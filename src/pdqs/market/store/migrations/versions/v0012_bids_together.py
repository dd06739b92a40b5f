"""A function of PostgreSQL's that keeps a bid, so that many can be kept in one trip to the database.

Revision ID: 0012
"""

from __future__ import annotations

from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None

_FUNCTION = """
CREATE FUNCTION keep_bid_if_open(
    this_round text, this_owner text, this_bid bigint, this_now bigint, made_after bigint
) RETURNS boolean LANGUAGE plpgsql VOLATILE AS $$
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
    END IF;
    INSERT INTO bids (round_id, owner_id, bid_micros, placed_at_ms)
        SELECT this_round, this_owner, this_bid, this_now
        FROM rounds
        WHERE rounds.round_id = this_round AND rounds.state = 'open'
            AND rounds.bids_close_at_ms > this_now AND rounds.bids_root IS NULL
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
    """SQLite is in the process itself, and needs none."""
    if op.get_bind().dialect.name == "postgresql":
        op.execute(_FUNCTION)


def downgrade() -> None:
    """Each bid is kept by itself again."""
    if op.get_bind().dialect.name == "postgresql":
        op.execute("DROP FUNCTION keep_bid_if_open(text, text, bigint, bigint, bigint)")
