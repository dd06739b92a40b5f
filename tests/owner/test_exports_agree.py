"""What a device's owner takes away, as data and as a page: the same from both devices, with the proof and its check."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from owner.node import BROWSER, mutant, twin
from pdqs.owner.account import Account, Fields
from pdqs.owner.checks import without
from pdqs.owner.client import OwnerClient
from pdqs.owner.export import exported, readable
from pdqs.owner.ledger import Ledger
from pdqs.owner.review import Device
from pdqs.owner.visit import Visit
from pdqs.verifying.proof import OwnProof

from .hostile.market import BID, ROUND, Lie, hostile

NOW = 1_800_000_123_456


def asked_by_name(script: Any) -> None:
    script.document.update(asked_by="Bureau <b>of</b> Drinks & 'Co'")


def left_out(script: Any) -> None:
    script.left_out, script.chance = True, 0


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Fields, ...]]:
    """The entries of a device after a round that it reported in, and another in which it was not drawn."""
    ledger = Ledger(tmp_path_factory.mktemp("export") / "device.sqlite")
    rounds = {
        "asked": Lie(goal="nothing", prepare=asked_by_name),
        "left out": Lie(goal="nothing", prepare=left_out),
    }
    with hostile(rounds) as address:
        for name in rounds:
            market = f"{address}/{name}/once"
            with OwnerClient(market, sleep=lambda _: None) as client:
                device = Device(market=market, ledger=ledger, checks=without("fresh secrets"))  # both draw alike
                visit = Visit(device=device, client=client, clock=lambda: 7)
                visit.bid(ROUND, BID)
                review = visit.review(ROUND)
                if review.offer.q_numerator:
                    visit.send(visit.draw(review, "coffee", agreed=review.asks))
                    visit.settle_up(client.notice(ROUND))
    yield tuple(ledger.account().entries)
    ledger.close()


def of_the_browser(entries: tuple[Fields, ...], modules: Path = BROWSER) -> dict[str, Any]:
    return twin(modules, script="export_twin.mjs", entries=entries, markets=["m"], now=NOW)


def test_both_devices_write_the_same_of_the_same_entries(known: tuple[Fields, ...]) -> None:
    account, told = Account(known), of_the_browser(known)
    assert told["data"] == json.loads(json.dumps(exported(account, ["m"], NOW)))
    assert told["page"] == readable(account)


def test_a_device_that_leaves_the_proof_out_is_seen(known: tuple[Fields, ...], tmp_path: Path) -> None:
    forgetful = mutant(tmp_path, "export.mjs", "  if (!told) return null;", "  return null;")
    told = of_the_browser(known, forgetful)
    assert told["data"] != json.loads(json.dumps(exported(Account(known), ["m"], NOW)))
    assert told["page"] != readable(Account(known))


def test_the_export_holds_everything_that_is_promised_of_it(known: tuple[Fields, ...]) -> None:
    data: Any = exported(Account(known), ["m"], NOW)
    page = readable(Account(known))
    asked, left = data["bids"]
    (report,) = data["reports"]
    receipt = json.loads(report["receipt"])
    for bid in (asked, left):
        assert (bid["inclusion"]["counted"], bid["inclusion"]["root_signed"]) == (True, True)
        proof = OwnProof(**bid["inclusion"]["proof"])
        assert proof.leads_to(proof.bids_root)
        assert proof.pseudonym in page
    assert (asked["lots"]["asked"], left["lots"]["asked"]) == (True, False)
    for word in (
        "What do you drink?",
        "Bureau &lt;b&gt;of&lt;/b&gt; Drinks",
        receipt["signature"],
        asked["terms_hash"],
    ):
        assert word in page
    assert page.count("yes: your bid is under this root, which the market signed") == 2
    assert re.search(r"<script|https?://[^1]|src=", page) is None


@pytest.mark.parametrize(
    ("before", "said"),
    [
        ('"place":', "no: your bid is not under this root"),
        ('"signature":"', "but the market did not sign the root"),
    ],
)
def test_evidence_that_does_not_hold_is_said_to_be_so_by_both(
    known: tuple[Fields, ...], before: str, said: str
) -> None:
    def spoiled(fields: Fields) -> Fields:
        if fields["kind"] != "lots":
            return fields
        head, _, tail = fields["evidence"].partition(before)
        return {**fields, "evidence": head + before + ("0" if tail[0] != "0" else "1") + tail[1:]}

    entries = tuple(spoiled(fields) for fields in known)
    assert said in readable(Account(entries))
    assert of_the_browser(entries)["page"] == readable(Account(entries))


def test_receipts_that_name_nobody_where_the_terms_promise_it_are_said_to_be_so_by_both(
    known: tuple[Fields, ...],
) -> None:
    def nameless(fields: Fields) -> Fields:
        if fields["kind"] not in ("bid-accepted", "accepted"):
            return fields
        said = {name: value for name, value in json.loads(fields["receipt"]).items() if name != "pseudonym"}
        return {**fields, "receipt": json.dumps(said)}

    entries = tuple(nameless(fields) for fields in known)
    account, told = Account(entries), of_the_browser(entries)
    data: Any = exported(account, ["m"], NOW)
    assert [each["receipt_falls_short"] for each in (*data["bids"], *data["reports"])] == [True] * 3
    assert readable(account).count("does not say whose it is, as its terms promise") == 3
    assert told["data"] == json.loads(json.dumps(data))
    assert told["page"] == readable(account)
    honest: Any = exported(Account(known), ["m"], NOW)
    assert not any(each["receipt_falls_short"] for each in (*honest["bids"], *honest["reports"]))
