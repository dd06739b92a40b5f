"""Markets that forgot a check or keep something else than they say, each of which the campaign must catch."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from typing import Any

from sqlalchemy import BigInteger, bindparam, select
from sqlalchemy.dialects import postgresql, sqlite

from pdqs.market import (
    access,
    bidding,
    drafts,
    groups,
    ledger,
    offer_access,
    page_sessions,
    people,
    reads,
    transfers,
    views,
)
from pdqs.market.store.schema import accounts, bids, codes

Put = Callable[[Any, str, object], None]
"""Has a module call something else by one of its names: ``setattr``, or what a test undoes afterwards."""


@dataclass(frozen=True)
class Way:
    """How a market is made wrong, and a pattern of the routes where it shows."""

    weaken: Callable[[Put], None]
    only: str
    caught: str
    """Words of what the campaign says of it."""


def _any_role(put: Put) -> None:
    """Anybody may do what is the operator's."""
    require = access.require

    def lenient(actor: Any, *roles: Any) -> None:
        if "operator" not in roles:
            require(actor, *roles)

    put(access, "require", lenient)


def _lost_bids(put: Put) -> None:
    """Every third bid is acknowledged and not kept."""
    keep, turn = bidding.keep_if_open, count(1)
    put(bidding, "keep_if_open", lambda connection, fresh: next(turn) % 3 == 0 or keep(connection, fresh))


def _late_bids(put: Put) -> None:
    """Bids are taken whatever has become of the round."""

    def keep(connection: Any, fresh: dict[str, Any]) -> bool:
        insert = sqlite.insert(bids) if connection.dialect.name == "sqlite" else postgresql.insert(bids)
        names = {"round_id": "round", "owner_id": "owner", "bid_micros": "bid", "placed_at_ms": "now"}
        rows = insert.values({column: fresh[name] for column, name in names.items()}).on_conflict_do_nothing()
        return connection.execute(rows.returning(bids.c.round_id)).first() is not None

    put(bidding, "keep_if_open", keep)


def _any_bid(put: Put) -> None:
    """A bid may be of any amount, and for other terms."""
    put(bidding, "bid_refusal", lambda _promise, _bid: None)


def _any_report(put: Put) -> None:
    """A report is taken whatever it says: other terms, or a code out of range."""
    put(bidding, "_refuse_report", lambda *_: None)


def _money_from_nowhere(put: Put) -> None:
    """Somewhat more is entered than was paid in; the books add up all the same."""
    post = ledger.post

    def generous(connection: Any, entry: Any) -> bool:
        more = {account: amount + (1 if amount > 0 else -1) for account, amount in entry.amounts.items()}
        return post(connection, dataclasses.replace(entry, amounts=more))

    put(ledger, "post", generous)
    put(transfers, "refuse_other_body", lambda _same: None)


def _doubled_money(put: Put) -> None:
    """A balance rises by more than was entered."""
    twice = bindparam("amount", type_=BigInteger) * 2
    put(ledger, "_GAIN", ledger._GAIN.values(balance_micros=accounts.c.balance_micros + twice))


def _seen_by_anyone(connection: Any, actor: Any, round_id: str, **options: Any) -> Any:
    return views.visible_round(connection, actor.model_copy(update={"role": "operator"}), round_id, **options)


def _foreign_rounds(put: Put) -> None:
    """A consumer sees the rounds of others."""
    put(reads, "visible_round", _seen_by_anyone)


def _foreign_drafts(put: Put) -> None:
    """A consumer changes the drafts of others."""
    put(drafts, "visible_round", _seen_by_anyone)


def _foreign_groups(put: Put) -> None:
    """Anybody sees the groups that somebody is in."""
    found = groups.groups_of

    def lenient(market: Any, actor: Any, user_id: str) -> Any:
        return found(market, actor.model_copy(update={"role": "operator"}), user_id)

    put(groups, "groups_of", lenient)


def _foreign_bids(put: Put) -> None:
    """An owner who asks for her bid is shown the first one of the round."""
    anyones = select(bids).where(bids.c.round_id == bindparam("round")).limit(1)
    put(offer_access, "_BID", anyones)


