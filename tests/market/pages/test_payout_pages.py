"""The operator's pages when payouts go wrong and when people have one name: all is seen before money moves."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterator
from typing import TYPE_CHECKING

import httpx
import pytest

from market.town import plan
from pdqs.market import (
    ledger,
    looking_up,
    overpaid,
    payout_confirmations,
    payout_undoing,
    payouts,
    reads,
    round_steps,
    transfers,
)
from pdqs.market.clock_state import ClockState
from pdqs.market.context import Stuck
from pdqs.market.deeds import note_deed
from pdqs.market.namesakes import mark_of
from pdqs.market.store.schema import rounds
from pdqs.market.store.sql import Found
from pdqs.protocol.market_messages import NewUser, Transfer, User

from .site import Site, Visitor, served
from .test_money_pages import PHONE, fields, operator

if TYPE_CHECKING:
    from playwright.sync_api import Browser

__all__ = ["operator"]  # the fixture

ID = re.compile(r"\b(?:u|r|b|p)_[0-9a-f]{24,}|\b[0-9a-f]{64}\b")


@pytest.fixture
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A market for each test: lists are long enough with their own people."""
    with served(tmp_path_factory.mktemp("market")) as up:
        yield up


def owing(site: Site, *names: str) -> list[User]:
    """Owners of these names, each with 4.00 to come."""
    owners = [
        round_steps.register_user(
            site.market, site.operator, NewUser(role="owner", name=name), f"key-{place}-{name}"
        ).user
        for place, name in enumerate(names)
    ]
    earn(site, owners, "first")
    return owners


def earn(site: Site, owners: list[User], name: str) -> None:
    paid = {ledger.account_of("owner", owner.user_id): 4_000_000 for owner in owners}
    amounts = {**paid, ledger.WORLD: -4_000_000 * len(owners)}
    entry = ledger.Entry(transaction_id=f"settlement:{name}", kind="settlement", at_ms=site.clock(), amounts=amounts)
    with site.market.store.write() as connection:
        ledger.post(connection, entry)


def told(site: Site, batch_id: str, status: str = "paid") -> str:
    rows = payouts.batch_file(site.market, site.operator, batch_id).splitlines()[1:]
    cells = [row.split(",") for row in rows]
    return "reference,status,amount\n" + "".join(f"{row[0]},{status},{row[3]}\n" for row in cells)


def lines(site: Site, batch_id: str) -> list[Found]:
    with site.market.store.read() as connection:
        return list(payouts.lines_of(connection, batch_id, held=False).values())


def shown_text(html: str) -> str:
    """What stands on a page without anything being opened: no tags, and nothing under details."""
    body = html.partition("<main")[2]
    body = re.sub(r"<details.*?</details>", " ", body, flags=re.DOTALL)
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", body))


def pay_by_hand(operator: httpx.Client, owner: User) -> httpx.Response:
    """Press "Paid out" beside her name: what is said back."""
    page = operator.get("/operator/ledger").text
    form = {**fields(page, "/operator/ledger/payout"), "user_id": owner.user_id, "amount": "4.00"}
    return operator.post("/operator/ledger/payout", data=form)


