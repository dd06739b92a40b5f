"""Run by Alembic, on the connection that :mod:`pdqs.market.store.migrate` hands over."""

from __future__ import annotations

from alembic import context

from pdqs.market.store.schema import metadata


def migrate() -> None:
    """Apply the steps that Alembic has chosen."""
    context.configure(
        connection=context.config.attributes["connection"],
        target_metadata=metadata,
        transactional_ddl=True,  # both databases undo a half-made table
    )
    context.run_migrations()


if hasattr(context, "config"):  # Alembic sets it while it runs this file; imported by others, the file does nothing
    migrate()
