"""Dear things that are made once for all who ask: whoever comes while one is made waits for it, and a few are kept."""

from __future__ import annotations

import threading
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Generic, TypeVar, final

Key = TypeVar("Key")
Made = TypeVar("Made")
_ONE_CALLERS = 2


@final
class MadeOnce(Generic[Key, Made]):
    """Keeps the last few that were asked for; one is made at a time.

    Whoever waits for her turn holds a thread that others want as well. So only ``waiting`` wait, for ``patience``
    seconds each, and a caller has two places in all, that of what is being made for her among them; everyone else is
    told at once that there is none. ``seconds`` is for how long anything is kept at most (none: for good).

    >>> kept: MadeOnce[str, int] = MadeOnce(most=2, patience=1.0)
    >>> kept.get("three", lambda: 3), kept.get("three", lambda: 4)
    (3, 3)
    """

    def __init__(self, *, most: int, patience: float, waiting: int = 3, seconds: float | None = None) -> None:
        self._most, self._patience, self._waiting, self._seconds = most, patience, waiting, seconds
        self._kept: OrderedDict[Key, Made] = OrderedDict()
        self._places: Counter[str] = Counter()
        self._changed, self._turn = threading.Lock(), threading.Lock()
        self._forgetting = False

    def get(self, key: Key, make: Callable[[], Made], caller: str = "") -> Made | None:
        """What is kept under a key, or made now; none if others took too long or too many wait.

        A ``caller`` without a name is nobody in particular, and is held to no share.
        """
        found = self._known(key)
        if found is not None:
            return found
        with self._place(caller) as is_free:
            if not is_free or not self._turn.acquire(timeout=self._patience):
                return self._known(key)
            try:
                found = self._known(key)  # made by whoever had the turn before
                return self._keep(key, make()) if found is None else found
            finally:
                self._turn.release()

    @contextmanager
    def _place(self, caller: str) -> Iterator[bool]:
        """Stand in line, if there is a place for this caller."""
        with self._changed:
            hers = self._places[caller] if caller else 0
            is_free = hers < _ONE_CALLERS and self._places.total() <= self._waiting
            self._places[caller] += is_free
        try:
            yield is_free
        finally:
            with self._changed:
                self._places[caller] -= is_free
                self._places += Counter()  # drops those who are gone

    def _known(self, key: Key) -> Made | None:
        with self._changed:
            if key in self._kept:
                self._kept.move_to_end(key)
            return self._kept.get(key)

    def _keep(self, key: Key, made: Made) -> Made:
        with self._changed:
            self._kept[key] = made
            while len(self._kept) > self._most:
                self._kept.popitem(last=False)
            if self._seconds is not None and self._kept and not self._forgetting:
                self._forgetting = True
                later = threading.Timer(self._seconds, self._forget)
                later.daemon = True
                later.start()
        return made

    def _forget(self) -> None:
        """Let go of all that is kept, so many seconds after the first of it was: some of it sooner, none later."""
        with self._changed:
            self._kept.clear()
            self._forgetting = False