def test_paying_by_hand_who_waits_in_a_batch_is_warned_of_and_told_when_the_provider_paid_too(
    site: Site, operator: httpx.Client
) -> None:
    first, second = owing(site, "Ann", "Bo")
    batch_id = payouts.make_batch(site.market, site.operator, "key-of-the-batch").batch_id
    text = told(site, batch_id)
    for path in ("/operator/ledger", "/operator/payouts"):
        assert shown_text(operator.get(path).text).count("4.00 waits in a batch") == 2
    asked = pay_by_hand(operator, first)
    assert "4.00 for Ann waits in a batch." in shown_text(asked.text)
    assert "Enter the payout of 4.00 all the same" in shown_text(asked.text)
    operator.post("/operator/ledger/payout", data=fields(asked.text, "/operator/ledger/payout"))
    address = f"/operator/payouts/{batch_id}/confirmation"
    form = {"csrf_token": fields(operator.get("/operator/payouts").text, address)["csrf_token"]}
    preview = shown_text(operator.post(address, data=form, files={"file": ("told.csv", text.encode())}).text)
    assert "Look at this one first" in preview
    assert re.search(r"Ann , 4\.00 \(row [23]\): since the batch was made you entered that she was paid 4\.00", preview)
    assert "Nothing is owed to her, so nothing is entered. 4.00 too much is kept" in preview
    assert "4.00 of it is owed and will be entered; 4.00 is kept apart." in preview
    assert operator.post(address, data={**form, "confirmed": "yes", "text": text}).status_code == 303
    assert [reads.me(site.market, one).balance_micros for one in (first, second)] == [0, 0]
    again = operator.post(address, data=form, files={"file": ("told.csv", text.encode())}).text
    assert "Each of its 2 rows was read before." in shown_text(again)
    assert "confirmed" not in again, "nothing to say yes to"
    page = operator.get("/operator/payouts").text
    assert "Paid beyond what was owed" in shown_text(page)
    assert "Take it off what is owed" not in shown_text(page), "nothing is owed"
    earn(site, [first], "later")
    warned = shown_text(pay_by_hand(operator, first).text)
    assert "A provider says that it paid Ann 4.00 that is not taken off what is owed." in warned
    page = operator.get("/operator/payouts").text
    (action,) = re.findall(r'action="(/operator/payouts/over/p_\w+/entry)"', page)
    sure = operator.post(action, data=fields(page, action))
    assert "Take 4.00 off what is owed to Ann?" in shown_text(sure.text)
    assert reads.me(site.market, first).balance_micros == 4_000_000, "not before the second word"
    operator.post(action, data=fields(sure.text, action))
    assert reads.me(site.market, first).balance_micros == 0
    assert "Paid beyond what was owed" not in operator.get("/operator/payouts").text
    assert reads.trial_balance(site.market, site.operator).balanced


def test_a_button_beside_a_name_enters_what_the_file_says_can_be_paid_by_hand(
    site: Site, operator: httpx.Client
) -> None:
    people = owing(site, "Ann", "Bo", "Cy")
    batch_id = payouts.make_batch(site.market, site.operator, "key-of-the-batch").batch_id
    transfer = Transfer(user_id=people[2].user_id, amount_micros=4_000_000)
    transfers.pay_out(site.market, site.operator, transfer, "paid-by-hand")
    hers = [line.reference for line in lines(site, batch_id) if line.user_id == people[2].user_id]
    text = f"reference,status,amount\n{hers[0]},paid,4.00\n"  # Cy has the money twice, and Ann and Bo wait
    payout_confirmations.confirm_batch(site.market, site.operator, batch_id, text)
    earn(site, [people[0], people[2]], "later")
    earn(site, people[2:], "later still")
    listed = [row.split(",")[1:3] for row in payouts.payables_file(site.market, site.operator).splitlines()[1:]]
    assert sorted(listed) == [["Ann", "4.00"], ["Bo", "0.00"], ["Cy", "4.00"]]
    for path in ("/operator/ledger", "/operator/payouts"):
        page = operator.get(path).text
        found = dict(re.findall(r'aria-label="Enter that (\w+) was paid ([0-9.]+)">', page))
        assert found == {"Ann": "4.00", "Bo": "4.00", "Cy": "4.00"}, "Bo's is all that is owed, and waits"
        for text in ("8.00 Paid out 4.00", "4.00 was paid beyond what was owed"):
            assert text in shown_text(page)
    beside, twice = shown_text(pay_by_hand(operator, people[0]).text), shown_text(pay_by_hand(operator, people[1]).text)
    assert "4.00 for Ann waits in a batch. This is entered beside it. If this is what" in beside
    assert "all the same" not in beside
    assert "4.00 for Bo waits in a batch. If the provider pays that too, she is paid twice." in twice
    assert "Enter the payout of 4.00 all the same" in twice


