"""A marked raw value and its coin appear nowhere: traffic, records, exports, metrics, database, backups, logs.

The owner's value is a grid point with a number found nowhere else; her offer's q is high, so that many devices report
something else. What could hold it is searched for the number in every form it could take, and for the coin's words.
The search itself is tested: it must find the value when a device leaks it.
"""

from __future__ import annotations

import json
import logging
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import numpy as np
import pytest

from market.town import Town, found_town
from pdqs.market import Settings, access, offer_access, reads, round_steps
from pdqs.market.http.app import create_app
from pdqs.market.http.observe import LOGGER
from pdqs.market.http.serving import served
from pdqs.owner.client import OwnerClient
from pdqs.owner.ledger import Ledger
from pdqs.owner.review import Device
from pdqs.owner.visit import Visit
from pdqs.protocol.device_messages import DomainMessage
from pdqs.protocol.market_messages import QueryMessage
from pdqs.protocol.problems import MarketError

# 73,459 is the value of code 459 in a domain that starts at 73,000: neither shows up by accident.
CANARY = 73_459
DOMAIN = DomainMessage(kind="grid", start=73_000.0, step=1.0, size=1000)
COIN_WORDS = ("coin", "selected", "truthful", "told_truth")


@dataclass
class Words:
    """Known randomness: a coin that chooses the die, and a die that lands on 7."""

    given: list[int] = field(default_factory=lambda: [2**32 - 1, 7])

    def words(self, count: int) -> np.ndarray:
        taken, self.given = self.given[:count], self.given[count:]
        return np.array(taken, dtype=np.uint32)


@dataclass
class Tap(httpx.HTTPTransport):
    """Everything that goes over the wire, both ways."""

    heard: list[bytes] = field(default_factory=list)
    address: str = ""

    def __post_init__(self) -> None:
        super().__init__()

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        self.heard += [str(request.url).encode(), str(request.headers.raw).encode(), request.read()]
        answer = super().handle_request(request)
        self.heard += [str(answer.headers.raw).encode(), answer.read()]
        return answer


