"""Many owners with devices of their own, played by a few processes that share their lines to the market.

Every owner has her own device file, token and coins. What owners share is the wire: a process keeps a handful of
connections open for all that it plays, where a connection and a TLS context each would cost a megabyte an owner.
"""

from __future__ import annotations

import http.client
import multiprocessing
import os
import shutil
import signal
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, Executor, ProcessPoolExecutor, ThreadPoolExecutor, as_completed
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from multiprocessing.connection import wait
from pathlib import Path
from typing import final

import httpx

from pdqs.market.context import system_clock
from pdqs.model.errors import InputError, PdqsError
from pdqs.model.questions import Side
from pdqs.owner.client import OwnerClient
from pdqs.owner.ledger import Ledger
from pdqs.owner.review import Device, Review
from pdqs.owner.visit import Visit
from pdqs.protocol.market_messages import Round

_MEMORY = Path("/dev/shm")
_DEVICE_BYTES = 64 * 1024
"""What a device's file takes at most in one round."""
_AT_ONCE = 8
"""Lines of a process. The system deals them out to a market's workers by chance: with few, one worker idles."""
_TIMEOUT_SECONDS = 60.0
_TOGETHER = 100
_SEVERAL_FROM = 1_000
_PROCESSES = 2

Say = Callable[[str], None]


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class SimulatedOwner:
    """One simulated person: her device's file, what it guards, and what lets her in: a code, then a token."""

    address: str
    file: Path
    value: float
    bid_micros: int
    code: str
    token: str = ""
    has_bid: bool = False


Crowd = list[SimulatedOwner]
Play = Callable[[SimulatedOwner, httpx.BaseTransport], SimulatedOwner]


@final
class _Shared(httpx.BaseTransport):
    """Lines to the market that outlive the clients who speak over them, one to a thread.

    On the standard library's own: a crowd shares its processors with the market that it plays against, and this takes
    half the time of the usual transport, which can do far more.
    """

    def __init__(self) -> None:
        self._own = threading.local()
        self._lines: list[http.client.HTTPConnection] = []

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        line = getattr(self._own, "line", None)
        if line is None:
            line = self._own.line = self._opened(request.url)
        headers = {name.decode("ascii"): value.decode("ascii") for name, value in request.headers.raw}
        try:
            line.request(request.method, request.url.raw_path.decode("ascii"), request.read(), headers)
            answer = line.getresponse()
            return httpx.Response(answer.status, headers=answer.getheaders(), content=answer.read())
        except (OSError, http.client.HTTPException) as fault:
            line.close()  # the next request opens it anew
            raise httpx.TransportError(str(fault) or type(fault).__name__, request=request) from None

    def _opened(self, url: httpx.URL) -> http.client.HTTPConnection:
        kind = http.client.HTTPSConnection if url.scheme == "https" else http.client.HTTPConnection
        line = kind(url.host, url.port, timeout=_TIMEOUT_SECONDS)
        self._lines.append(line)
        return line

    def hang_up(self) -> None:
        """Let go of the connections; closing a client does not."""
        for line in self._lines:
            line.close()


@contextmanager
def drawer(owners: int) -> Iterator[Path]:
    """Where the devices' files are kept while they are played: in memory where there is room for all of them.

    A real device waits for its disk before it says that a charge is kept; these are thrown away in the end, and 20,000
    owners would wait for one disk. A container often has 64 MB of such memory, which a few thousand devices fill.
    """
    place = _MEMORY if _has_room(_MEMORY, owners * _DEVICE_BYTES) else None
    with tempfile.TemporaryDirectory(prefix="pdqs-owners-", dir=place, ignore_cleanup_errors=True) as directory:
        yield Path(directory)


def _has_room(folder: Path, bytes_needed: int) -> bool:
    return os.access(folder, os.W_OK) and shutil.disk_usage(folder).free >= bytes_needed


@contextmanager
def players(owners: int) -> Iterator[Executor]:
    """Who plays: threads for a few owners, processes for many. When it is broken off, what is not begun is left."""
    pool: Executor
    if owners < _SEVERAL_FROM:
        pool = ThreadPoolExecutor(_PROCESSES)
    else:
        pool = ProcessPoolExecutor(
            _PROCESSES, mp_context=multiprocessing.get_context("spawn"), initializer=_as_long_as_its_parent
        )
    try:
        yield pool
    finally:
        with not_broken_off():
            pool.shutdown(cancel_futures=True)