def test_a_batch_is_called_off_and_what_was_paid_too_much_let_be_after_a_second_word(
    site: Site, operator: httpx.Client
) -> None:
    (owner,) = owing(site, "Ann")
    batch_id = payouts.make_batch(site.market, site.operator, "key-of-the-batch").batch_id
    text, page = told(site, batch_id), operator.get("/operator/payouts").text
    action = f"/operator/payouts/{batch_id}/call-off"
    sure = operator.post(action, data=fields(page, action))
    assert "Call off what still waits?" in sure.text
    assert payouts.batches_page(site.market, site.operator).items[0].waiting == 1
    operator.post(action, data=fields(sure.text, action))
    assert payouts.batches_page(site.market, site.operator).items[0].waiting == 0
    asked = pay_by_hand(operator, owner)
    assert "waits in a batch" not in asked.text
    operator.post("/operator/ledger/payout", data=fields(asked.text, "/operator/ledger/payout"))
    address, page = f"/operator/payouts/{batch_id}/confirmation", operator.get("/operator/payouts").text
    form = {"csrf_token": fields(page, address)["csrf_token"]}
    operator.post(address, data={**form, "confirmed": "yes", "text": text})
    page = operator.get("/operator/payouts").text
    (action,) = re.findall(r'action="(/operator/payouts/over/p_\w+/let-be)"', page)
    assert operator.post(action.replace("let-be", "forget"), data=fields(page, action)).status_code == 404
    sure = operator.post(action, data=fields(page, action))
    assert "Let it be with Ann?" in shown_text(sure.text)
    operator.post(action, data=fields(sure.text, action))
    page = operator.get("/operator/payouts").text
    assert "Paid beyond what was owed" not in page
    assert "Paid too much, and let be" in page
    amount = payouts.batches_page(site.market, site.operator).items[0].let_be_micros
    deeds = shown_text(operator.get("/operator/deeds").text)
    assert f"let be {site.market.settings.money.exact(amount)} that was paid too much to Ann" in deeds
    assert amount > 0
    assert "called off a batch of payouts" in deeds


def test_what_failed_after_all_is_undone_whole_where_it_is_told_and_told_as_paid_again_it_waits_for_a_word(
    site: Site, operator: httpx.Client
) -> None:
    (owner,) = owing(site, "Ann")
    batch_id = payouts.make_batch(site.market, site.operator, "key-of-the-batch").batch_id
    text = told(site, batch_id)
    part = Transfer(user_id=owner.user_id, amount_micros=1_000_000)
    transfers.pay_out(site.market, site.operator, part, "key-by-hand")
    payout_confirmations.confirm_batch(site.market, site.operator, batch_id, text)
    entry = next(line for line in transfers.journal(site.market, site.operator).items if ":p_" in line.transaction_id)
    page = operator.get("/operator/ledger").text
    form = {**fields(page, "/operator/ledger/reversal"), "undoes": entry.transaction_id}
    asked = shown_text(operator.post("/operator/ledger/reversal", data=form).text)
    assert "1.00 that a provider paid Ann beyond what was owed was a part of this payment" in asked
    address, page = f"/operator/payouts/{batch_id}/confirmation", operator.get("/operator/payouts").text
    form = {"csrf_token": fields(page, address)["csrf_token"]}
    failed = {"file": ("told.csv", text.replace("paid", "failed").encode())}
    seen = operator.post(address, data=form, files=failed).text
    assert "3.00 was entered, and 1.00 is kept as paid beyond what was owed." in shown_text(seen)
    assert "The money of the one that failed after all is with you again" in shown_text(seen)
    sent = {**form, "confirmed": "yes", "text": text.replace("paid", "failed")}
    operator.post(address, data=sent)
    assert reads.me(site.market, owner).balance_micros == 0, "not unless it is ticked"
    operator.post(address, data={**sent, "came_back": "yes"})
    assert reads.me(site.market, owner).balance_micros == 3_000_000
    assert "Paid beyond what was owed" not in operator.get("/operator/payouts").text
    seen = operator.post(address, data=form, files={"file": ("told.csv", text.encode())}).text
    assert "she is in no new batch until you say there whether the provider has paid it" in shown_text(seen)
    operator.post(address, data={**form, "confirmed": "yes", "text": text})
    page = operator.get("/operator/payouts").text
    assert "undone before: was she paid after all?" in shown_text(page)
    (action,) = re.findall(r'action="(/operator/payouts/over/p_\w+/came-back)"', page)
    sure = operator.post(action, data=fields(page, action))
    assert "Was Ann not paid after all?" in shown_text(sure.text)
    operator.post(action, data=fields(sure.text, action))
    assert "Paid beyond what was owed" not in operator.get("/operator/payouts").text
    assert reads.me(site.market, owner).balance_micros == 3_000_000
    assert "payment did not stay with Ann" in shown_text(operator.get("/operator/deeds").text)