def _foreign_rows(put: Put) -> None:
    """An owner who looks at a round is shown it as another owner is, bid and all."""
    found = offer_access._found

    def first(connection: Any, mine: Any, whose: dict[str, str]) -> Any:
        anybody = connection.scalar(select(bids.c.owner_id).where(bids.c.round_id == whose["round"]).limit(1))
        return found(connection, mine, {**whose, "owner": anybody or whose["owner"]})

    put(offer_access, "_found", first)


def _foreign_ids(put: Put) -> None:
    """She is told somebody else's id for hers."""
    me = reads.me

    def telling(market: Any, actor: Any) -> Any:
        found = me(market, actor)
        return found.model_copy(update={"user": found.user.model_copy(update={"user_id": "u_" + "0" * 23 + "1"})})

    put(reads, "me", telling)


def _faults(put: Put) -> None:
    """A change of a bid runs into an error of the program."""

    def fails(*_given: Any) -> Any:
        raise ZeroDivisionError

    put(bidding, "_replace_bid", fails)


def _codes_that_last(put: Put) -> None:
    """A one-time code works more than once."""

    def redeemed(_market: Any, connection: Any, code: str) -> Any:
        row = connection.execute(select(codes).where(codes.c.code_hash == access.hashed(code))).one_or_none()
        if row is None:
            raise access._bad_code(code)
        return people.user_by_id(connection, row.user_id), row.made_by

    put(access, "_redeemed", redeemed)


def _no_csrf(put: Put) -> None:
    """Forms are taken from anywhere."""
    put(access, "check_csrf", lambda _session, _given: None)
    put(page_sessions, "check_csrf", lambda _session, _given: None)


def _keys_for_all(put: Put) -> None:
    """A key that was used for one thing is taken for another."""
    for module in (transfers, drafts, people):
        put(module, "refuse_other_body", lambda _same: None)


WAYS: dict[str, Way] = {
    "any-role": Way(_any_role, "/v1/(users|deposits|payables)$", "in spite of 'asked by"),
    "lost-bids": Way(_lost_bids, "PUT /v1/.*/bid$", "this does not hold: bids"),
    "late-bids": Way(_late_bids, "PUT /v1/.*/bid$", "in spite of 'a bid in a round that takes none'"),
    "any-bid": Way(_any_bid, "PUT /v1/.*/bid$", "in spite of 'a bid "),
    "any-report": Way(_any_report, "PUT /v1/.*/report$", "in spite of 'a "),
    "money-from-nowhere": Way(_money_from_nowhere, "/v1/deposits$", "money from outside"),
    "doubled-money": Way(_doubled_money, "/v1/deposits$", "this does not hold: balances"),
    "foreign-rounds": Way(_foreign_rounds, "GET /v1/rounds/{round_id}$", "another consumer's round"),
    "foreign-drafts": Way(_foreign_drafts, "PUT /v1/.*/plan$", "a change of what is no draft of hers"),
    "foreign-groups": Way(_foreign_groups, "GET /v1/users/{user_id}/groups$", "asked of somebody else"),
    "any-role-in-payouts": Way(_any_role, "/v1/payout-batches$|/v1/overpaid$", "in spite of 'asked by"),
    "foreign-bids": Way(_foreign_bids, "GET /v1/.*/bid$", "shows another bid than hers"),
    "foreign-looks": Way(_foreign_rows, "GET /v1/.*/mine$", "shows another bid than hers"),
    "foreign-ids": Way(_foreign_ids, "GET /v1/me$", "shows somebody else's id"),
    "faults": Way(_faults, "PUT /v1/.*/bid$", "answered 500"),
    "codes-that-last": Way(_codes_that_last, "POST /v1/(tokens|users/{user_id}/code)$", "a code that was never made"),
    "no-csrf": Way(_no_csrf, "POST /account/tokens$", "without its CSRF token"),
    "keys-for-all": Way(_keys_for_all, "POST /v1/(deposits|users)$", "a key that was used for something else"),
}
