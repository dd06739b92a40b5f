"""Bids in rounds that are for some groups alone are kept together too: the function looks who is in them.

Revision ID: 0016
"""

from __future__ import annotations

from alembic import op

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None

_FOR_HER = """
            AND (
                NOT EXISTS (SELECT FROM round_groups WHERE round_groups.round_id = this_round)
                OR EXISTS (
                    SELECT FROM round_groups JOIN group_members ON group_members.name = round_groups.name
                    WHERE round_groups.round_id = this_round AND group_members.user_id = this_owner
                )
            )"""


def _function(for_her: str) -> str:
    """As in 0012, with what is asked about her and the round beside."""
    return f"""
CREATE OR REPLACE FUNCTION keep_bid_if_open(
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
            AND rounds.bids_close_at_ms > this_now AND rounds.bids_root IS NULL{for_her}
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
        op.execute(_function(_FOR_HER))


def downgrade() -> None:
    """Each bid in such a round is kept by itself again."""
    if op.get_bind().dialect.name == "postgresql":
        op.execute(_function(""))
