"""Two who act at the same moment: the first is held in the middle of what it does while the second comes."""

from __future__ import annotations

import threading
from collections.abc import Callable

_SECONDS = 60


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
    faults: list[BaseException] = []

    def seen(act: Callable[[], object]) -> None:
        try:
            act()
        except BaseException as fault:
            faults.append(fault)

    acting = [threading.Thread(target=seen, args=(act,)) for act in (first, second)]
    acting[0].start()
    assert held.reached.wait(_SECONDS)
    acting[1].start()
    acting[1].join(timeout=0.5)  # it has ended by then, or waits for the first
    held.free.set()
    for thread in acting:
        thread.join(timeout=_SECONDS)
    assert not faults
    assert not any(thread.is_alive() for thread in acting)
