"""The operator's pages for very many people: lists in and files out, payouts read back, and a word before a cancel."""

from __future__ import annotations

import io
import re
import zipfile
from typing import TYPE_CHECKING

import httpx
import pytest

from market.town import plan
from pdqs.market import access, ledger, reads, round_steps
from pdqs.market.store.schema import users
from pdqs.protocol.market_messages import User

from .site import Site, Visitor
from .test_money_pages import PHONE, fields, operator

if TYPE_CHECKING:
    from playwright.sync_api import Browser

__all__ = ["operator"]  # the fixture

PAGES = ("", "/ledger", "/payouts", "/people", "/people?text=nobody+at+all", "/journal", "/deeds", "/invitations")


def _owe(site: Site, owners: list[User], micros: int, name: str) -> None:
    paid = {ledger.account_of("owner", owner.user_id): micros for owner in owners}
    amounts = {**paid, ledger.WORLD: -micros * len(owners)}
    entry = ledger.Entry(transaction_id=f"settlement:{name}", kind="settlement", at_ms=site.clock(), amounts=amounts)
    with site.market.store.write() as connection:
        ledger.post(connection, entry)


def test_a_list_of_names_comes_back_as_codes_that_work(site: Site, operator: httpx.Client) -> None:
    form = fields(operator.get("/operator/invitations").text, "/operator/invitations")
    names = {"file": ("names.csv", b"name\nAda\nBea\n")}
    asked = operator.post("/operator/invitations", data={**form, "role": "owner"}, files=names).text
    assert "Let 2 owners in?" in asked
    assert re.findall(r"<bdi>(.*?)</bdi>", asked) == ["Ada", "Bea"]
    assert "Bea" not in operator.get("/operator/people").text, "nobody is let in before it is confirmed"
    sent = {**fields(asked, "/operator/invitations"), "text": "name\nAda\nBea\n"}
    assert (sent["confirmed"], sent["role"], sent["key"]) == ("yes", "owner", form["key"])
    answer = operator.post("/operator/invitations", data=sent)
    assert answer.headers["content-type"] == "application/zip"
    with zipfile.ZipFile(io.BytesIO(answer.content)) as files:
        table = files.read("invitations.csv").decode()
    code = re.findall(r"/enter#([\w-]+)", table)[1]
    assert access.redeem(site.market, code).name == "Bea"
    refusals = (({"role": "operator"}, "one by one"), ({"role": "owner", "csrf_token": "x"}, "Nothing was sent"))
    for wrong, said in refusals:
        refused = operator.post("/operator/invitations", data={**form, **wrong}, files=names)
        assert (refused.status_code, said in refused.text) == (403, True)
    for file, said in ((("x.csv", b""), "This file is empty"), (("", b""), "Choose a file first")):
        nothing = operator.post("/operator/invitations", data={**form, "role": "owner"}, files={"file": file})
        assert said in nothing.text


def test_a_batch_goes_out_as_a_file_and_its_confirmation_is_said_back_before_it_counts(
    site: Site, operator: httpx.Client
) -> None:
    owners = [site.invite("owner", f"Paid by file {i}")[0] for i in range(3)]
    _owe(site, owners, 2_000_000, "batch")
    operator.post("/operator/payouts", data=fields(operator.get("/operator/payouts").text, "/operator/payouts"))
    page = operator.get("/operator/payouts").text
    batch = re.findall(r"/v1/payout-batches/(b_\w+)/file\.csv", page)[0]
    asked = operator.get(f"/v1/payout-batches/{batch}/file.csv").text.splitlines()
    told = "reference,status,amount\n" + "".join(
        f"{cells[0]},{'failed' if place == 0 else 'paid'},{cells[3]}\n"
        for place, cells in enumerate(line.split(",") for line in asked[1:])
    )
    address = f"/operator/payouts/{batch}/confirmation"
    form = {"csrf_token": fields(page, address)["csrf_token"]}
    preview = operator.post(address, data=form, files={"file": ("told.csv", told.encode())})
    assert "paid to 2 owners; 1 failed" in preview.text
    assert sum(reads.me(site.market, owner).balance_micros for owner in owners) == 6_000_000
    for _ in range(2):
        done = operator.post(address, data={**form, "confirmed": "yes", "text": told})
        assert done.status_code == 303
    after = operator.get(done.headers["location"]).text
    told_of = r"The confirmation is entered\. .* 2 are told as paid .* 1 failed and stays owed: Paid by file \d"
    assert re.search(told_of, after)
    assert after.count(batch[:8] + ", as its file is called") == 1, "it can be told from other batches"
    assert sum(reads.me(site.market, owner).balance_micros for owner in owners) == 2_000_000
    bad = operator.post(address, data=form, files={"file": ("told.csv", told.replace("2.00", "2.01").encode())})
    assert (bad.status_code, "another amount" in bad.text) == (422, True), "told before anything counts"
    refused = operator.post(address, data={**form, "confirmed": "yes", "text": told.replace("2.00", "2.01")})
    assert (refused.status_code, "nothing was entered" in refused.text) == (422, True)


