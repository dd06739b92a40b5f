"""A bid that hangs on its way is withdrawn for good: what arrives later does not stand, from either device."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import httpx
import pytest

from market.pages.site import Site
from pdqs.market import access, offer_access, own_data
from pdqs.owner.account import Account
from pdqs.owner.client import OwnerClient
from pdqs.owner.ledger import Ledger
from pdqs.owner.review import Device
from pdqs.owner.visit import Visit
from pdqs.protocol.market_messages import User
from pdqs.protocol.problems import ConflictError, MarketError, NotFoundError, ProblemType

from .hostile.market import BID, ROUND, Lie, hostile
from .node import BROWSER, mutant, twin
from .test_command import opened

PRICE = 125_000


@dataclass
class Line(httpx.BaseTransport):
    """A line to the market on which bids may hang: they are kept, to arrive later."""

    hangs: bool = False
    late: list[httpx.Request] = field(default_factory=list)
    real: httpx.HTTPTransport = field(default_factory=httpx.HTTPTransport)

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        if self.hangs and request.method == "PUT":
            request.read()
            self.late.append(request)
            raise httpx.ReadTimeout("nobody answers", request=request)
        return self.real.handle_request(request)

    def arrive(self) -> list[int]:
        """All that hung, in the order in which it was sent; the status of each answer."""
        with httpx.Client() as client:
            return [client.send(one).status_code for one in self.late]

    def close(self) -> None:
        self.real.close()


@dataclass
class Person:
    """An owner with as many devices as she likes."""

    site: Site
    folder: Path
    user: User
    token: str
    opened: list[OwnerClient | Ledger] = field(default_factory=list)

    def device(self, name: str) -> tuple[Visit, Line]:
        line, ledger = Line(), Ledger(self.folder / f"{name}.sqlite")
        client = OwnerClient(self.site.address, self.token, transport=line, sleep=lambda _: None)
        self.opened += [client, ledger]
        return Visit(device=Device(market=self.site.address, ledger=ledger), client=client, clock=lambda: 7), line

    def has_bid(self, round_id: str) -> bool:
        try:
            offer_access.bid(self.site.market, self.user, round_id)
        except NotFoundError:
            return False
        return True


@pytest.fixture
def ann(site: Site, tmp_path: Path) -> Iterator[Person]:
    user, _ = site.invite("owner", "Ann")
    person = Person(site, tmp_path, user, access.issue_token(site.market, user))
    yield person
    for one in person.opened:
        one.close()


def account(visit: Visit) -> Account:
    return visit.device.ledger.account()


def hung(visit: Visit, line: Line, round_id: str) -> None:
    line.hangs = True
    with pytest.raises(MarketError, match="cannot be reached"):
        visit.name_price(round_id, PRICE)
    line.hangs = False
    assert line.late


def test_a_bid_that_hung_is_withdrawn_for_good(site: Site, ann: Person) -> None:
    round_id = opened(site)
    visit, line = ann.device("phone")
    hung(visit, line, round_id)
    visit.withdraw_bid(round_id)
    assert set(line.arrive()) == {409}
    assert not ann.has_bid(round_id)
    assert visit.name_price(round_id, PRICE).bid_micros == PRICE
    assert ann.has_bid(round_id)
    assert visit.name_price(round_id, 2 * PRICE).bid_micros == 2 * PRICE


def test_without_its_order_the_same_bid_would_stand(site: Site, ann: Person) -> None:
    """The negative control, and how a caller who names no order still fares: as ever."""
    round_id = opened(site)
    visit, line = ann.device("phone")
    hung(visit, line, round_id)
    visit.withdraw_bid(round_id)
    sent = line.late[0]
    bare = httpx.Request("PUT", sent.url.copy_with(query=None), headers=sent.headers, content=sent.content)
    line.late = [bare]
    assert line.arrive() == [200]
    assert ann.has_bid(round_id)


def test_what_hung_on_one_device_is_withdrawn_from_another(site: Site, ann: Person) -> None:
    round_id = opened(site)
    (phone, line), (laptop, _) = ann.device("phone"), ann.device("laptop")
    hung(phone, line, round_id)
    laptop.withdraw_bid(round_id)
    assert set(line.arrive()) == {409}
    assert not ann.has_bid(round_id)
    assert laptop.name_price(round_id, PRICE).bid_micros == PRICE, "she may bid from where she withdrew"


def test_a_device_that_did_not_know_of_a_withdrawal_is_told_and_then_knows(site: Site, ann: Person) -> None:
    round_id = opened(site)
    (phone, _), (laptop, _) = ann.device("phone"), ann.device("laptop")
    laptop.name_price(round_id, PRICE)
    laptop.withdraw_bid(round_id)
    with pytest.raises(ConflictError, match="you withdrew from this round after this bid was made") as told:
        phone.name_price(round_id, PRICE)
    assert told.value.type is ProblemType.BID_WITHDRAWN
    assert account(phone).bid(site.address, round_id) is None, "it is not kept as one that may yet stand"
    assert phone.name_price(round_id, PRICE).bid_micros == PRICE


def test_a_device_whose_changed_bid_was_withdrawn_elsewhere_may_bid_again(site: Site, ann: Person) -> None:
    """Its own withdrawal, the answer to which was lost, is one of elsewhere."""
    round_id = opened(site)
    (phone, _), (laptop, _) = ann.device("phone"), ann.device("laptop")
    phone.name_price(round_id, PRICE)
    phone.name_price(round_id, 2 * PRICE)
    laptop.withdraw_bid(round_id)
    with pytest.raises(ConflictError) as told:
        phone.name_price(round_id, PRICE)
    assert told.value.type is ProblemType.BID_WITHDRAWN
    assert phone.name_price(round_id, PRICE).bid_micros == PRICE
    assert ann.has_bid(round_id)


def test_so_may_the_browsers(site: Site, ann: Person) -> None:
    prices = [PRICE, 2 * PRICE, None, PRICE, PRICE]
    asked = {"address": site.address, "token": ann.token, "round": opened(site), "prices": prices}
    found = twin(BROWSER, script="named_again_twin.mjs", **asked)
    told = found["said"].pop(3)
    assert "you withdrew from this round after this bid was made" in told
    assert found == {"said": ["", "", "", ""], "signed": [PRICE]}


def test_an_honest_market_is_not_accused_where_she_withdrew_from_another_device(site: Site, ann: Person) -> None:
    """Its list then has the round no more, once bids are closed."""
    round_id = opened(site)
    (phone, _), (laptop, _) = ann.device("phone"), ann.device("laptop")
    phone.name_price(round_id, PRICE)
    laptop.withdraw_bid(round_id)
    site.clock.skip(3601)
    notices = phone.client.notices()
    assert [each.round_id for each in notices] == []
    late = replace(phone, clock=site.clock)
    found = late.look_over(notices)
    assert found.faults == []
    is_called_off = phone.client.notice(round_id).state == "cancelled"  # for too few bid, as its clock finds
    assert is_called_off or "it says that you withdrew it on" in " ".join(found.notes)


def test_a_device_that_is_told_of_a_withdrawal_makes_none_of_its_own(site: Site, ann: Person) -> None:
    """Else the device that she did withdraw from, and bids from next, would be refused for a withdrawal never made."""
    round_id = opened(site)
    (phone, _), (laptop, _) = ann.device("phone"), ann.device("laptop")
    phone.withdraw_bid(round_id)
    with pytest.raises(ConflictError):
        laptop.name_price(round_id, PRICE)
    assert account(laptop).withdrawn_ms(site.address, round_id) == account(phone).withdrawn_ms(site.address, round_id)
    assert phone.name_price(round_id, PRICE).bid_micros == PRICE


def test_a_bid_that_arrives_between_look_and_withdrawal_is_withdrawn_too(
    site: Site, ann: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    round_id = opened(site)
    visit, line = ann.device("phone")
    hung(visit, line, round_id)
    looked: list[list[int]] = []
    there = OwnerClient.bid_if_any

    def arrives_after(client: OwnerClient, asked: str) -> object:
        found = there(client, asked)
        if not looked:
            looked.append(line.arrive())
        return found

    monkeypatch.setattr(OwnerClient, "bid_if_any", arrives_after)
    visit.withdraw_bid(round_id)
    assert looked[0][0] == 200
    assert not ann.has_bid(round_id)


def test_the_browsers_device_withdraws_for_good_too(site: Site, ann: Person) -> None:
    asked = {"address": site.address, "token": ann.token, "round": opened(site), "bid": PRICE}
    found = twin(BROWSER, script="late_twin.mjs", **asked)
    assert (found["first"], found["withdrawn"]) == ("TypeError", "done")
    assert (set(found["arrived"]), found["stands"]) == ({409}, False)
    assert found["other"] == ["bid-withdrawn", "done"]
    assert found["entries"] == ["bid", "bid-withdrawn", "bid", "bid-accepted"]
    assert found["withdrawals"] == [own_data.export(site.market, ann.user).withdrawals[0].withdrawn_at_ms] * 2, "one"


def test_a_browser_that_names_no_order_would_let_it_stand(site: Site, ann: Person, tmp_path: Path) -> None:
    asked = {"address": site.address, "token": ann.token, "round": opened(site), "bid": PRICE}
    careless = mutant(tmp_path, "visit.mjs", "bid?after=${after}", "bid")
    assert twin(careless, script="late_twin.mjs", **asked)["stands"]


def test_both_devices_read_the_same_last_withdrawal_off_the_same_entries() -> None:
    where = {"market": "m", "round_id": "r"}
    gone = {"kind": "bid-withdrawn", "at_ms": 1, **where}
    cases = [
        [],
        [gone],
        [{**gone, "withdrawn_at_ms": 5}, gone],
        [{**gone, "withdrawn_at_ms": 5}, {**gone, "withdrawn_at_ms": 9}, {**gone, "withdrawn_at_ms": 0}],
        [{**gone, "withdrawn_at_ms": 5, "round_id": "other"}],
    ]
    found = twin(BROWSER, withdrawn=[{"entries": entries, "market": "m", "round": "r"} for entries in cases])
    assert found["withdrawn"] == [Account(entries).withdrawn_ms("m", "r") for entries in cases] == [0, 0, 5, 9, 0]


def test_a_bid_that_is_withdrawn_while_its_receipt_is_on_its_way_is_told_as_that(tmp_path: Path) -> None:
    with hostile({"honest": Lie(goal="nothing")}) as address:
        at = f"{address}/honest"
        found = twin(script="withdrawn_twin.mjs", address=f"{at}/two", round=ROUND, bid=BID)
        careless = mutant(tmp_path, "device.mjs", "if (!told.bid) throw", "if (false) throw")
        seen = twin(careless, script="withdrawn_twin.mjs", address=f"{at}/careless", round=ROUND, bid=BID)
    assert found["said"] == (
        "Refusal: Your bid was withdrawn meanwhile, from another tab: you have none in this round."
    )
    assert found["kinds"] == ["bid", "bid-withdrawn"]
    assert str(seen["said"]).startswith("TypeError"), "what a page would show then is its own fault"
