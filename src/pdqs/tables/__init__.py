"""Columns and files from outside and back, written atomically."""