def undone(site: Site) -> tuple[User, str, str]:
    """Ann, whose payout of 4.00 was entered and undone; its batch, and the file that says it was paid."""
    (owner,) = owing(site, "Ann")
    batch_id = payouts.make_batch(site.market, site.operator, "key-of-the-batch").batch_id
    text = told(site, batch_id)
    payout_confirmations.confirm_batch(site.market, site.operator, batch_id, text)
    entry = transfers.journal(site.market, site.operator).items[0]
    transfers.reverse(site.market, site.operator, entry.transaction_id)
    return owner, batch_id, text


def test_of_what_is_told_as_paid_again_it_is_said_that_nothing_is_entered_and_all_stays_owed(
    site: Site, operator: httpx.Client
) -> None:
    owner, batch_id, text = undone(site)
    address, page = f"/operator/payouts/{batch_id}/confirmation", operator.get("/operator/payouts").text
    form = {"csrf_token": fields(page, address)["csrf_token"]}
    seen = shown_text(operator.post(address, data=form, files={"file": ("told.csv", text.encode())}).text)
    assert "Nothing of it is entered now, and what is owed stays owed." in seen
    assert "4.00 is kept apart until you say whether it was paid." in seen
    assert "Keep 4.00 apart" in seen
    assert [word for word in ("no longer be owed", "Enter 0.00", "0.00 of it") if word in seen] == []
    done = operator.post(address, data={**form, "confirmed": "yes", "text": text})
    after = shown_text(operator.get(done.headers["location"]).text)
    assert "1 is told as paid ( 4.00 , of which 4.00 is kept apart until you have seen to it)." in after
    assert "or says that it has paid what you had undone" in after
    assert reads.me(site.market, owner).balance_micros == 4_000_000


def test_of_a_file_with_both_it_is_said_what_is_entered_and_what_waits_for_a_word(
    site: Site, operator: httpx.Client
) -> None:
    first, second = owing(site, "Ann", "Bo")
    batch_id = payouts.make_batch(site.market, site.operator, "key-of-the-batch").batch_id
    text = told(site, batch_id)
    hers = {line.user_id: line.reference for line in lines(site, batch_id)}
    one = "".join(row for row in text.splitlines(keepends=True) if hers[second.user_id] not in row)
    payout_confirmations.confirm_batch(site.market, site.operator, batch_id, one)
    transfers.reverse(site.market, site.operator, payout_undoing.transaction_of(hers[first.user_id]))
    address, page = f"/operator/payouts/{batch_id}/confirmation", operator.get("/operator/payouts").text
    form = {"csrf_token": fields(page, address)["csrf_token"]}
    seen = shown_text(operator.post(address, data=form, files={"file": ("told.csv", text.encode())}).text)
    assert "What is entered of it will no longer be owed." in seen
    assert "4.00 of it is owed and will be entered; 4.00 is kept apart until you say whether it was paid." in seen
    assert "Enter 4.00, keep 4.00 apart" in seen


