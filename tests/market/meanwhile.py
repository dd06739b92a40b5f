"""Two who act at the same moment: the first is held in the middle of what it does while the second comes."""

from __future__ import annotations

import threading
from collections.abc import Callable

_SECONDS = 60


def began(act: Callable[[], object]) -> tuple[threading.Thread, list[object]]:
    """Something under way in a thread of its own, and where what comes of it will be."""
    came: list[object] = []

    def one() -> None:
        try:
            came.append(act())
        except Exception as fault:
            came.append(fault)

    thread = threading.Thread(target=one)
    thread.start()
    return thread, came


class Held:
    """A step that stops before it is taken until it is let go on."""

    def __init__(self, step: Callable[..., object]) -> None:
        self.step, self.reached, self.free = step, threading.Event(), threading.Event()

    def __call__(self, *args: object, **named: object) -> object:
        self.reached.set()
        assert self.free.wait(_SECONDS)
        return self.step(*args, **named)


def meanwhile(held: Held, first: Callable[[], object], second: Callable[[], object]) -> None:
    """Begin the first, have the second come while it is held, and see both to their end."""
    leading, came = began(first)
    assert held.reached.wait(_SECONDS)
    following, came_then = began(second)
    following.join(timeout=0.5)  # it has ended by then, or waits for the first
    held.free.set()
    for thread in (leading, following):
        thread.join(timeout=_SECONDS)
    assert len(came) == len(came_then) == 1, "one of them did not end"
    assert not [fault for fault in (*came, *came_then) if isinstance(fault, BaseException)]
