"""A market that does not answer about one round hides nothing that is known of another, on either device."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

import pytest

from pdqs.cli import main
from pdqs.owner.client import OwnerClient
from pdqs.owner.ledger import Ledger
from pdqs.owner.review import Device
from pdqs.owner.visit import Visit

from .hostile.edits import bid_on, both, instead, on
from .hostile.lies import earlier
from .hostile.market import BID, OTHER_ROUND, ROUND, Edit, Json, Lie, Script, hostile
from .node import BROWSER, mutant, twin

NO = {"type": "forbidden", "detail": "all is well"}
BAD_GATEWAY: Json = {}
"""What is no problem's document, as a proxy's page is none."""
OTHERS = [f"rnd_{digit * 24}" for digit in "c0123"]
PAID, GONE = "rnd_" + "4" * 24, "rnd_" + "5" * 24
TAKES = {"transaction_id": "x", "kind": "reversal", "account": "o", "amount_micros": -5, "at_ms": 5, "round_id": None}


def reported(script: Script) -> bool:
    return script.report is not None


def list_others(notices: Json) -> None:
    first = {**notices["items"][0], "state": "settled"}
    notices["items"].extend({**first, "round_id": each} for each in (*OTHERS, PAID))


def settle(notices: Json) -> None:
    notices["items"][0].update(state="settled")


PAYS = {**TAKES, "transaction_id": "y", "kind": "settlement", "amount_micros": 1, "round_id": PAID}
RETRACTS = {**PAYS, "transaction_id": "z", "kind": "reversal", "amount_micros": -1}
TAKING = on("GET statement", lambda statement: statement["items"].append(TAKES))
TAKEN_BACK = on("GET statement", lambda statement: statement["items"].extend([TAKES, PAYS, RETRACTS]))
TOOK = r"^The market took 0\.000005 from you "
ALL_IS_WELL = r"\u201call is well\u201d\.$"
ONE = rf"({ROUND} could not be looked at: the|It could not be looked at\. The) market said.*{ALL_IS_WELL}"
LEFT_OUT = r"^The market did not answer, so that 3 other rounds were not looked at\.$"
CASES: dict[str, tuple[Edit, tuple[str, ...], tuple[str, ...]]] = {
    "about one": (both(instead("GET notice", 403, NO, when=reported), TAKING), (TOOK,), (ONE,)),
    "out of order about one": (both(instead("GET notice", 500, NO, when=reported), TAKING), (TOOK,), (ONE,)),
    "behind a proxy that reaches nobody": (
        both(instead("GET notice", 502, BAD_GATEWAY, when=reported), TAKING),
        (TOOK,),
        (r"ould not be looked at[:.] [tT]he market.* answered 502",),
    ),
    "about her money, behind a proxy": (
        instead("GET statement", 502, BAD_GATEWAY),
        (),
        (r"^What the market says of your money could not be looked at[:.] [tT]he market.* answered 502",),
    ),
    "about many": (
        both(instead("GET notice", 403, NO, when=reported), on("GET notices", list_others, when=reported), TAKEN_BACK),
        ("was paid for your report, and 0.000001 of it was taken back", "no longer tells of the round", TOOK),
        ("could not be looked at",) * 3 + (LEFT_OUT,),
    ),
    "about her money": (
        instead("GET statement", 403, NO),
        (),
        (rf"^What the market says of your money could not be looked at.*{ALL_IS_WELL}",),
    ),
    "about an offer": (
        both(instead("GET offer", 403, NO), on("GET notices", settle, when=bid_on)),
        (),
        (),
    ),
}  # fmt: skip
"""What is edited, what must be told as faults, and as what could not be looked at."""


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with hostile({name: Lie(goal="nothing", edit=case[0]) for name, case in CASES.items()}) as found:
        yield found


def before(name: str) -> tuple[Json, ...]:
    """What her device did before, in the rounds that there are many of; of the last two it need ask nobody."""
    if name != "about many":
        return ()
    paid = {"kind": "paid", "round_id": PAID, "at_ms": 3, "paid_micros": 1}
    return (*(entry for each in (*OTHERS, PAID, GONE) for entry in earlier("drink", "Wine?", each)), paid)


def hold(name: str, faults: list[str], unseen: list[str]) -> None:
    for said, expected in ((faults, CASES[name][1]), (unseen, CASES[name][2])):
        assert len(said) == len(expected), said
        assert all(re.search(*each) for each in zip(expected, said, strict=True)), said


LOOKED_AT = [name for name in CASES if name != "about an offer"]


@pytest.mark.parametrize("name", LOOKED_AT)
def test_who_does_not_answer_about_one_round_hides_nothing_about_another(
    name: str, address: str, tmp_path: Path
) -> None:
    market = f"{address}/{name}/python"
    with closing(Ledger(tmp_path / "device.sqlite")) as ledger, OwnerClient(market, sleep=lambda _: None) as client:
        visit = Visit(device=Device(market=market, ledger=ledger), client=client, clock=lambda: 7)
        visit.bid(ROUND, BID)
        visit.send(visit.draw(visit.review(ROUND), "coffee", agreed=("new fact",)))
        for fields in before(name):
            ledger.note(**{"market": market, **fields})
        looked = visit.look_over(client.notices())
    hold(name, looked.faults, looked.unseen)


def in_javascript(address: str, names: list[str], run: str, modules: Path = BROWSER) -> None:
    one = {"round": ROUND, "bid": BID, "looks": 1, "asksOfPayouts": False, "now": 7}
    cases = [{**one, "address": f"{address}/{quote(name)}/{run}", "later": before(name)} for name in names]
    for name, found in zip(names, twin(modules, script="settling_twin.mjs", cases=cases)["found"], strict=True):
        (faults, _), *_ = found["told"]
        hold(name, [wrong for _, wrong in faults], found["notes"])


def test_nor_on_the_browsers_device(address: str, tmp_path: Path) -> None:
    in_javascript(address, LOOKED_AT, "browser")
    patient = mutant(tmp_path, "kept.mjs", "const MOST_SILENT = 3;", "const MOST_SILENT = 30;")
    with pytest.raises(AssertionError):
        in_javascript(address, ["about many"], "patient", patient)


def listed(tmp_path: Path, market: str, code: int, capsys: pytest.CaptureFixture[str]) -> str:
    """What ``pdqs owner list`` prints for whoever bid here, and reported earlier in a round that is told of no more."""
    file = tmp_path / "device.sqlite"
    with closing(Ledger(file)) as ledger, OwnerClient(market, sleep=lambda _: None) as client:
        ledger.enrol(market, "Ann", "x" * 43)
        Visit(device=Device(market=market, ledger=ledger), client=client, clock=lambda: 7).bid(ROUND, BID)
        for fields in earlier("drink", "Do you like wine?"):
            ledger.note(**{"market": market, **fields})
    with pytest.raises(SystemExit, match=f"^{code}$"):
        main(["owner", "list", "--device", str(file)])
    return " ".join(capsys.readouterr().out.split())


def test_the_list_tells_what_is_known_though_an_offer_is_refused(
    address: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shown = listed(tmp_path, f"{address}/about an offer/list", 2, capsys)
    assert f"Wrong Round {OTHER_ROUND}: the market signed for your report" in shown


def test_the_list_says_what_could_not_be_looked_at(
    address: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shown = listed(tmp_path, f"{address}/about her money/list", 1, capsys)
    assert "Not seen What the market says of your money could not be looked at: the market said: " in shown