def test_who_would_undo_on_the_ledger_what_was_taken_off_is_asked_of_the_whole_payment(
    site: Site, operator: httpx.Client
) -> None:
    owner, batch_id, text = undone(site)
    payout_confirmations.confirm_batch(site.market, site.operator, batch_id, text)
    (one,) = overpaid.overpaid_page(site.market, site.operator).items
    overpaid.enter(site.market, site.operator, one.reference)
    taken_off = payout_undoing.taking_off(one.reference, 1, 4_000_000)
    form = {**fields(operator.get("/operator/ledger").text, "/operator/ledger/reversal"), "undoes": taken_off}
    refused = operator.post("/operator/ledger/reversal", data={**form, "confirmed": "yes"})
    assert (refused.status_code, "say of the whole payment that it came back" in refused.text) == (409, True)
    sure = operator.post("/operator/ledger/reversal", data=form, follow_redirects=True)
    assert "Was Ann not paid after all?" in shown_text(sure.text)
    assert "if she has it, she is paid it once more" in shown_text(sure.text)
    assert reads.me(site.market, owner).balance_micros == 0, "not before the second word"
    action = f"/operator/payouts/over/{one.reference}/came-back"
    operator.post(action, data=fields(sure.text, action))
    assert reads.me(site.market, owner).balance_micros == 4_000_000
    assert reads.trial_balance(site.market, site.operator).balanced


def people_of_one_name(site: Site) -> list[User]:
    """Two owners and two consumers called Ann Lee, and one Bo; money has moved for some."""
    owners = owing(site, "Ann Lee", "Ann Lee", "Bo")
    new = NewUser(role="consumer", name="Ann Lee")
    consumers = [
        round_steps.register_user(site.market, site.operator, new, f"consumer-{n}").user for n in ("one", "two")
    ]
    for consumer in consumers:
        site.deposit(consumer, 5_000_000)
    return [*owners, *consumers]


def test_people_of_one_name_are_told_apart_wherever_money_moves(site: Site, operator: httpx.Client) -> None:
    first, second, bo, third, fourth = people_of_one_name(site)
    marks = [f"Ann Lee ({mark_of(one.user_id)})" for one in (first, second, third, fourth)]
    assert len(set(marks)) == 4
    for path, expected in (
        ("/operator/people", marks),
        ("/operator/ledger", marks),
        ("/operator/payouts", marks[:2]),
        ("/operator/journal", marks[2:]),
        ("/operator/deeds", marks),
    ):
        page = shown_text(operator.get(path).text)
        assert [mark in page for mark in expected] == [True] * len(expected), path
        assert f"({mark_of(bo.user_id)})" not in page, "whose name is hers alone has no mark"
    page = operator.get("/operator/ledger").text
    assert f'<option value="{third.user_id}">{marks[2]}</option>' in page
    assert f'aria-label="Enter that {marks[0]} was paid 4.00"' in page
    asked = shown_text(pay_by_hand(operator, second).text)
    assert f"from the balance of {marks[1]}" in asked
    assert "here since" in asked
    found = shown_text(operator.get(f"/operator/people?text={mark_of(second.user_id)}").text)
    assert (marks[1] in found, marks[0] in found) == (True, False), "found by the mark"
    page = operator.get("/operator/people").text
    action = f"/operator/people/{second.user_id}/disable"
    assert f"Disable {marks[1]}?" in operator.post(action, data=fields(page, action)).text
    assert f"Groups of {marks[1]}" in operator.get(f"/operator/people/{second.user_id}/groups").text
    form = fields(operator.get("/operator/people").text, "/operator/people")
    made = shown_text(operator.post("/operator/people", data={**form, "name": "Bo", "role": "owner"}).text)
    assert re.search(r"Code for Bo \([0-9a-f]{6}\) Somebody else is called Bo too", made)


