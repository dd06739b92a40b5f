"""A report that is drawn and not sent is given again whatever stands against a draw: no word says that nothing was."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from pdqs.model.arrays import Words
from pdqs.model.errors import PdqsError
from pdqs.owner.account import StoredReport
from pdqs.owner.client import OwnerClient
from pdqs.owner.errors import DeviceError
from pdqs.owner.ledger import Ledger
from pdqs.owner.review import Device
from pdqs.owner.visit import Visit

from .hostile.market import BID, ROUND, Lie, hostile
from .node import twin


class Blind:
    """A machine that gives no random numbers."""

    def words(self, count: int) -> Words:
        raise DeviceError(f"no secure random numbers, not {count} words")


def nobody(request: httpx.Request) -> httpx.Response:
    raise httpx.ConnectError("nobody answers", request=request)


def outcome(doing: Callable[[], StoredReport]) -> str:
    try:
        return doing().body
    except PdqsError as fault:
        return f"{type(fault).__name__}: {fault}"


def in_python(address: str, path: Path) -> dict[str, Any]:
    """What the browser's twin says of itself."""
    ledger = Ledger(path)
    away = OwnerClient(address, transport=httpx.MockTransport(nobody), sleep=lambda _: None)
    with OwnerClient(address, sleep=lambda _: None) as client, away:
        device = Device(market="m", ledger=ledger)
        visit = Visit(device=device, client=client, clock=lambda: 7)
        visit.bid(ROUND, BID)
        review = visit.review(ROUND)
        offer, agreed = review.offer, list(review.asks)
        late = offer.model_copy(update={"now_ms": offer.reports_close_at_ms})
        other = offer.model_copy(update={"payment_micros": 1})
        blind = Device(market="m", ledger=ledger, entropy=Blind())
        gone = Visit(device=device, client=away, clock=lambda: 7)
        against: dict[str, Callable[[], StoredReport]] = {
            "she has not agreed": lambda: device.report(review, "coffee", fresh=offer, now_ms=8),
            "it is too late": lambda: device.report(review, "coffee", fresh=late, now_ms=8, agreed=agreed),
            "the offer is another": lambda: device.report(review, "coffee", fresh=other, now_ms=8, agreed=agreed),
            "nothing is random": lambda: blind.report(review, "coffee", fresh=offer, now_ms=8, agreed=agreed),
            "the market is away": lambda: gone.draw(review, "coffee", agreed),
        }
        before = {name: outcome(doing) for name, doing in against.items()}
        drawn = outcome(lambda: visit.draw(review, "tea", agreed))
        after = {name: outcome(doing) for name, doing in against.items()}
    spending = ledger.account().spending("drink")
    ledger.close()
    figures = {"spent": spending.spent_nanos, "cost": review.epsilon_nanos, "reports": spending.reports}
    return {"before": before, "drawn": drawn, "after": after, **figures}


@pytest.mark.parametrize("device", ["python", "browser"])
def test_what_was_drawn_is_given_again_whatever_stands_against_a_draw(device: str, tmp_path: Path) -> None:
    with hostile({"one": Lie(goal="nothing")}) as market:
        address = f"{market}/one/x"
        if device == "python":
            found = in_python(address, tmp_path / "device.sqlite")
        else:
            found = twin(script="drawn_twin.mjs", address=address, round=ROUND, bid=BID)
    assert found["drawn"].startswith('{"terms_hash":"')
    assert set(found["after"].values()) == {found["drawn"]}
    assert (found["reports"], found["spent"]) == (1, found["cost"])
    for name, refusal in found["before"].items():  # the control: each of them stands against a draw
        assert not refusal.startswith("{"), name
    assert "othing was drawn and nothing was sent" in found["before"]["she has not agreed"]
