"""The tables, once, for both databases. On SQLite they are STRICT: a column holds its type or the write fails.

Offers, questions and reports are written once and never changed, bids not after they close. Money lives in
``accounts``, ``transactions`` and ``postings`` alone; only ``world`` (everything outside the market) may be below zero,
and the database itself says so.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Column,
    Double,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    MetaData,
    Table,
    Text,
)
from sqlalchemy.dialects.sqlite import REAL
from sqlalchemy.types import TypeEngine

Whole = BigInteger().with_variant(Integer(), "sqlite")
Real: TypeEngine[float] = Double().with_variant(REAL(), "sqlite")

metadata = MetaData()
_STRICT: dict[str, Any] = {"sqlite_strict": True}
_CLUSTERED: dict[str, Any] = {"sqlite_strict": True, "sqlite_with_rowid": False}

users = Table(
    "users",
    metadata,
    Column("user_id", Text, primary_key=True),
    Column(
        "role", Text, CheckConstraint("role IN ('consumer', 'owner', 'operator')", name="known_role"), nullable=False
    ),
    Column("name", Text, nullable=False),
    Column("created_at_ms", Whole, nullable=False),
    Column("token_hash", Text, unique=True),  # empty since tokens have a table: SQLite cannot drop a unique column
    Column("reports_made", Whole, nullable=False, server_default="0"),
    Column("disabled_at_ms", Whole),
    Column("erased_at_ms", Whole),
    Index("users_by_name", "name"),
    **_STRICT,
)

server_keys = Table(
    "server_keys",
    metadata,
    Column("purpose", Text, primary_key=True),
    Column("key", Text, nullable=False),
    **_STRICT,
)

access_events = Table(
    "access_events",
    metadata,
    Column("event_id", Text, primary_key=True),
    Column("user_id", Text, ForeignKey("users.user_id"), nullable=False),
    Column("at_ms", Whole, nullable=False),
    Column("what", Text, nullable=False),
    Column("by_user_id", Text, nullable=False),
    Index("access_events_by_user", "user_id", "at_ms", "event_id"),
    **_STRICT,
)

receipt_keys = Table(
    "receipt_keys",
    metadata,
    Column("public_key", Text, primary_key=True),
    Column("private_key", Text, nullable=False),
    Column("created_at_ms", Whole, nullable=False),
    **_STRICT,
)

codes = Table(
    "codes",
    metadata,
    Column("user_id", Text, ForeignKey("users.user_id"), primary_key=True),
    Column("code_hash", Text, unique=True, nullable=False),
    Column("expires_at_ms", Whole, nullable=False),
    Column("made_by", Text, nullable=False, server_default=""),
    **_STRICT,
)

sessions = Table(
    "sessions",
    metadata,
    Column("cookie_hash", Text, primary_key=True),
    Column("user_id", Text, ForeignKey("users.user_id"), nullable=False),
    Column("expires_at_ms", Whole, nullable=False),
    Column("started_at_ms", Whole, nullable=False, server_default="0"),
    Column("seen_at_ms", Whole, nullable=False, server_default="0"),
    Column("device", Text, nullable=False, server_default=""),
    Column("made_by", Text, nullable=False, server_default=""),
    Index("sessions_by_user", "user_id"),
    **_STRICT,
)

tokens = Table(
    "tokens",
    metadata,
    Column("token_hash", Text, primary_key=True),
    Column("user_id", Text, ForeignKey("users.user_id"), nullable=False),
    Column("name", Text, nullable=False),
    Column("created_at_ms", Whole, nullable=False),
    Column("used_at_ms", Whole, nullable=False),
    Index("tokens_by_user", "user_id", "name", unique=True),
    **_STRICT,
)

passkeys = Table(
    "passkeys",
    metadata,
    Column("credential_id", Text, primary_key=True),
    Column("user_id", Text, ForeignKey("users.user_id"), nullable=False),
    Column("site", Text, nullable=False),
    Column("public_key", Text, nullable=False),
    Column("sign_count", Whole, nullable=False),
    Column("name", Text, nullable=False),
    Column("created_at_ms", Whole, nullable=False),
    Column("used_at_ms", Whole),
    Index("passkeys_by_user", "user_id", "created_at_ms"),
    **_STRICT,
)

spent_challenges = Table(
    "spent_challenges",
    metadata,
    Column("challenge_hash", Text, primary_key=True),
    Column("expires_at_ms", Whole, nullable=False),
    **_STRICT,
)

letter_choices = Table(
    "letter_choices",
    metadata,
    Column("user_id", Text, ForeignKey("users.user_id"), primary_key=True),
    Column("email", Text, nullable=False, server_default=""),
    Column("email_confirmed", Whole, nullable=False, server_default="0"),
    Column("webhook", Text, nullable=False, server_default=""),
    Column("webhook_since_ms", Whole, nullable=False, server_default="0"),
    Column("kinds", Text, nullable=False, server_default=""),
    **_STRICT,
)

outbox = Table(
    "outbox",
    metadata,
    Column("letter_id", Text, primary_key=True),
    Column("user_id", Text, ForeignKey("users.user_id"), nullable=False),
    Column("channel", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("round_id", Text, nullable=False),
    Column("at_ms", Whole, nullable=False),
    Column("state", Text, nullable=False),
    Column("due_at_ms", Whole, nullable=False),
    Column("attempts", Whole, nullable=False, server_default="0"),
    Column("fault", Text, nullable=False, server_default=""),
    Index("outbox_by_state", "state", "due_at_ms"),
    Index("outbox_by_user", "user_id"),
    **_STRICT,
)

rounds = Table(
    "rounds",
    metadata,
    Column("round_id", Text, primary_key=True),
    Column("consumer_id", Text, ForeignKey("users.user_id"), nullable=False),
    Column(
        "state",
        Text,
        CheckConstraint("state IN ('draft', 'open', 'reporting', 'settled', 'cancelled')", name="known_state"),
        nullable=False,
    ),
    Column("plan", Text, nullable=False),
    Column("created_at_ms", Whole, nullable=False),
    Column("terms", Text),
    Column("terms_hash", Text),
    Column("opened_at_ms", Whole),
    Column("bids_close_at_ms", Whole),
    Column("reports_close_at_ms", Whole),
    Column("ended_at_ms", Whole),
    Column("offers", Whole, nullable=False, server_default="0"),
    Column("committed_micros", Whole, nullable=False, server_default="0"),
    Column("paid_micros", Whole, nullable=False, server_default="0"),
    Column("forecast_half_width", Real),
    Column("answer", Text),
    Column("reason", Text),
    Column("summary", Text, nullable=False, server_default="{}"),
    Column("purged_at_ms", Whole),
    Column("bids_purged", Whole, nullable=False, server_default="0"),
    Column("reports_purged", Whole, nullable=False, server_default="0"),
    Column("seed", Text),
    Column("nonce", Text),
    Column("bids_root", Text),
    Column("stages", Whole, nullable=False, server_default="1"),
    Index("rounds_by_consumer", "consumer_id", "created_at_ms", "round_id"),
    Index("rounds_by_state", "state", "created_at_ms", "round_id"),
    **_STRICT,
)

bids = Table(
    "bids",
    metadata,
    Column("round_id", Text, ForeignKey("rounds.round_id"), primary_key=True),
    Column("owner_id", Text, ForeignKey("users.user_id"), primary_key=True),
    Column("bid_micros", Whole, CheckConstraint("bid_micros >= 0", name="bid_not_negative"), nullable=False),
    Column("placed_at_ms", Whole, nullable=False),
    Index("bids_by_owner", "owner_id", "round_id"),
    **_CLUSTERED,
)

offers = Table(
    "offers",
    metadata,
    Column("round_id", Text, primary_key=True),
    Column("owner_id", Text, primary_key=True),
    Column(
        "q_numerator",
        Whole,
        CheckConstraint("q_numerator BETWEEN 0 AND 4294967295", name="q_below_one"),
        nullable=False,
    ),
    Column(
        "payment_micros", Whole, CheckConstraint("payment_micros >= 0", name="payment_not_negative"), nullable=False
    ),
    Column("chance_numerator", Whole, nullable=False, server_default="4294967296"),
    Column("draw", Whole, nullable=False, server_default="0"),
    Column("posted_micros", Whole),
    Column("stage", Whole, nullable=False, server_default="1"),
    ForeignKeyConstraint(["round_id", "owner_id"], ["bids.round_id", "bids.owner_id"]),  # SQLite's: see offer_rows.py
    **_CLUSTERED,
)

stages = Table(
    "stages",
    metadata,
    Column("round_id", Text, ForeignKey("rounds.round_id"), primary_key=True),
    Column("number", Whole, primary_key=True),
    Column("opened_at_ms", Whole, nullable=False),
    Column("closes_at_ms", Whole, nullable=False),
    Column("low", Whole, nullable=False),
    Column("high", Whole, nullable=False),
    Column("asked", Whole, nullable=False),
    Column("reports_purged", Whole, nullable=False, server_default="0"),
    **_CLUSTERED,
)

questions = Table(
    "questions",
    metadata,
    Column("round_id", Text, primary_key=True),
    Column("owner_id", Text, primary_key=True),
    Column("side", Whole, CheckConstraint("side >= 0", name="side_not_negative"), nullable=False),
    ForeignKeyConstraint(["round_id", "owner_id"], ["offers.round_id", "offers.owner_id"]),
    **_CLUSTERED,
)

reports = Table(
    "reports",
    metadata,
    Column("round_id", Text, primary_key=True),
    Column("owner_id", Text, primary_key=True),
    Column("code", Whole, CheckConstraint("code >= 0", name="code_not_negative"), nullable=False),
    Column("received_at_ms", Whole, nullable=False),
    Column("ordinal", Whole, nullable=False, server_default="0"),
    ForeignKeyConstraint(["round_id", "owner_id"], ["offers.round_id", "offers.owner_id"]),
    **_CLUSTERED,
)

accounts = Table(
    "accounts",
    metadata,
    Column("account", Text, primary_key=True),
    Column(
        "kind",
        Text,
        CheckConstraint("kind IN ('world', 'consumer', 'owner', 'escrow', 'given-up')", name="known_kind"),
        nullable=False,
    ),
    Column("balance_micros", Whole, nullable=False),
    CheckConstraint("kind = 'world' OR balance_micros >= 0", name="balance_not_negative"),
    Index("accounts_by_kind", "kind", "account"),
    **_STRICT,
)

transactions = Table(
    "transactions",
    metadata,
    Column("transaction_id", Text, primary_key=True),
    Column("kind", Text, nullable=False),
    Column("at_ms", Whole, nullable=False),
    Column("round_id", Text, ForeignKey("rounds.round_id")),
    **_STRICT,
)

postings = Table(
    "postings",
    metadata,
    Column("transaction_id", Text, ForeignKey("transactions.transaction_id"), primary_key=True),
    Column("account", Text, ForeignKey("accounts.account"), primary_key=True),
    Column("amount_micros", Whole, CheckConstraint("amount_micros <> 0", name="amount_not_zero"), nullable=False),
    Index("postings_by_account", "account", "transaction_id"),
    **_CLUSTERED,
)

deeds = Table(
    "deeds",
    metadata,
    Column("deed_id", Text, primary_key=True),
    Column("at_ms", Whole, nullable=False),
    Column("actor_id", Text, nullable=False),
    Column("what", Text, nullable=False),
    Column("about", Text, nullable=False),
    Column("amount_micros", Whole),
    Index("deeds_by_time", "at_ms", "deed_id"),
    **_STRICT,
)
