"""Alembic's side of the store: how a database of an older market becomes one of this market."""
