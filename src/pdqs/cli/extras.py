"""Which optional part of pdqs holds a library that a command did not find."""

from __future__ import annotations

from importlib.util import find_spec

_HOLDS = {
    "cli": ("typer", "click", "rich", "matplotlib"),
    "owner": ("httpx", "pydantic", "cryptography"),
    "market": (
        "anyio",
        "fastapi",
        "starlette",
        "uvicorn",
        "sqlalchemy",
        "alembic",
        "jinja2",
        "multipart",
        "python_multipart",
        "psycopg",
        "segno",
        "webauthn",
    ),
    "neural": ("jax", "jaxlib", "optax"),
    "scale": ("pyarrow", "dask", "distributed"),
}

_COMMANDS = {"serve": "market", "market": "market", "owner": "owner", "reproduce": "cli,scale,neural"}
"""Commands with an extra of their own, which holds all that they need."""


def extra_for(word: str, module: str) -> str | None:
    """The extra to install for a command that lacks a module; None if no extra holds it: then pdqs is at fault.

    >>> extra_for("serve", "fastapi"), extra_for("trade", "rich.console"), extra_for("serve", "pdqs.typo")
    ('market', 'cli', None)
    """
    top = module.partition(".")[0]
    held = [extra for extra, modules in _HOLDS.items() if top in modules]
    return _COMMANDS.get(word, held[0]) if held else None


def missing_extra(word: str, module: str) -> str | None:
    """One sentence that says what to install, or None if that would not help.

    >>> missing_extra("train", "jax")
    "'pdqs train' needs jax: pip install 'pdqs[neural]'"
    """
    extra = extra_for(word, module)
    return None if extra is None else f"'pdqs {word}' needs {module.partition('.')[0]}: pip install 'pdqs[{extra}]'"


def require(*modules: str) -> None:
    """Refuse before the work what would be missed after it."""
    for module in modules:
        if find_spec(module) is None:
            raise ModuleNotFoundError(f"No module named {module!r}", name=module)
