"""Two windows look before either draws: what only she may agree to is asked all the same, on both devices."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from pdqs.model.errors import PdqsError
from pdqs.owner import review as reviewing
from pdqs.owner.client import OwnerClient
from pdqs.owner.ledger import Ledger
from pdqs.owner.lifetime_cap import OVERALL
from pdqs.owner.review import Device, Review
from pdqs.owner.visit import Visit
from pdqs.rounds.commitments import bid_entry, commitment_to
from pdqs.rounds.merkle import merkle_tree

from .hostile.market import BID, OTHER_ROUND, ROUND, Edit, Json, Lie, Script, hostile, sign
from .node import BROWSER, mutant, run_node

CAPS = ("drink", "beverage", OVERALL)


def own_secrets(script: Script) -> None:
    script.seed, script.nonce = bytes(range(3, 35)), bytes(range(4, 36))
    script.document["seed_hash"] = commitment_to("seed", script.seed)
    script.document["nonce_hash"] = commitment_to("nonce", script.nonce)


def under_another_attribute(script: Script) -> None:
    own_secrets(script)
    script.document["attribute"] = script.question["attribute"] = "beverage"


def in_another_round(script: Script) -> None:
    own_secrets(script)
    script.round = script.document["round"] = OTHER_ROUND


@dataclass
class Counting:
    """A market that has had reports of hers from another device, and counts honestly."""

    reports: int

    def edit(self, script: Script, told: str, status: int, body: Json) -> tuple[int, Json]:
        if told == "GET me":
            body["reports_made"] = self.reports
        if told == "PUT report":
            self.reports += 1
            body = script.report = sign({**body, "ordinal": self.reports})
        return status, body


def honest(prepare: Callable[[Script], None] = lambda _: None, edit: Edit | None = None) -> Lie:
    return Lie(goal="nothing", prepare=prepare) if edit is None else Lie(goal="nothing", prepare=prepare, edit=edit)


@dataclass(frozen=True)
class Case:
    """Two looks at once: the markets as the device calls them, the rounds, and what the account holds before."""

    lies: Callable[[], dict[str, Lie]]
    markets: tuple[str, str]
    rounds: tuple[str, str] = (ROUND, ROUND)
    seed: tuple[Json, ...] = ()
    asks: tuple[set[str], set[str]] = ({"new fact"}, {"new fact"})
    """What she is asked when she looks, in each."""
    late: set[str] = field(default_factory=set)
    """What she is to be asked when she looks again; the second draw is refused, unless it is nothing."""
    elsewhere: int = 0


def one_market(count: int) -> Callable[[], dict[str, Lie]]:
    def lies() -> dict[str, Lie]:
        counting = Counting(count)
        return {"one": honest(edit=counting.edit), "two": honest(in_another_round, counting.edit)}

    return lies


ONE_KEY = ({"new fact", "shared key"}, {"new fact", "shared key"})
"""What she is asked in each of two markets that sign by one key."""

CASES = {
    "a round under two names of its market": Case(
        lambda: {"one": honest(), "two": honest()},
        ("http://a.example", "http://b.example"),
        asks=ONE_KEY,
        late={"answered before", "shared key"},
    ),
    "the same words under two attributes": Case(
        lambda: {"one": honest(), "two": honest(under_another_attribute)},
        ("http://a.example", "http://a.example/2"),
        asks=ONE_KEY,
        late={"new fact", "asked before", "shared key"},
    ),
    "reports elsewhere": Case(
        one_market(5),
        ("http://a.example", "http://a.example"),
        rounds=(ROUND, OTHER_ROUND),
        asks=({"new fact", "elsewhere"}, {"new fact", "elsewhere"}),
        elsewhere=5,
    ),
    "reports elsewhere that were noted twice": Case(
        one_market(5),
        ("http://a.example", "http://a.example"),
        rounds=(ROUND, OTHER_ROUND),
        seed=tuple({"kind": "elsewhere", "market": "http://a.example", "reports": n} for n in (5, 10)),
        asks=({"new fact", "fewer elsewhere"}, {"new fact", "fewer elsewhere"}),
        elsewhere=5,
    ),
}


def said(doing: Callable[[], Any]) -> str | None:
    try:
        doing()
    except PdqsError as fault:
        return f"{type(fault).__name__}: {fault}"
    return None


def overlapping(case: Case, path: Path) -> dict[str, Any]:
    """The device of Python in two terminals; what the browser's twin says of itself."""
    with hostile(case.lies()) as address, ExitStack() as stack:
        visits: list[Visit] = []
        for name, market, round_id in zip(("one", "two"), case.markets, case.rounds, strict=True):
            ledger = Ledger(path)
            stack.callback(ledger.close)
            if not visits:
                prepare(ledger, case.seed)
            client = stack.enter_context(OwnerClient(f"{address}/{name}/x", sleep=lambda _: None))
            visits.append(Visit(device=Device(market=market, ledger=ledger), client=client, clock=lambda: 7))
            visits[-1].bid(round_id, BID)
        looked = [visit.review(round_id) for visit, round_id in zip(visits, case.rounds, strict=True)]

        def reports(visit: Visit, review: Review) -> None:
            visit.send(visit.draw(review, "coffee", agreed=review.asks))

        refused = [said(lambda v=v, r=r: reports(v, r)) for v, r in zip(visits, looked, strict=True)]  # type: ignore[misc]
        again = visits[1].review(case.rounds[1])
        third = said(lambda: reports(visits[1], again))
        account = visits[0].device.ledger.account()
        return {
            "asked": [sorted(review.asks) for review in looked],
            "late": None,
            "refused": refused,
            "again": sorted(again.asks),
            "third": third,
            "drawn": len(account.reports()),
            "elsewhere": account.elsewhere(case.markets[0]),
        }


