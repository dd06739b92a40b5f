"""A bid whose receipt was lost, or that was signed for and dropped: both devices ask and tell at each look."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from pdqs.cli import main
from pdqs.owner.client import OwnerClient
from pdqs.owner.ledger import Ledger
from pdqs.owner.review import Device
from pdqs.owner.visit import Visit
from pdqs.protocol.problems import MarketError

from .hostile.edits import instead, lost, on, put, signed
from .hostile.lies import says_less
from .hostile.market import BID, CLOSES, OTHER_KEY, ROUND, Edit, Lie, Script, hostile
from .node import BROWSER, mutant, twin

NONE = {"type": "no-bid", "detail": "you have no bid"}
NAMES_NOBODY = "market's receipt does not say whose it is, as its terms promise."


def unopened(script: Script, _told: str, _status: int, _body: Any) -> tuple[int, Any]:
    """It never had the bid, and bids are open still."""
    script.bid = None
    return 502, {}


def never_arrives(script: Script, told: str, status: int, body: Any) -> tuple[int, Any]:
    return unopened(script, told, status, body) if told == "PUT bid" else (status, body)


def dropped(state: str = "reporting", listed: str | None = "") -> Edit:
    """It has no bid and no offer of hers any more; its notice says this state, and its list that offers are made.

    ``listed``: another state in its list; None where the list has no such round.
    """
    gone = [
        instead(f"GET {what}", 404, {"type": f"no-{what}", "detail": ""}, when=has_bid) for what in ("bid", "offer")
    ]
    in_list = listed or ("reporting" if state == "open" else state)
    edits = [*gone, on("GET notice", put(state=state), when=has_bid)]
    if listed is None:
        edits.append(on("GET notices", put(items=[])))
    else:
        edits.append(on("GET notices", lambda told: told["items"][0].update(state=in_list), when=has_bid))

    def edit(script: Script, told: str, status: int, body: Any) -> tuple[int, Any]:
        for each in edits:
            status, body = each(script, told, status, body)
        return status, body

    return edit


def forgotten(script: Script, told: str, status: int, body: Any) -> tuple[int, Any]:
    """To her there is no such round any more."""
    if told == "GET notices":
        return 200, {"items": [], "next": None}
    is_gone = has_bid(script) and told.startswith("GET ") and told != "GET me"
    kind = "no-round" if told == "GET notice" else f"no-{told[4:]}"
    return (404, {"type": kind, "detail": ""}) if is_gone else (status, body)


def has_bid(script: Script) -> bool:
    return script.bid is not None


def kept_for(days: int) -> Callable[[Script], None]:
    return lambda script: script.document.update(retention_days=days)


def withdraws(at_ms: int) -> Callable[[Script], None]:
    return lambda script: setattr(script, "withdrawn_at_ms", at_ms)


DROPPED, SIGNED = "market signed for your bid and has no offer to you", ["bid", "bid-accepted"]
CASES: dict[str, tuple[Lie, str, str, list[str]]] = {
    "it has what it signed": (
        Lie(goal="", edit=lost(lambda _script, _told, status, body: (status, body))), "", "", ["bid", "bid-accepted"],
    ),
    "it names nobody": (Lie(goal="", edit=lost(on("GET bid", says_less))), NAMES_NOBODY, "", ["bid"]),
    "another key": (
        Lie(goal="", edit=lost(on("GET bid", signed(OTHER_KEY)))), "receipt is not signed by its key.", "", ["bid"],
    ),
    "another price": (
        Lie(goal="", edit=lost(on("GET bid", signed(bid_micros=BID - 1)))), "another bid of yours", "", ["bid"],
    ),
    "it has none": (
        Lie(goal="", edit=lost(instead("GET bid", 404, NONE))), "", "that none came before bids closed.", ["bid"],
    ),
    "it never came": (
        Lie(goal="", edit=never_arrives), "", "the market says that it has none: bid again if it is to stand.", ["bid"],
    ),
    "dropped": (Lie(goal="", edit=dropped()), f"{DROPPED}.", "", SIGNED),
    "dropped and settled": (Lie(goal="", edit=dropped("settled")), f"{DROPPED}.", "", SIGNED),
    "dropped and open by its notice": (Lie(goal="", edit=dropped("open")), f"{DROPPED}.", "", SIGNED),
    "dropped and off its list": (
        Lie(goal="", edit=on("GET notices", put(items=[]))),
        "signed for your bid and no longer tells of the round.", "", SIGNED,
    ),
    "dropped, and told of nowhere": (
        Lie(goal="", edit=forgotten), "signed for your bid and no longer tells of the round.", "", SIGNED,
    ),
    "dropped, and told of when asked": (
        Lie(goal="", edit=dropped(listed=None)), "signed for your bid and no longer tells of the round.", "", SIGNED,
    ),
    "dropped and open for ever": (
        Lie(goal="", edit=dropped("open", listed="open")),
        "signed for your bid and has still not settled the round, which by its terms was over on 16 Jan 2027 (by this"
        " device it is 17 Jan 2027).", "", SIGNED,
    ),
    "not closed yet by the day that is allowed for it": (
        Lie(goal="", edit=dropped("open", listed="open")), "", "", SIGNED,
    ),
    "withdrawn elsewhere, and so off an honest market's list": (
        Lie(goal="", edit=dropped(listed=None), prepare=withdraws(CLOSES - 1)), "", f"{DROPPED}: it says that you"
        " withdrew it on 15 Jan 2027, and broke its word if you did not.", SIGNED,
    ),
    "called off early, deleted, and so off an honest market's list": (
        Lie(goal="", edit=dropped("cancelled", listed=None), prepare=kept_for(1)), "", "", SIGNED,
    ),
    "withdrawn elsewhere": (
        Lie(goal="", edit=dropped(), prepare=withdraws(CLOSES - 1)), "", f"{DROPPED}: it says that you withdrew it on"
        " 15 Jan 2027, and broke its word if you did not.", SIGNED,
    ),
    "withdrawn before she bid": (
        Lie(goal="", edit=dropped(), prepare=withdraws(CLOSES - 5001)), f"{DROPPED}.", "", SIGNED,
    ),
    "called off": (Lie(goal="", edit=dropped("cancelled")), "", "", SIGNED),
    "settled, and deleted as its terms say": (
        Lie(goal="", edit=dropped("settled"), prepare=kept_for(1)), "", "", SIGNED,
    ),
    "settled, and not to be deleted yet": (
        Lie(goal="", edit=dropped("settled"), prepare=kept_for(1)), f"{DROPPED}.", "", SIGNED,
    ),
    "an offer that was not looked at yet": (Lie(goal=""), "", "", SIGNED),
}  # fmt: skip


NOW = {
    "dropped and off its list": CLOSES + 1,
    "dropped, and told of nowhere": CLOSES + 1,
    "dropped, and told of when asked": CLOSES + 1,
    "dropped and open for ever": CLOSES + 2 * 86_400_000 + 60_001,
    "not closed yet by the day that is allowed for it": CLOSES + 2 * 86_400_000 + 60_000,
    "withdrawn elsewhere, and so off an honest market's list": CLOSES + 1,
    "called off early, deleted, and so off an honest market's list": CLOSES + 1,
    "settled, and deleted as its terms say": CLOSES + 86_400_000,
    "settled, and not to be deleted yet": CLOSES + 86_399_999,
}
"""By the device's own clock; else it is 7."""


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with hostile({name: case[0] for name, case in CASES.items()}) as found:
        yield found