def _as_long_as_its_parent() -> None:
    """A player leaves Ctrl-C to the process that started it, and ends with that, however it ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    assert parent is not None

    def outlived() -> None:
        wait([parent.sentinel])
        os._exit(1)

    threading.Thread(target=outlived, name="pdqs-orphan", daemon=True).start()


@contextmanager
def not_broken_off() -> Iterator[None]:
    """A second Ctrl-C is not heard while what the first one broke off is cleared away."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def enter_all(pool: Executor, arriving: Iterable[Crowd], say: Say) -> Crowd:
    """Everyone exchanges her code for a token, and enrols her device, while others are still being invited."""
    return _played(pool, _enter, arriving, "have arrived", say)


def bid_all(pool: Executor, crowd: Crowd, opened: Round, say: Say) -> Crowd:
    """Everyone bids her price; those whose bids were taken come back, for whoever came too late is out of it."""
    tried = _played(pool, partial(_bid, opened), [crowd], "came to bid", say)
    taken = [owner for owner in tried if owner.has_bid]
    if len(taken) < len(crowd):
        say(f"{len(crowd) - len(taken):,} of {len(crowd):,} came too late to bid: give them more time (--bid-seconds)")
    return taken


def report_all(pool: Executor, crowd: Crowd, round_id: str, say: Say) -> None:
    """Everyone looks at her offer, and reports if the lot fell on her and her question has come."""
    _played(pool, partial(_report, round_id), [crowd], "have looked at their offers", say)


def _played(pool: Executor, play: Play, coming: Iterable[Crowd], what: str, say: Say) -> Crowd:
    """Play everyone as they come, a group at a time, and say how far it has come."""
    groups = (some[start : start + _TOGETHER] for some in coming for start in range(0, len(some), _TOGETHER))
    done: dict[int, Crowd] = {}
    count = 0
    try:
        waiting = {pool.submit(_group, play, group): (place, len(group)) for place, group in enumerate(groups)}
        everyone = sum(size for _, size in waiting.values())
        for finished in as_completed(waiting):
            place, size = waiting[finished]
            done[place] = finished.result()
            count += size
            say(f"{count:,} of {everyone:,} {what}")
    except BrokenExecutor:
        raise InputError("a process that plays owners was ended from outside, for want of memory perhaps") from None
    return [owner for place in range(len(waiting)) for owner in done[place]]


def _group(play: Play, group: Sequence[SimulatedOwner]) -> Crowd:
    """Play a group of owners over shared connections."""
    wire = _Shared()
    try:
        with ThreadPoolExecutor(_AT_ONCE) as threads:
            return list(threads.map(lambda owner: play(owner, wire), group))
    finally:
        wire.hang_up()


def _enter(owner: SimulatedOwner, wire: httpx.BaseTransport) -> SimulatedOwner:
    with OwnerClient(owner.address, transport=wire) as stranger:
        given = stranger.redeem_as(owner.code)
    with closing(Ledger(owner.file)) as ledger:  # as a device enrols; nobody makes hers only when bids close soon
        ledger.enrol(owner.address, given.user.name, given.token, given.user.user_id)
    return replace(owner, code="", token=given.token)


def _bid(opened: Round, owner: SimulatedOwner, wire: httpx.BaseTransport) -> SimulatedOwner:
    try:
        with _visiting(owner, wire) as visit:
            visit.bid(opened.round_id, owner.bid_micros)
    except PdqsError:
        if system_clock() < (opened.bids_close_at_ms or 0):
            raise
        return owner  # too late, as market and device say in their own words
    return replace(owner, has_bid=True)


def _report(round_id: str, owner: SimulatedOwner, wire: httpx.BaseTransport) -> SimulatedOwner:
    with _visiting(owner, wire) as visit:
        if visit.stored(round_id) is not None:
            return owner
        review = visit.review(round_id)
        if review.offer.q_numerator and not review.waits:
            visit.send(visit.draw(review, _answer(review, owner.value), agreed=review.asks), review.told.notice)
    return owner


def _answer(review: Review, value: float) -> float:
    """What a truthful owner answers: her value, or whether it is at most the one that she is asked about."""
    if review.offer.side is None:
        return value
    return float(value <= Side(review.told.promise.terms.domain, review.offer.side).number)


@contextmanager
def _visiting(owner: SimulatedOwner, wire: httpx.BaseTransport) -> Iterator[Visit]:
    client = OwnerClient(owner.address, owner.token, transport=wire)
    with client, closing(Ledger(owner.file)) as ledger:
        yield Visit(device=Device(market=owner.address, ledger=ledger), client=client, clock=system_clock)
