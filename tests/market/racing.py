"""Bids and reports sent around the deadline from many threads, while the deadline is kept: none late, none lost.

    python tests/market/racing.py --races 10000 --work build/races --out docs/results/attacks/races.json

A race is one request against one deadline. In every round a crowd of threads bids at moments drawn around the close of
bids while another server keeps the deadline, and those who are asked report in the same way around the close of
reports. Both servers have connections of their own to the one database. Requests are meant for moments from .9 s
before a deadline to .3 s after it, so that they come on either side of it. ``--seconds`` is for how long bids, and then
reports, are taken: a second is enough on a machine that has nothing else to do; else clearing itself takes that long.

*Late*: the market took a request that was sent when its clock had reached the deadline, or says itself that it came
then. *Lost*: the market acknowledged a bid and there is no offer for it, or a report and there is no payment; or it
refused a request and has a row of it. What is done is written down round by round; the same command goes on from there.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from sqlalchemy import select

from market.campaign import Journal, Line, Pace, write_summary
from market.town import Town, bid_at_the_door, found_town, new_database, postgres_server
from pdqs.market import Market, bidding, round_steps
from pdqs.market.context import system_clock
from pdqs.market.ledger import account_of
from pdqs.market.store.database import open_store
from pdqs.market.store.schema import bids, offers, postings, reports, rounds
from pdqs.protocol.device_messages import Bid, Report
from pdqs.protocol.market_messages import Round, User
from pdqs.protocol.problems import MarketError

CROWD = 24


def wait_until(at_ms: int) -> None:
    """Come back when it is that late."""
    time.sleep(max(0.0, (at_ms - system_clock()) / 1000))


@dataclass
class Heard:
    """What came of a crowd's requests: by owner, whether it was taken; and who was late and yet was taken."""

    taken: dict[str, bool] = field(default_factory=dict)
    late: list[str] = field(default_factory=list)


@dataclass
class Track:
    """Where races are run: a town, the market that is asked, and another that keeps the deadlines."""

    town: Town
    asked: Market
    keeper: Market

    def crowd(
        self, people: list[User], close_ms: int, send: Callable[[User], int], rng: random.Random, spread: float
    ) -> Heard:
        """Have everyone send around a deadline, while it is kept. ``send`` gives the time that the market says."""
        heard, lock = Heard(), threading.Lock()
        moments = {one.user_id: close_ms + int(rng.uniform(-spread, spread / 3)) for one in people}

        def one(owner: User) -> None:
            wait_until(moments[owner.user_id])
            sent = system_clock()
            try:
                kept_at = send(owner)
            except MarketError:
                kept_at = -1
            with lock:
                heard.taken[owner.user_id] = kept_at >= 0
                if kept_at >= 0 and (sent >= close_ms or kept_at >= close_ms):
                    heard.late.append(owner.user_id)

        threads = [threading.Thread(target=one, args=(owner,)) for owner in people]
        for thread in threads:
            thread.start()
        wait_until(close_ms)
        round_steps.advance_due(self.keeper)
        for thread in threads:
            thread.join()
        round_steps.advance_due(self.keeper)
        assert self.keeper.stuck == {}
        return heard


@contextmanager
def track(database: str) -> Iterator[Track]:
    """A town with a crowd of owners on the database asked for."""
    with tempfile.TemporaryDirectory(prefix="pdqs-races-") as directory:
        if database == "sqlite":
            yield from _laid(f"sqlite:///{directory}/market.db")
        else:
            os.environ.setdefault("XDG_RUNTIME_DIR", directory)
            with postgres_server() as server:
                yield from _laid(new_database(server, "races"))


def _laid(url: str) -> Iterator[Track]:
    town = found_town(url, money_micros=10**12)
    town.add_owners(CROWD)
    markets = [Market(store=open_store(url), settings=town.market.settings) for _ in range(2)]
    town.market = markets[0]
    yield Track(town, markets[0], markets[1])
    for market in markets:
        market.store.close()


def one_round(track: Track, number: int, rng: random.Random, seconds: int = 1) -> Line:
    """A round whose bids and reports are sent around the deadlines; what came of it, if none was late or lost."""
    town = track.town
    found = town.open_round(f"race-number-{number:09d}", bid_seconds=seconds, report_seconds=seconds)
    spread = rng.choice((100.0, 400.0, 900.0))
    bidding_heard = track.crowd(town.owners, int(found.bids_close_at_ms or 0), _bids(track, found), rng, spread)
    seen = look(track, found.round_id)
    assert not bidding_heard.late, f"late bids were taken: {bidding_heard.late}"
    taken = {owner for owner, was in bidding_heard.taken.items() if was}
    assert taken == seen.bid, f"acknowledged bids and those kept differ: {sorted(taken ^ seen.bid)}"
    outcome = Counter(bids_taken=len(taken), bids_refused=len(town.owners) - len(taken))
    if len(taken) >= 2:  # else it was called off: a round needs two owners
        assert seen.offered == taken, f"bids without an offer: {sorted(taken ^ seen.offered)}"
        outcome += _reports_of(track, found.round_id, seen, rng, spread)
    return {name: int(count) for name, count in outcome.items()}