def looked(market: str, ledger: Ledger, now_ms: int = 7) -> dict[str, list[str]]:
    with OwnerClient(market, sleep=lambda _: None) as client:
        visit = Visit(device=Device(market=market, ledger=ledger), client=client, clock=lambda: now_ms)
        with suppress(MarketError):
            visit.bid(ROUND, BID)
        found = visit.look_over(client.notices())
    kinds = [str(entry["kind"]) for entry in ledger.account().entries]
    return {"faults": found.faults, "notes": found.notes, "kinds": kinds}


def in_javascript(address: str, run: str, modules: Path = BROWSER) -> dict[str, Any]:
    cases = [
        {"address": f"{address}/{quote(name)}/{run}", "round": ROUND, "bid": BID, "now": NOW.get(name, 7)}
        for name in CASES
    ]
    return dict(zip(CASES, twin(modules, script="lost_twin.mjs", cases=cases)["found"], strict=True))


def hold(name: str, found: dict[str, list[str]]) -> None:
    _, fault, note, kinds = CASES[name]
    assert found["kinds"] == kinds
    for said, expected in ((found["faults"], fault), (found["notes"], note)):
        assert len(said) == bool(expected), said
        assert not expected or re.search(re.escape(expected), said[0], re.IGNORECASE), said


@pytest.mark.parametrize("name", CASES)
def test_what_the_market_signed_for_a_bid_is_asked_for_again(name: str, address: str, tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "device.sqlite")
    hold(name, looked(f"{address}/{name}/python", ledger, NOW.get(name, 7)))
    ledger.close()


def test_the_browser_asks_for_it_again_too(address: str, tmp_path: Path) -> None:
    for name, found in in_javascript(address, "browser").items():
        hold(name, found)
    careless = mutant(tmp_path, "kept.mjs", "await device.catchUp(notice, there);", "")
    assert in_javascript(address, "careless", careless)["it has what it signed"]["kinds"] == ["bid"]


def test_a_browser_that_looks_for_no_offer_is_seen(address: str, tmp_path: Path) -> None:
    careless = mutant(tmp_path, "settling.mjs", "await lookForOffers(visit, rounds, found);", "")
    assert in_javascript(address, "unlooked", careless)["dropped"]["faults"] == []


@pytest.mark.parametrize(
    ("name", "code", "line"),
    [("it names nobody", 1, "Wrong "), ("it never came", 0, "Note "), ("dropped", 1, "Wrong ")],
)
def test_the_list_tells_of_it(
    name: str,
    code: int,
    line: str,
    address: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """That a bid never came is nobody's broken word; a receipt that is not what was promised is."""
    monkeypatch.setenv("PDQS_DEVICE", str(tmp_path / "device.sqlite"))
    ledger, market = Ledger(tmp_path / "device.sqlite"), f"{address}/{name}/list"
    ledger.enrol(market, "Ann", "t" * 43, "u_" + "0" * 24)
    looked(market, ledger)
    ledger.close()
    with pytest.raises(SystemExit, match="1") if code else nullcontext():
        main(["owner", "list"])
    shown = capsys.readouterr().out.splitlines()
    assert ("bid 0.30, not signed for" in shown[1]) == (code == 0), "an offer is told in its place"
    assert len([each for each in shown if each.startswith(line)]) == 1
