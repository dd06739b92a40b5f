"""A market that forgot a check, which the campaign must catch."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any


def _put(module: ModuleType, name: str, value: object) -> None:
    """Have a module call something else by one of its names."""
    setattr(module, name, value)


def _any_role() -> None:
    """Anybody may do what is the operator's."""
    from pdqs.market import access

    require = access.require

    def lenient(actor: Any, *roles: Any) -> None:
        if "operator" not in roles:
            require(actor, *roles)

    _put(access, "require", lenient)


WAYS: dict[str, Callable[[], None]] = {"any-role": _any_role}