def _reports_of(track: Track, round_id: str, seen: Seen, rng: random.Random, spread: float) -> Counter[str]:
    """Have those who were asked report around the deadline; what came of it."""
    people = [owner for owner in track.town.owners if owner.user_id in seen.asked]
    if not people:
        return Counter()
    heard = track.crowd(people, seen.reports_close_at_ms, _reports(track, round_id, seen.terms_hash), rng, spread)
    wait_until(seen.reports_close_at_ms)
    round_steps.advance_due(track.keeper)
    end = look(track, round_id)
    assert not heard.late, f"late reports were taken: {heard.late}"
    taken = {owner for owner, was in heard.taken.items() if was}
    assert taken == end.reported, f"acknowledged reports and those kept differ: {sorted(taken ^ end.reported)}"
    owed = {owner for owner in taken if end.asked[owner] > 0}
    assert end.state == "settled", f"the round is {end.state}"
    assert owed == end.paid, f"acknowledged reports and payments differ: {sorted(owed ^ end.paid)}"
    return Counter(reports_taken=len(taken), reports_refused=len(people) - len(taken))


def _bids(track: Track, found: Round) -> Callable[[User], int]:
    asked = Bid(terms_hash=found.terms_hash or "", bid_micros=1000)
    return lambda owner: bid_at_the_door(track.asked, owner, found.round_id, asked).placed_at_ms


def _reports(track: Track, round_id: str, terms_hash: str) -> Callable[[User], int]:
    asked = Report(terms_hash=terms_hash, code=1)
    return lambda owner: round_steps.submit_report(track.asked, owner, round_id, asked).received_at_ms


@dataclass(frozen=True)
class Seen:
    """A round as the tables have it, read past every function of the market."""

    state: str
    terms_hash: str
    reports_close_at_ms: int
    bid: set[str]
    offered: set[str]
    asked: dict[str, int]
    """What each is to be paid who was asked."""
    reported: set[str]
    paid: set[str]


def look(track: Track, round_id: str) -> Seen:
    """Read a round from the tables."""
    with track.keeper.store.read() as connection:
        row = connection.execute(select(rounds).where(rounds.c.round_id == round_id)).one()
        made = connection.execute(select(offers).where(offers.c.round_id == round_id)).all()
        moved = select(postings.c.account).where(postings.c.transaction_id == f"settlement:{round_id}")
        accounts = set(connection.scalars(moved))
        return Seen(
            state=row.state,
            terms_hash=row.terms_hash,
            reports_close_at_ms=row.reports_close_at_ms or 0,
            bid=set(connection.scalars(select(bids.c.owner_id).where(bids.c.round_id == round_id))),
            offered={one.owner_id for one in made},
            asked={one.owner_id: one.payment_micros for one in made if one.q_numerator > 0},
            reported=set(connection.scalars(select(reports.c.owner_id).where(reports.c.round_id == round_id))),
            paid={one.owner_id for one in made if account_of("owner", one.owner_id) in accounts},
        )


def look_first_and_lock_later() -> None:
    """Break the market: it looks at the clock, dawdles, and then keeps the bid whatever has happened meanwhile."""
    keep = bidding.keep_if_open

    def dawdling(connection: object, fresh: dict[str, object]) -> bool:
        time.sleep(0.02)
        return keep(connection, {**fresh, "now": int(str(fresh["now"])) - 10_000})  # type: ignore[arg-type]

    bidding.keep_if_open = dawdling


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--races", type=int, default=10_000, help="in all, half of them on each database")
    parser.add_argument("--database", choices=["sqlite", "postgresql"], action="append", help="both unless given")
    parser.add_argument("--seconds", type=int, default=1, help="for which bids, and then reports, are taken")
    parser.add_argument("--seed", type=int, default=20261116)
    parser.add_argument("--work", type=Path, default=Path("build/races"), help="where the journal of rounds is kept")
    parser.add_argument("--out", type=Path, default=None)
    parser.add_argument("--broken", action="store_true", help="race against a market that is wrong, to see it caught")
    options = parser.parse_args()
    databases = options.database or ["sqlite", "postgresql"]
    journal = Journal(options.work / f"races-{'broken' if options.broken else options.seed}.jsonl")
    if options.broken:
        look_first_and_lock_later()
    pace = Pace("races", options.races, sum(map(races_in, journal.lines)))
    for database in databases:
        _run(database, options, journal, pace, options.races // len(databases))
    write_summary(options.out, summary(journal.lines, options))


def races_in(line: Line) -> int:
    """How many requests raced in a round."""
    return sum(count for name, count in line.items() if name.endswith(("_taken", "_refused")))


def _run(database: str, options: argparse.Namespace, journal: Journal, pace: Pace, races: int) -> None:
    mine = [line for line in journal.lines if line["database"] == database]
    done, number = sum(map(races_in, mine)), len(mine)
    if done >= races:
        return
    with track(database) as laid:
        while done < races:
            rng = random.Random(f"{options.seed} {database} {number}")
            found = {"database": database, "number": number, **one_round(laid, number, rng, options.seconds)}
            journal.add(found)
            done, number = done + races_in(found), number + 1
            pace.step(races_in(found))


def summary(lines: list[Line], options: argparse.Namespace) -> Line:
    """Counts by database. That there is a summary means that none was late and none lost."""
    names = ("bids_taken", "bids_refused", "reports_taken", "reports_refused")
    by = {d: {n: sum(one.get(n, 0) for one in lines if one["database"] == d) for n in names} for d in _databases(lines)}
    return {
        "command": f"tests/market/racing.py --races {options.races} --seconds {options.seconds} --seed {options.seed}",
        "races": by,
        "races_in_all": sum(map(races_in, lines)),
        "rounds": len(lines),
        "late_and_taken": 0,
        "lost": 0,
        "outcome": "no request was taken at or after its deadline; every acknowledged bid has its offer, every"
        " acknowledged report its payment, and nothing refused left a row",
    }


def _databases(lines: list[Line]) -> list[str]:
    return sorted({line["database"] for line in lines})


if __name__ == "__main__":
    main()
