"""What the page of her own device says of a round that is over, and of looks that it takes by itself."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from owner.node import BROWSER, mutant, twin
from pdqs.owner.dealing import asks_when_over, late_in_words
from pdqs.protocol.device_messages import Offer

OFFER: dict[str, Any] = {"round_id": "r", "q_numerator": 2**30, "payment_micros": 500_000, "reports_close_at_ms": 9_000}
MOMENT = re.compile(r"(?<=until ).*(?=\. Nothing)")


def over(offer: dict[str, Any] | None, refusal: str = "") -> str:
    case = {"state": "settled", "offer": offer, "refusal": refusal}
    (words,) = twin(script="page_twin.mjs", over=[case], looks=[])["over"]
    return str(words)


@pytest.mark.parametrize(("now_ms", "is_late"), [(9_000, True), (8_999, False)])
def test_a_settled_round_that_asks_is_her_being_late_only_where_she_is(now_ms: int, is_late: bool) -> None:
    told = {**OFFER, "now_ms": now_ms}
    here = late_in_words(Offer.model_construct(**told)) if is_late else asks_when_over("settled")
    words = f"The round is settled.\n{here[0].upper()}{here[1:]}.".replace("says that it is", "says that the round is")
    assert MOMENT.sub("", over(told)) == MOMENT.sub("", words)


def test_a_settled_round_says_that_its_offer_cannot_be_read() -> None:
    assert over(None, "The answer is none.").endswith("your offer cannot be read: The answer is none.")
    assert over({**OFFER, "q_numerator": 0}).startswith("The round is settled. Nothing was reported from here")


def looked(kind: str, message: str = "It is not so.", status: int = 0, modules: Path = BROWSER) -> dict[str, Any]:
    case = {"kind": kind, "message": message, "status": status}
    (found,) = twin(modules, script="page_twin.mjs", over=[], looks=[case])["looks"]
    return dict(found)


def test_a_lie_that_the_page_finds_by_itself_is_told_once(tmp_path: Path) -> None:
    told = {"looks": 3, "said": "It is not so.", "told": 1}
    assert looked("Refusal") == told
    assert looked("MarketRefusal", "gone", 404) == {**told, "said": "The market said no: “gone”."}
    silent = mutant(
        tmp_path, "rounds.mjs", "catch(tellUnlessSilent)", "catch(() => { lookAt = Date.now() + LOOKS_MS; })"
    )
    assert looked("Refusal", modules=silent)["said"] == ""


@pytest.mark.parametrize(("kind", "status"), [("TypeError", 0), ("MarketRefusal", 503), ("MarketRefusal", 429)])
def test_a_market_out_of_reach_is_looked_at_later_and_nothing_is_said(kind: str, status: int) -> None:
    assert looked(kind, status=status) == {"looks": 3, "said": "", "told": 0}
