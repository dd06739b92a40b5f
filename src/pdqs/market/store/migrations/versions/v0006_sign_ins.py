"""Sessions that slide, several named tokens a user, and passkeys.

Revision ID: 0006
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

Whole = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_OLD_SESSION_MS = 12 * 3_600_000


def upgrade() -> None:
    """Whoever is signed in stays so: a session began as long ago as it used to last, and the one token has a name."""
    for name in ("started_at_ms", "seen_at_ms"):
        op.add_column("sessions", sa.Column(name, Whole, nullable=False, server_default="0"))
    for name in ("device", "made_by"):
        op.add_column("sessions", sa.Column(name, sa.Text, nullable=False, server_default=""))
    began = f"expires_at_ms - {_OLD_SESSION_MS}"
    op.execute(f"UPDATE sessions SET started_at_ms = {began}, seen_at_ms = {began}")
    _make_tokens()
    op.create_table(
        "passkeys",
        sa.Column("credential_id", sa.Text, primary_key=True),
        sa.Column("user_id", sa.Text, sa.ForeignKey("users.user_id"), nullable=False),
        sa.Column("site", sa.Text, nullable=False),
        sa.Column("public_key", sa.Text, nullable=False),
        sa.Column("sign_count", Whole, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("created_at_ms", Whole, nullable=False),
        sa.Column("used_at_ms", Whole),
        sqlite_strict=True,
    )
    op.create_index("passkeys_by_user", "passkeys", ["user_id", "created_at_ms"])
    op.create_table(
        "spent_challenges",
        sa.Column("challenge_hash", sa.Text, primary_key=True),
        sa.Column("expires_at_ms", Whole, nullable=False),
        sqlite_strict=True,
    )


def _make_tokens() -> None:
    op.create_table(
        "tokens",
        sa.Column("token_hash", sa.Text, primary_key=True),
        sa.Column("user_id", sa.Text, sa.ForeignKey("users.user_id"), nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("created_at_ms", Whole, nullable=False),
        sa.Column("used_at_ms", Whole, nullable=False),
        sqlite_strict=True,
    )
    op.create_index("tokens_by_user", "tokens", ["user_id", "name"], unique=True)
    columns = "token_hash, user_id, name, created_at_ms, used_at_ms"
    found = "SELECT token_hash, user_id, 'device', created_at_ms, created_at_ms FROM users WHERE token_hash IS NOT NULL"
    op.execute(f"INSERT INTO tokens ({columns}) {found}")
    op.execute("UPDATE users SET token_hash = NULL")


def downgrade() -> None:
    """One token a user again: the one that is called as the only one was."""
    hers = "SELECT token_hash FROM tokens WHERE tokens.user_id = users.user_id AND tokens.name = 'device'"
    op.execute(f"UPDATE users SET token_hash = ({hers})")
    op.drop_table("spent_challenges")
    op.drop_table("passkeys")
    op.drop_table("tokens")
    for name in ("made_by", "device", "seen_at_ms", "started_at_ms"):
        op.drop_column("sessions", name)
