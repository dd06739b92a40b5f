"""The ledger: what sums to zero stays so, nothing is paid twice, and nobody spends what they have not."""

from __future__ import annotations

import pytest
from sqlalchemy import select, update

from market.town import Town
from pdqs.market import ledger, reads, round_steps, transfers
from pdqs.market.store.schema import accounts, postings
from pdqs.model.errors import InvariantError
from pdqs.protocol.market_messages import Transfer
from pdqs.protocol.problems import ConflictError, MarketError


def _entry(**changes: object) -> ledger.Entry:
    usual: dict[str, object] = {
        "transaction_id": "test:1",
        "kind": "payout",
        "at_ms": 1,
        "amounts": {"consumer:x": 5, ledger.WORLD: -5},
    }
    return ledger.Entry(**{**usual, **changes})  # type: ignore[arg-type]  # a test's shorthand


def test_a_transaction_that_does_not_sum_to_zero_cannot_be_made() -> None:
    with pytest.raises(InvariantError, match=r"off by 0\.000001"):
        _entry(amounts={"consumer:x": 6, ledger.WORLD: -5})


def test_a_transaction_is_entered_once(either_town: Town) -> None:
    with either_town.market.store.write() as connection:
        assert ledger.post(connection, _entry())
        assert not ledger.post(connection, _entry())
        assert ledger.balance(connection, "consumer:x") == 5
    assert either_town.balanced()


@pytest.mark.parametrize("lines", [3, ledger.MANY + 5])
def test_a_transaction_of_very_many_lines_is_entered_like_one_of_few(
    either_town: Town, monkeypatch: pytest.MonkeyPatch, lines: int
) -> None:
    paid = {f"owner:u_{i}": 1 + i for i in range(lines)} | {"owner:nothing": 0}
    found = []
    for name, many in (("whole", 1), ("by-line", 10**9)):
        monkeypatch.setattr(ledger, "MANY", many)
        amounts = {**paid, ledger.WORLD: -sum(paid.values())}
        with either_town.market.store.write() as connection:
            assert ledger.post(connection, _entry(transaction_id=f"test:{name}", amounts=amounts))
            assert not ledger.post(connection, _entry(transaction_id=f"test:{name}", amounts=amounts))
            kept = select(postings).where(postings.c.transaction_id == f"test:{name}").order_by(postings.c.account)
            found.append([(row.account, row.amount_micros) for row in connection.execute(kept)])
    assert found[0] == found[1]
    assert len(found[0]) == lines + 1
    with either_town.market.store.read() as connection:
        assert ledger.balance(connection, "owner:u_2") == 6
    assert either_town.balanced()


def test_very_many_lines_cannot_take_an_account_below_zero_either(
    either_town: Town, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ledger, "MANY", 1)
    before = reads.trial_balance(either_town.market, either_town.operator)
    with pytest.raises(ConflictError, match="does not cover"), either_town.market.store.write() as connection:
        ledger.post(connection, _entry(amounts={"consumer:x": -5, "owner:y": 2, "owner:z": 3}))
    assert reads.trial_balance(either_town.market, either_town.operator) == before


def test_an_account_cannot_go_below_zero_and_nothing_of_the_attempt_stays(either_town: Town) -> None:
    before = reads.trial_balance(either_town.market, either_town.operator)
    with pytest.raises(ConflictError, match="does not cover"), either_town.market.store.write() as connection:
        ledger.post(connection, _entry(amounts={"consumer:x": -5, "owner:y": 5}))
    assert reads.trial_balance(either_town.market, either_town.operator) == before


def test_a_trial_balance_catches_a_posting_that_was_tampered_with(either_town: Town) -> None:
    assert either_town.balanced()
    with either_town.market.store.write() as connection:
        connection.execute(update(postings).where(postings.c.account == ledger.WORLD).values(amount_micros=-7))
    books = reads.trial_balance(either_town.market, either_town.operator)
    assert (books.balanced, books.unbalanced_transactions) == (False, 1)


def test_a_trial_balance_catches_a_balance_that_was_tampered_with(either_town: Town) -> None:
    with either_town.market.store.write() as connection:
        connection.execute(update(accounts).where(accounts.c.kind == "consumer").values(balance_micros=1))
    assert not either_town.balanced()


def test_a_deposit_asked_for_twice_with_one_key_moves_money_once(town: Town) -> None:
    gift = Transfer(user_id=town.consumer.user_id, amount_micros=5)
    before = town.balance(town.consumer)
    first = round_steps.deposit(town.market, town.operator, gift, "key-of-a-gift")
    assert round_steps.deposit(town.market, town.operator, gift, "key-of-a-gift") == first
    assert town.balance(town.consumer) == before + 5


def test_a_key_used_for_another_amount_is_refused(town: Town) -> None:
    round_steps.deposit(
        town.market, town.operator, Transfer(user_id=town.consumer.user_id, amount_micros=5), "one-key-01"
    )
    other = Transfer(user_id=town.consumer.user_id, amount_micros=6)
    with pytest.raises(ConflictError, match="used before"):
        round_steps.deposit(town.market, town.operator, other, "one-key-01")


def test_what_is_paid_back_leaves_the_balance_and_no_more_than_it(town: Town) -> None:
    held = town.balance(town.consumer)
    too_much = Transfer(user_id=town.consumer.user_id, amount_micros=held + 1)
    with pytest.raises(ConflictError, match="does not cover"):
        transfers.refund(town.market, town.operator, too_much, "pay-back-0001")
    all_of_it = Transfer(user_id=town.consumer.user_id, amount_micros=held)
    transfers.refund(town.market, town.operator, all_of_it, "pay-back-0002")
    assert town.balance(town.consumer) == 0
    assert town.balanced()


def test_an_owner_is_not_given_deposits(town: Town) -> None:
    (owner,) = town.add_owners(1)
    with pytest.raises(MarketError, match="deposit cannot be made"):
        round_steps.deposit(town.market, town.operator, Transfer(user_id=owner.user_id, amount_micros=5), "gift-000001")


def test_a_statement_lists_postings_newest_first_page_by_page(town: Town) -> None:
    for i in range(5):
        town.clock.advance(1)
        gift = Transfer(user_id=town.consumer.user_id, amount_micros=i + 1)
        round_steps.deposit(town.market, town.operator, gift, f"deposit-{i:04}")
    seen, after = [], None
    while True:
        page = reads.statement(town.market, town.consumer, after, 2)
        seen += [line.amount_micros for line in page.items]
        after = page.next
        if after is None:
            break
    assert seen == [5, 4, 3, 2, 1, 100_000_000]
