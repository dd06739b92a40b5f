"""A market in which every page has something to show: rounds in every state, money, letters, sign-ins, mistakes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import final

from market.town import plan
from pdqs.market import access, groups, payout_confirmations, payouts, reads, round_steps, transfers
from pdqs.market.store.schema import offers, outbox
from pdqs.protocol.device_messages import Bid, Report
from pdqs.protocol.groups import GroupNames
from pdqs.protocol.market_messages import Role, Transfer, User

from .site import Site

HOUR = 3600
BIDS = ("waiting", "offer", "reported", "done", "earlier", "missed", "nothing", "cancelled", "stuck")
"""Rounds in which the first owner has a bid; ``over`` and ``open`` are without."""


FOR_NURSES = ("draft", "waiting")


@final
@dataclass
class Filled:
    """Who is there, and the rounds by what they are to the first owner."""

    site: Site
    consumer: User
    owners: list[User]
    rounds: dict[str, str] = field(default_factory=dict)

    @property
    def owner(self) -> User:
        return self.owners[0]

    def user(self, role: Role) -> User:
        return {"consumer": self.consumer, "owner": self.owner, "operator": self.site.operator}[role]

    def draft(self, name: str) -> None:
        wanted = plan(bid_seconds=HOUR, report_seconds=HOUR, purpose="To plan the winter.", use="One talk.")
        if name in FOR_NURSES:
            wanted = wanted.model_copy(update={"groups": ["Nurses"]})
        made = round_steps.draft_round(self.site.market, self.consumer, wanted, f"key-of-{name}")
        self.rounds[name] = made.round_id

    def open(self, name: str, *, first_bids: bool = True) -> None:
        self.draft(name)
        found = round_steps.open_round(self.site.market, self.consumer, self.rounds[name])
        for owner in self.owners[0 if first_bids else 1 :]:
            bid = Bid(terms_hash=found.terms_hash or "", bid_micros=1000)
            round_steps.place_bid(self.site.market, owner, found.round_id, bid)

    def clear(self, *names: str) -> None:
        self.site.clock.skip(HOUR + 1)
        for name in names:
            round_steps.clear_round(self.site.market, self.consumer, self.rounds[name])

    def report(self, name: str, owners: list[User]) -> None:
        found = reads.round_by_id(self.site.market, self.consumer, self.rounds[name])
        for place, owner in enumerate(owners):
            report = Report(terms_hash=found.terms_hash or "", code=place % 2)
            round_steps.submit_report(self.site.market, owner, found.round_id, report)

    def settle(self, *names: str) -> None:
        self.site.clock.skip(HOUR + 1)
        for name in names:
            round_steps.settle_round(self.site.market, self.consumer, self.rounds[name])


def fill(site: Site, consumer: User, owner: User) -> Filled:
    """Let the market live for a day."""
    owners = [owner, *(site.invite("owner", name)[0] for name in ("Bob", "Cid", "Dot", "Eve", "Fay", "Gus"))]
    made = Filled(site, consumer, owners)
    for place, one in enumerate(owners):
        names = GroupNames(groups=["Nurses", "Night shift"][: 1 + place % 2])
        groups.put_in_groups(site.market, site.operator, one.user_id, names)
    site.deposit(consumer, 400_000_000)
    for name in ("done", "earlier", "missed"):
        made.open(name)
    made.open("over", first_bids=False)
    made.clear("done", "earlier", "missed", "over")
    made.report("done", owners)
    made.report("earlier", owners)
    made.report("missed", owners[1:])
    made.settle("done", "earlier", "missed", "over")
    for name in ("offer", "reported", "nothing"):
        made.open(name)
    made.clear("offer", "reported", "nothing")
    made.report("reported", owners[:2])
    not_drawn = {"q_numerator": 0, "payment_micros": 0, "chance_numerator": 2_663_000_000, "draw": 2**32 - 1}
    hers = (offers.c.round_id == made.rounds["nothing"]) & (offers.c.owner_id == owner.user_id)
    with site.market.store.write() as connection:
        connection.execute(offers.update().where(hers).values(not_drawn))
    made.open("waiting")
    made.open("open", first_bids=False)
    made.open("cancelled")
    round_steps.cancel_round(site.market, consumer, made.rounds["cancelled"])
    made.draft("draft")
    _paperwork(site, made)
    return made


def _paid_twice(site: Site, batch_id: str) -> None:
    """Somebody of the batch is paid by hand, and by the provider too."""
    row = payouts.batch_file(site.market, site.operator, batch_id).splitlines()[1].split(",")
    transfer = Transfer(user_id=row[1], amount_micros=round(float(row[3]) * 1_000_000))
    transfers.pay_out(site.market, site.operator, transfer, "key-by-hand")
    told = f"reference,status,amount\n{row[0]},paid,{row[3]}\n"
    payout_confirmations.confirm_batch(site.market, site.operator, batch_id, told)


def _paperwork(site: Site, made: Filled) -> None:
    """A batch of payouts with one paid twice, a token for each, and letters that did not arrive."""
    _paid_twice(site, payouts.make_batch(site.market, site.operator, "key-of-a-batch").batch_id)
    undone = site.invite("consumer", "Undone Deposits Ltd")[0]
    site.deposit(undone, 7_000_000)
    line = transfers.journal(site.market, site.operator).items[0]
    transfers.reverse(site.market, site.operator, line.transaction_id)
    site.deposit(site.invite("consumer", "Bureau of Very Long Names and Longer Titles")[0], 9_000_000)
    for role in ("consumer", "owner", "operator"):
        user = made.user(role)
        access.make_token(site.market, user, "my laptop", by=user.user_id)
    row = {"user_id": made.owner.user_id, "round_id": made.rounds["done"], "at_ms": site.clock(), "due_at_ms": 1}
    letters = [
        {**row, "letter_id": f"{kind}:{made.rounds['done']}:{channel}:1", "channel": channel, "kind": kind}
        | {"state": "dead", "attempts": 6, "fault": fault}
        for channel, kind, fault in (
            (
                "email",
                "opened",
                "the mail server said 550 5.1.1 <ann@example.org>: user unknown in virtual mailbox table",
            ),
            ("webhook", "paid", "the address answered 503"),
        )
    ]
    with site.market.store.write() as connection:
        connection.execute(outbox.insert(), letters)