@pytest.fixture
def round_with_canary(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> Iterator[tuple[Town, OwnerClient, Tap]]:
    (tmp_path / "server").mkdir()
    url = f"sqlite:///{tmp_path}/server/market.db"
    town = found_town(url)
    town.add_owners(6)
    LOGGER.propagate = True
    caplog.set_level(logging.DEBUG)
    app = create_app(Settings(database_url=url), town.clock, ticking=False)
    tap = Tap()
    token = access.issue_token(town.market, town.owners[0])
    with served(app) as address, OwnerClient(address, token, transport=tap) as client:
        tap.address = address
        yield town, client, tap
    LOGGER.propagate = False
    town.market.store.close()


def _all_that_is_told(town: Town, tap: Tap) -> dict[str, bytes]:
    """Metrics, and what each party may take away: exports, statements, the round and its answer as they see it."""
    told = {}
    found = reads.rounds_page(town.market, town.consumer).items[0].round_id
    for user in (town.owners[0], town.owners[1], town.consumer, town.operator):
        headers = {"Authorization": f"Bearer {access.issue_token(town.market, user, 'a look round')}"}
        with httpx.Client(transport=tap, base_url=tap.address, headers=headers) as asking:
            for path in ("/metrics", "/healthz", "/v1/me/export", "/v1/statement", "/v1/journal", "/v1/payables.csv"):
                told[f"{user.name} {path}"] = asking.get(path).content
            for part in ("", "/answer", "/record", "/report", "/offer"):
                told[f"{user.name} {part}"] = asking.get(f"/v1/rounds/{found}{part}").content
    return told


def _backed_up(tmp_path: Path) -> None:
    """Back the database up beside itself, as a copy and as a dump."""
    with closing(sqlite3.connect(tmp_path / "server" / "market.db")) as live:
        with closing(sqlite3.connect(tmp_path / "server" / "backup.db")) as copy:
            live.backup(copy)
        (tmp_path / "server" / "dump.sql").write_text("\n".join(live.iterdump()))


def _everything(tmp_path: Path, tap: Tap, caplog: pytest.LogCaptureFixture) -> bytes:
    """All that was said, kept, backed up or logged on the server's side and on the wire."""
    _backed_up(tmp_path)
    files = b"".join(file.read_bytes() for file in (tmp_path / "server").iterdir())
    return b"\n".join([*tap.heard, files, caplog.text.encode()])


def _reported(town: Town, client: OwnerClient, tmp_path: Path, value: int) -> None:
    """A round in which the first owner reports from her device."""
    found = town.open_round(
        query=QueryMessage(kind="median", text="What do you earn?", domain=DOMAIN),
        question="value",
        attribute="income",
        epsilon_max=10.0,
        budget_micros=90_000_000,
    )
    device = Device(market="m", ledger=Ledger(tmp_path / "device.sqlite"), entropy=Words())
    visit = Visit(device=device, client=client, clock=town.clock)
    device.ledger.set_cap("income", 20 * 10**9)
    visit.bid(found.round_id, 1000)
    for place, owner in enumerate(town.owners[1:]):
        town.bid(owner, found, 1000 * place)
    town.clock.advance(60)
    round_steps.clear_round(town.market, town.consumer, found.round_id)
    review = visit.review(found.round_id)
    assert review.offer.q_numerator > 2**31
    visit.send(visit.draw(review, value, agreed=review.asks))
    town.clock.advance(60)
    round_steps.settle_round(town.market, town.consumer, found.round_id)
    assert offer_access.report(town.market, town.owners[0], found.round_id).code == 7
    assert '"reports_root"' in client.record(found.round_id)  # so that the record is among what was said
    device.ledger.close()


def _traces(haystack: bytes, value: int) -> list[str]:
    code = value - int(DOMAIN.start)
    forms = [f"{value}", f'"code":{code}', f'"code": {code}', f"{float(value)!r}"]
    return [form for form in forms if form.encode() in haystack]


def test_a_marked_value_and_its_coin_appear_nowhere(
    round_with_canary: tuple[Town, OwnerClient, Tap], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    town, client, tap = round_with_canary
    _reported(town, client, tmp_path, CANARY)
    told = _all_that_is_told(town, tap)
    assert b"pdqs_rounds" in told["owner 1 /metrics"]
    assert b'"code":7' in told["owner 1 /v1/me/export"]
    assert b'"code":7' not in told["owner 2 /v1/me/export"]
    haystack = _everything(tmp_path, tap, caplog)
    assert b'"code":7' in haystack  # the report itself is there to be found
    assert b"INSERT INTO" in haystack  # and so is the dump
    assert b"/v1/rounds/{round_id}/report" in haystack  # and so are the logs
    assert _traces(haystack, CANARY) == []
    assert [word for word in COIN_WORDS if word.encode() in haystack.lower()] == []


def test_the_databases_own_files_hold_the_report_and_not_the_value(
    round_with_canary: tuple[Town, OwnerClient, Tap], tmp_path: Path
) -> None:
    town, client, _ = round_with_canary
    _reported(town, client, tmp_path, CANARY)
    names = {file.name for file in (tmp_path / "server").iterdir()}
    assert "market.db-wal" in names  # the log file was there to be searched
    with town.market.store.read() as connection:
        codes = connection.exec_driver_sql("SELECT code FROM reports").scalars().all()
    assert codes == [7]


def test_the_search_finds_a_value_that_leaks(
    round_with_canary: tuple[Town, OwnerClient, Tap], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    town, client, tap = round_with_canary
    _reported(town, client, tmp_path, CANARY)
    leak = json.dumps({"value": CANARY, "coin": 0}).encode()
    with pytest.raises(MarketError):
        client.send_report("r_000000000000000000000000", leak)  # a device that tells all
    haystack = _everything(tmp_path, tap, caplog)
    assert _traces(haystack, CANARY) == [str(CANARY)]
    assert b"coin" in haystack