def test_cards_for_people_of_one_name_say_which_row_of_the_list_they_are_for(operator: httpx.Client) -> None:
    form = fields(operator.get("/operator/invitations").text, "/operator/invitations")
    names = {"file": ("names.csv", b"name,group\nAnn,Day\n,\nBo,Day\nAnn,Night\n")}
    sent = {**form, "role": "owner", "confirmed": "yes", "all_the_same": "yes"}
    answer = operator.post("/operator/invitations", data=sent, files=names)
    with zipfile.ZipFile(io.BytesIO(answer.content)) as files:
        table, cards = files.read("invitations.csv").decode(), files.read("cards.html").decode()
    assert [line.split(",")[:2] for line in table.splitlines()] == [
        ["row", "name"],
        ["2", "Ann"],
        ["4", "Bo"],
        ["5", "Ann"],
    ]
    said = re.findall(r"<strong>(\w+)</strong>(?:<p>(Row \d) of the list, marked [0-9a-f]{6}</p>)?", cards)
    assert said == [("Ann", "Row 2"), ("Bo", ""), ("Ann", "Row 5")]


def test_no_id_stands_in_the_open_on_an_operators_page(site: Site, operator: httpx.Client) -> None:
    first, *_ = people_of_one_name(site)
    batch_id = payouts.make_batch(site.market, site.operator, "key-of-the-batch").batch_id
    with site.market.store.write() as connection:
        for what, about in (("batch", batch_id), ("ended", first.user_id), ("invited", "2 people")):
            note_deed(connection, site.operator, what, about, at_ms=site.clock())  # type: ignore[arg-type]  # of several
    for path in ("", "/ledger", "/payouts", "/people", "/journal", "/deeds", "/letters"):
        html = operator.get(f"/operator{path}").text
        assert ID.findall(shown_text(html)) == [], path
    assert first.user_id in operator.get("/operator/people").text, "under details it can be found"
    assert ID.findall(shown_text(pay_by_hand(operator, first).text)) == []


@pytest.mark.parametrize("look", ["phone", "desktop"])
def test_the_pages_of_payouts_fit_and_complain_of_nothing(site: Site, browser: Browser, look: str) -> None:
    people = people_of_one_name(site)
    batch_id = payouts.make_batch(site.market, site.operator, "key-of-the-batch").batch_id
    text = told(site, batch_id)
    code = round_steps.renew_code(site.market, site.operator, site.operator.user_id).code
    visitor = Visitor(browser, site, **(PHONE if look == "phone" else {}))
    visitor.enter(code)

    def seen(name: str) -> None:
        assert visitor.fits(), name
        visitor.shoot(f"payouts-{name}-{look}")

    visitor.go("/operator/ledger")
    visitor.press(f"Enter that Ann Lee ({mark_of(people[0].user_id)}) was paid 4.00")
    seen("by-hand")
    visitor.press("all the same")
    visitor.go("/operator/payouts")
    visitor.page.set_input_files("input[type=file]", {"name": "t.csv", "mimeType": "text/csv", "buffer": text.encode()})
    visitor.press("Read the confirmation")
    seen("confirmation")
    visitor.press("Enter 8.00, keep 4.00 apart")
    earn(site, people[:1], "later")
    visitor.go("/operator/payouts")
    seen("overpaid")
    visitor.press("Take it off what is owed to")
    seen("take-off")
    for path in ("ledger", "people", "journal", "deeds"):
        visitor.go(f"/operator/{path}")
        seen(path)
    assert visitor.complaints == []


def test_a_round_that_cannot_go_on_is_called_by_its_question_even_when_it_is_damaged(
    site: Site, operator: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    consumer, _ = site.invite("consumer", "Institute")
    kept = [round_steps.draft_round(site.market, consumer, plan(), f"a-draft-{n}").round_id for n in range(2)]
    stuck = [
        Stuck(round_id=one, reason="something is wrong", since_ms=1, kind="ValueError", where="here") for one in kept
    ]
    monkeypatch.setattr("pdqs.market.pages.operator.last_tick", lambda _: ClockState(at_ms=1, stuck=tuple(stuck)))
    page = shown_text(operator.get("/operator").text)
    assert page.count("Have you been ill this month? something is wrong") == 2
    assert ID.findall(page) == []
    with site.market.store.write() as connection:
        connection.execute(rounds.update().where(rounds.c.round_id == kept[1]).values(summary="{"))
    assert looking_up.words_of(site.market, kept) == {kept[0]: "Have you been ill this month?"}
