"""Going back to a page that answered a form: the form is there, and no browser asks whether to send it again."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from pdqs.market import drafts, ledger, payouts, reads, round_steps

from .open_round import PHONE, PLAN
from .site import Site, Visitor

if TYPE_CHECKING:
    from playwright.sync_api import Browser


def test_back_after_a_plan_was_refused_and_mended_is_the_form_with_its_draft(site: Site, browser: Browser) -> None:
    user, code = site.invite("consumer", "Refused Once")
    visitor = Visitor(browser, site, **PHONE)
    visitor.enter(code)
    visitor.go("/consumer/plan")
    page = visitor.page
    page.get_by_label("Question put to each owner").fill("Do you row?")
    visitor.press("Save as draft")
    page.get_by_text("1 thing needs your attention").wait_for()
    assert "/consumer/plan?form=" in page.url
    page.reload()
    assert page.get_by_label("Question put to each owner").input_value() == "Do you row?", "what she typed stays"
    page.get_by_label("The fact it is about").fill("rowing")
    visitor.press("Save as draft")
    page.wait_for_url("**/consumer/rounds/r_*")
    page.go_back()
    page.get_by_text("You have sent this form before").wait_for()
    assert page.get_by_label("The fact it is about").input_value() == "rowing"
    assert len(reads.rounds_page(site.market, user).items) == 1
    assert not [one for one in visitor.complaints if "422" not in one]
    visitor.context.close()


@pytest.mark.parametrize("opened", [False, True])
def test_back_after_a_round_was_called_off_is_its_page(site: Site, browser: Browser, opened: bool) -> None:
    user, code = site.invite("consumer", f"Called Off {opened}")
    site.deposit(user, 100_000_000)
    made = drafts.draft_round(site.market, user, PLAN, f"the-draft-called-off-{opened}")
    if opened:
        round_steps.open_round(site.market, user, made.round_id)
    visitor = Visitor(browser, site)
    visitor.enter(code)
    visitor.go(f"/consumer/rounds/{made.round_id}")
    visitor.press("Cancel and get the escrow back" if opened else "Discard")
    visitor.press("Cancel the round" if opened else "Discard the draft")
    visitor.page.get_by_text("Plan another like this").wait_for()
    visitor.page.go_back()
    visitor.page.get_by_text("Plan another like this").wait_for()
    assert visitor.page.url.endswith(made.round_id)
    assert not visitor.complaints
    visitor.context.close()


@pytest.fixture
def operator(site: Site, browser: Browser) -> Iterator[Visitor]:
    """The operator at a phone."""
    visitor = Visitor(browser, site, **PHONE)
    visitor.enter(round_steps.renew_code(site.market, site.operator, site.operator.user_id).code)
    yield visitor
    visitor.context.close()


def test_back_after_money_was_entered_is_the_ledger(site: Site, operator: Visitor) -> None:
    site.invite("consumer", "Deposits Once")
    operator.go("/operator/ledger")
    page = operator.page
    for amount in ("12,5.0", "250.50"):
        page.get_by_label("Amount received").fill(amount)
        page.get_by_label("Consumer", exact=True).select_option(label="Deposits Once")
        operator.press("Enter the deposit")
    operator.press("Enter the deposit of 250.50")
    page.get_by_text("The deposit is entered").wait_for()
    page.go_back()
    page.get_by_role("heading", name="Trial balance").wait_for()
    assert page.url.endswith("/operator/ledger")
    page.go_back()
    page.get_by_role("heading", name="Trial balance").wait_for()
    assert not [one for one in operator.complaints if "422" not in one]


def test_back_after_a_confirmation_was_read_is_the_payouts(site: Site, operator: Visitor) -> None:
    owner, _ = site.invite("owner", "Paid By Batch")
    amounts = {ledger.account_of("owner", owner.user_id): 4_000_000, ledger.WORLD: -4_000_000}
    with site.market.store.write() as connection:
        ledger.post(
            connection,
            ledger.Entry(transaction_id="settlement:by-batch", kind="settlement", at_ms=site.clock(), amounts=amounts),
        )
    operator.go("/operator/payouts")
    operator.press("Make a batch of what is owed")
    page = operator.page
    page.get_by_label("The provider's confirmation").wait_for()
    (batch,) = payouts.batches_page(site.market, site.operator).items
    row = payouts.batch_file(site.market, site.operator, batch.batch_id).splitlines()[1].split(",")
    for name, text in (("no.csv", "a\nb\n"), ("yes.csv", f"reference,status,amount\n{row[0]},paid,{row[3]}\n")):
        page.get_by_label("The provider's confirmation").set_input_files(
            {"name": name, "mimeType": "text/csv", "buffer": text.encode()}
        )
        operator.press("Read the confirmation")
    operator.press("Enter 1 payout of 4.00")
    page.get_by_text("The confirmation is entered").wait_for()
    for _ in range(2):
        page.go_back()
        page.get_by_role("heading", name="Batches").wait_for()
        assert page.url.endswith("/operator/payouts")


def test_back_after_a_list_was_read_is_its_form(operator: Visitor) -> None:
    operator.go("/operator/invitations")
    page = operator.page
    for text in ("", "name\nBack From A List\n"):
        page.get_by_label("File").set_input_files({"name": "list.csv", "mimeType": "text/csv", "buffer": text.encode()})
        operator.press("Read the list")
        page.wait_for_load_state()
    with page.expect_download():
        operator.press("Let her in and download a code")
    assert "yet" not in page.locator("p.lead").inner_text(), "what is on the page still holds once they are in"
    page.reload()
    page.get_by_label("File").wait_for()
    page.get_by_role("link", name="People").first.click()
    page.get_by_text("Back From A List").first.wait_for()
    page.go_back()
    page.get_by_label("File").wait_for()