def prepare(ledger: Ledger, seed: tuple[Json, ...]) -> None:
    for fields in seed:
        ledger.note(**fields)
    for attribute in CAPS:
        ledger.set_cap(attribute, 90 * 10**9)


def in_browser(case: Case, modules: Path = BROWSER) -> dict[str, Any]:
    script = str(Path(__file__).with_name("overlapping_twin.mjs"))
    with hostile(case.lies()) as address:
        tabs = [
            {"market": market, "address": f"{address}/{name}/x", "round": round_id}
            for name, market, round_id in zip(("one", "two"), case.markets, case.rounds, strict=True)
        ]
        return dict(run_node(script, str(modules), asked=[{"tabs": tabs, "bid": BID, "seed": list(case.seed)}])[0])


@pytest.mark.parametrize("device", ["python", "browser"])
@pytest.mark.parametrize("name", CASES)
def test_what_only_she_may_agree_to_is_asked_though_two_looks_overlap(name: str, device: str, tmp_path: Path) -> None:
    case = CASES[name]
    found = overlapping(case, tmp_path / "device.sqlite") if device == "python" else in_browser(case)
    assert found["asked"] == [sorted(asks) for asks in case.asks]
    assert found["refused"][0] is None
    if case.late:
        assert found["refused"][1].startswith("OwnerMustAgree: ")
        assert "since you looked" in found["refused"][1]
        assert "ook at the offer again" in found["refused"][1]
    else:
        assert found["refused"][1] is None
    assert found["again"] == sorted(case.late)
    assert found["third"] is None, "once she was asked and agreed, the report is made"
    assert (found["drawn"], found["elsewhere"]) == (2, case.elsewhere)


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.late])
def test_a_device_that_does_not_look_again_is_taken_in(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reviewing, "admitted", lambda *_: [])
    assert overlapping(CASES[name], tmp_path / "device.sqlite")["refused"] == [None, None]
    careless = mutant(tmp_path, "asks.mjs", "if (agreed[name] === sentence) continue;", "continue;")
    assert in_browser(CASES[name], careless)["refused"] == [None, None]


@dataclass
class Turning:
    """A market that tells one story until it is nudged, and another from then on."""

    story: str
    turned: bool = False

    def edit(self, script: Script, told: str, status: int, body: Json) -> tuple[int, Json]:
        if told == "GET statement":  # which nobody else asks for here
            self.turned = True
        if told == "GET offer" and self.story == "offer":
            body.update(payment_micros=10**6, posted_micros=10**6, q_numerator=2**31 if self.turned else 2**30)
        if self.turned and self.story == "root":
            named = enumerate(zip(script.entries, script.names, strict=True))
            other = [entry if place == script.place else bid_entry(name, 9) for place, (entry, name) in named]
            tree = merkle_tree(other)
            if told == "GET notice" and body["bids_root"]:
                body["bids_root"] = sign({**body["bids_root"], "root": tree.root.hex()})
            if told == "GET offer":
                body["lots"]["path"] = [beside.hex() for beside in tree.proof(script.place).path]
        return status, body


@contextmanager
def turning(story: str) -> Iterator[str]:
    with hostile({"one": honest(edit=Turning(story).edit)}) as address:
        yield f"{address}/one/x"


STORIES = {"root": "The draw or the root", "offer": "The offer is not the one"}


@pytest.mark.parametrize("story", STORIES)
def test_two_looks_that_are_told_two_stories_keep_one_and_refuse_the_other(story: str, tmp_path: Path) -> None:
    with turning(story) as address, OwnerClient(address, sleep=lambda _: None) as client:
        ledger = Ledger(tmp_path / "device.sqlite")
        prepare(ledger, ())
        visit = Visit(device=Device(market="m", ledger=ledger), client=client, clock=lambda: 7)
        visit.bid(ROUND, BID)
        reviews = []
        for _ in range(2):
            mine = visit.mine(ROUND)
            assert mine.offer is not None
            reviews.append(visit.device.review(mine.notice, mine.offer, bid_there=mine.bid))
            client.statement()
        visit.device.keep_told(reviews[0])
        for doing in (
            lambda: visit.device.keep_told(reviews[1]),
            lambda: visit.draw(reviews[1], "coffee", {"new fact"}),
        ):
            assert STORIES[story].lower() in (said(doing) or "").lower()
        kinds = [entry["kind"] for entry in ledger.account().entries]
        assert (kinds.count("lots"), kinds.count("offer"), kinds.count("drawn")) == (1, 1, 0)
        ledger.close()


@pytest.mark.parametrize("story", STORIES)
def test_the_browser_keeps_one_story_too(story: str, tmp_path: Path) -> None:
    def told(modules: Path) -> Any:
        script = str(Path(__file__).with_name("overlapping_twin.mjs"))
        with turning(story) as address:
            case = {"tabs": [{"market": "m", "address": address, "round": ROUND}], "bid": BID, "stories": True}
            return run_node(script, str(modules), asked=[{**case, "meanwhile": f"{address}/v1/statement"}])[0]

    found = told(BROWSER)
    assert found["kept"][0] is None
    assert all(STORIES[story] in refusal for refusal in (found["kept"][1], found["drawn"][0]))
    assert [found["kinds"].count(kind) for kind in ("lots", "offer", "drawn")] == [1, 1, 0]
    careless = told(
        mutant(tmp_path, "device.mjs", 'const FIRST_STANDS = ["lots stand", "offer stands",', "const FIRST_STANDS = [")
    )
    assert (careless["drawn"], careless["kinds"].count("drawn")) == ([None], 1)