def test_what_cannot_be_done_is_refused_before_it_is_asked_back(site: Site, operator: httpx.Client) -> None:
    owner, _ = site.invite("owner", "No consumer")
    site.invite("consumer", "Some consumer")
    address = "/operator/ledger/deposit"
    form = fields(operator.get("/operator/ledger").text, address)
    refused = operator.post(address, data={**form, "user_id": owner.user_id, "amount": "5"})
    assert (refused.status_code, "deposits are for consumers" in refused.text) == (409, True)
    address = f"/operator/people/{site.operator.user_id}/disable"
    refused = operator.post(address, data={"csrf_token": form["csrf_token"]})
    assert (refused.status_code, "can be disabled" in refused.text) == (409, True)
    assert "Disable operator?" not in refused.text


def test_a_round_is_cancelled_only_after_a_second_word(site: Site, operator: httpx.Client) -> None:
    consumer, _ = site.invite("consumer", "Cancelled")
    site.deposit(consumer, 30_000_000)
    draft = round_steps.draft_round(site.market, consumer, plan(), "to-be-cancelled")
    address = f"/operator/rounds/{round_steps.open_round(site.market, consumer, draft.round_id).round_id}"
    form = fields(operator.get(address).text, f"{address}/cancel")
    asked = operator.post(f"{address}/cancel", data=form)
    assert "Cancel this round?" in asked.text
    assert reads.round_by_id(site.market, site.operator, draft.round_id).state == "open"
    operator.post(f"{address}/cancel", data=fields(asked.text, f"{address}/cancel"))
    assert reads.round_by_id(site.market, site.operator, draft.round_id).state == "cancelled"


def test_the_ledger_knows_a_consumer_behind_very_many_owners(site: Site, operator: httpx.Client) -> None:
    consumer, _ = site.invite("consumer", "First of all")
    with site.market.store.write() as connection:
        later = [
            {"user_id": f"u_{i:024x}", "role": "owner", "name": f"later {i}", "created_at_ms": site.clock() + 1}
            for i in range(300)
        ]
        connection.execute(users.insert(), later)
        owners = [User.model_validate(row) for row in later]
    _owe(site, owners, 1_000_000, "many")
    page = operator.get("/operator/ledger").text
    assert f'<option value="{consumer.user_id}">First of all</option>' in page
    assert re.search(r"20 of 30\d are shown", page)
    first = operator.get("/operator/payouts?text=later").text
    following = re.search(r'href="(/operator/payouts\?text=later&amp;after=[^"]+)"', first)
    assert following is not None
    second = operator.get(following[1].replace("&amp;", "&")).text
    names = [set(re.findall(r'<th scope="row">(later \d+)', page)) for page in (first, second)]
    assert [len(found) for found in names] == [50, 50]
    assert not names[0] & names[1]
    assert "Nobody of that name" in operator.get("/operator/payouts?text=nobody").text


@pytest.mark.parametrize("look", ["phone", "desktop-dark"])
def test_the_operators_pages_fit_and_complain_of_nothing(site: Site, browser: Browser, look: str) -> None:
    code = round_steps.renew_code(site.market, site.operator, site.operator.user_id).code
    context = PHONE if look == "phone" else {"color_scheme": "dark"}
    visitor = Visitor(browser, site, **context)
    visitor.enter(code)
    for path in PAGES:
        visitor.go(f"/operator{path}")
        assert visitor.fits(), path
        visitor.shoot(f"operator{re.sub('[^a-z]+', '-', path)}-{look}")
    visitor.go("/docs")
    assert visitor.fits(), "/docs"
    visitor.shoot(f"api-{look}")
    assert visitor.complaints == []
