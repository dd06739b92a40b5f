"""A typed client of ``/v1``: every method is one route, with the messages the server itself uses.

An error of the server's comes back as the :class:`~pdqs.protocol.problems.MarketError` it was. Requests that can be
sent twice without harm (all but the exchange of a code) are sent again when the line breaks or the server asks for
patience.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from typing import final

from pdqs.market.operator_client import OperatorCalls, page_of
from pdqs.protocol.device_messages import (
    Bid,
    BidReceipt,
    Message,
    MyRound,
    Offer,
    Report,
    ReportReceipt,
    RoundNotice,
    Withdrawal,
)
from pdqs.protocol.forecasts import Forecast, ForecastRequest
from pdqs.protocol.groups import GroupList, GroupNames
from pdqs.protocol.letters import DeadLetterPage, EmailWord, LetterChoices, LettersKept
from pdqs.protocol.market_messages import (
    AnswerMessage,
    Health,
    Invitation,
    Me,
    Member,
    NewUser,
    NonceReveal,
    PayablePage,
    Role,
    Round,
    RoundPlan,
    RoundState,
    Statement,
    Token,
    Transaction,
    Transfer,
    TrialBalance,
    User,
    UserPage,
)
from pdqs.protocol.operator_messages import Invitations, NewUsers
from pdqs.protocol.own_data import Erasure, Export
from pdqs.protocol.sign_ins import AccessPage, NewToken, SignIns
from pdqs.protocol.summaries import NoticePage, RoundPage, RoundSummary, TransferPage
from pdqs.protocol.transport import Answer, paged


@final
class MarketClient(OperatorCalls):
    """One user's connection to one market. Close it, or use it in a ``with`` block."""

    @staticmethod
    def enter(address: str, code: str) -> MarketClient:
        """A client for whoever the one-time code was made for."""
        with MarketClient(address) as stranger:
            return MarketClient(address, stranger.redeem(code).token)

    # People

    def me(self) -> Me:
        """Who the market takes the caller for."""
        return self.ask(Me, "GET", "/v1/me")

    def invite(self, role: Role, name: str, *, key: str = "") -> Invitation:
        """Let someone in."""
        return self._create(Invitation, "/v1/users", NewUser(role=role, name=name), key)

    def invite_many(
        self, role: Role, names: list[str], *, groups: list[str] | None = None, key: str = ""
    ) -> Invitations:
        """Let up to 500 people in at once, all into the same groups."""
        wanted = NewUsers(role=role, names=names, groups=[groups] * len(names) if groups else [])
        return self._create(Invitations, "/v1/invitations", wanted, key)

    def groups(self) -> GroupList:
        """Every group of owners."""
        return self.ask(GroupList, "GET", "/v1/groups")

    def groups_of(self, user_id: str) -> GroupNames:
        """The groups of an owner."""
        return self.ask(GroupNames, "GET", f"/v1/users/{user_id}/groups")

    def put_in_groups(self, user_id: str, groups: list[str]) -> GroupNames:
        """Have an owner be in these groups and no others."""
        return self.ask(GroupNames, "PUT", f"/v1/users/{user_id}/groups", body=GroupNames(groups=groups))

    def renew_code(self, user_id: str) -> Invitation:
        """A fresh one-time code."""
        return self.ask(Invitation, "POST", f"/v1/users/{user_id}/code")

    def access(self, after: str | None = None, limit: int = 50) -> AccessPage:
        """A page of who signed in as the caller."""
        return self.ask(AccessPage, "GET", "/v1/me/access", params=page_of(after, limit))

    def sign_ins(self) -> SignIns:
        """Everything that can act as the caller."""
        return self.ask(SignIns, "GET", "/v1/me/sign-ins")

    def end_sign_in(self, sign_in_id: str) -> SignIns:
        """End one session, token or passkey of the caller's."""
        return self.ask(SignIns, "POST", f"/v1/me/sign-ins/{sign_in_id}/end", attempts=1)

    def make_token(self, name: str) -> Token:
        """Another bearer token for the caller. The one of the same name before it is void."""
        return self.ask(Token, "POST", "/v1/me/tokens", body=NewToken(name=name))

    def letters(self) -> LettersKept:
        """What the caller is told of, and where."""
        return self.ask(LettersKept, "GET", "/v1/me/letters")

    def choose_letters(self, wanted: LetterChoices) -> LettersKept:
        """Choose what to be told of, and where."""
        return self.ask(LettersKept, "PUT", "/v1/me/letters", body=wanted)

    def confirm_email(self, word: str) -> LettersKept:
        """Tell the word that was sent to a new e-mail address."""
        return self.ask(LettersKept, "POST", "/v1/me/letters/word", body=EmailWord(word=word))

    def dead_letters(self, after: str | None = None, limit: int = 50) -> DeadLetterPage:
        """Letters that could not be delivered."""
        return self.ask(DeadLetterPage, "GET", "/v1/dead-letters", params=page_of(after, limit))

    def try_letter_again(self, letter_id: str) -> DeadLetterPage:
        """Try one of them again."""
        return self.ask(DeadLetterPage, "POST", f"/v1/dead-letters/{letter_id}/retry", attempts=1)

    def export(self) -> Export:
        """Everything that the market holds on the caller."""
        return self.ask(Export, "GET", "/v1/me/export")

    def erase(self, *, forgo_balance: bool = False) -> Member:
        """Have the caller's name forgotten and her account closed."""
        return self.ask(Member, "POST", "/v1/me/erase", body=Erasure(forgo_balance=forgo_balance))

    def revoke(self, user_id: str) -> User:
        """End every sign-in of a user."""
        return self.ask(User, "POST", f"/v1/users/{user_id}/revoke")

    def disable(self, user_id: str) -> Member:
        """Shut someone out."""
        return self.ask(Member, "POST", f"/v1/users/{user_id}/disable")

    def enable(self, user_id: str) -> Member:
        """Let someone in again."""
        return self.ask(Member, "POST", f"/v1/users/{user_id}/enable")

    def users(self, after: str | None = None, limit: int = 50) -> UserPage:
        """A page of users."""
        return self.ask(UserPage, "GET", "/v1/users", params=page_of(after, limit))

    # Money

    def deposit(self, user_id: str, amount_micros: int, *, key: str = "") -> Transaction:
        """Money onto a consumer's balance."""
        transfer = Transfer(user_id=user_id, amount_micros=amount_micros)
        return self._create(Transaction, "/v1/deposits", transfer, key)

    def pay_out(self, user_id: str, amount_micros: int, *, key: str = "") -> Transaction:
        """Enter that an owner was paid."""
        transfer = Transfer(user_id=user_id, amount_micros=amount_micros)
        return self._create(Transaction, "/v1/payouts", transfer, key)

    def refund(self, user_id: str, amount_micros: int, *, key: str = "") -> Transaction:
        """Enter that a consumer was paid unspent money back."""
        transfer = Transfer(user_id=user_id, amount_micros=amount_micros)
        return self._create(Transaction, "/v1/refunds", transfer, key)

    def statement(self, after: str | None = None, limit: int = 50) -> Statement:
        """A page of the caller's postings."""
        return self.ask(Statement, "GET", "/v1/statement", params=page_of(after, limit))

    def transfers(self, after: str | None = None, limit: int = 50) -> TransferPage:
        """A page of deposits, payouts, refunds and reversals, newest first."""
        return self.ask(TransferPage, "GET", "/v1/transfers", params=page_of(after, limit))

    def reverse(self, transaction_id: str) -> Transaction:
        """Undo a deposit, a payout or a refund by an entry that mirrors it, once."""
        return self.ask(Transaction, "POST", f"/v1/transfers/{transaction_id}/reversal")

    def payables(self, after: str | None = None, limit: int = 50) -> PayablePage:
        """A page of owners with money to come."""
        return self.ask(PayablePage, "GET", "/v1/payables", params=page_of(after, limit))

    def trial_balance(self) -> TrialBalance:
        """The books."""
        return self.ask(TrialBalance, "GET", "/v1/trial-balance")

    # Rounds

    def forecast(self, request: ForecastRequest) -> Forecast:
        """What a plan would buy."""
        return self.ask(Forecast, "POST", "/v1/forecast", body=request)

    def draft(self, plan: RoundPlan, *, key: str = "") -> Round:
        """Draft a round."""
        return self._create(Round, "/v1/rounds", plan, key)

    def change_draft(self, round_id: str, plan: RoundPlan) -> Round:
        """Put another plan in the place of a draft's."""
        return self.ask(Round, "PUT", f"/v1/rounds/{round_id}/plan", body=plan)

    def rounds(self, state: RoundState | None = None, after: str | None = None, limit: int = 50) -> RoundPage:
        """A page of rounds."""
        wanted = {"state": state} if state else {}
        return self.ask(RoundPage, "GET", "/v1/rounds", params={**page_of(after, limit), **wanted})

    def all_rounds(self) -> Iterator[RoundSummary]:
        """Every round, newest first."""
        return paged(lambda after: self.rounds(after=after, limit=200))

    def round(self, round_id: str) -> Round:
        """One round."""
        return self.ask(Round, "GET", f"/v1/rounds/{round_id}")

    def open(self, round_id: str) -> Round:
        """Open a round for bids."""
        return self.ask(Round, "POST", f"/v1/rounds/{round_id}/open")

    def clear(self, round_id: str) -> Round:
        """Turn bids into offers."""
        return self.ask(Round, "POST", f"/v1/rounds/{round_id}/clear")

    def reveal_nonce(self, round_id: str, nonce: str) -> Round:
        """Tell the nonce that the plan was committed to, in hexadecimal."""
        return self.ask(Round, "POST", f"/v1/rounds/{round_id}/nonce", body=NonceReveal(nonce=nonce))

    def next_stage(self, round_id: str) -> Round:
        """Ask the next stage of a round that asks about sides."""
        return self.ask(Round, "POST", f"/v1/rounds/{round_id}/next-stage")

    def settle(self, round_id: str) -> Round:
        """Answer and pay."""
        return self.ask(Round, "POST", f"/v1/rounds/{round_id}/settle")

    def cancel(self, round_id: str) -> Round:
        """Call a round off."""
        return self.ask(Round, "POST", f"/v1/rounds/{round_id}/cancel")

    def answer(self, round_id: str) -> AnswerMessage:
        """What a round found."""
        return self.ask(AnswerMessage, "GET", f"/v1/rounds/{round_id}/answer")

    # Owners

    def notices(self, after: str | None = None, limit: int = 50) -> NoticePage:
        """A page of rounds to bid in."""
        return self.ask(NoticePage, "GET", "/v1/notices", params=page_of(after, limit))

    def notice(self, round_id: str) -> RoundNotice:
        """One round as owners see it."""
        return self.ask(RoundNotice, "GET", f"/v1/notices/{round_id}")

    def place_bid(self, round_id: str, bid: Bid, *, after: int | None = None) -> BidReceipt:
        """Bid; ``after``: the time of the caller's last withdrawal, 0 for none, and not after a later one."""
        which = {} if after is None else {"after": after}
        return self.ask(BidReceipt, "PUT", f"/v1/rounds/{round_id}/bid", body=bid, params=which)

    def bid(self, round_id: str) -> BidReceipt:
        """The caller's own bid."""
        return self.ask(BidReceipt, "GET", f"/v1/rounds/{round_id}/bid")

    def withdraw_bid(self, round_id: str, *, placed_at_ms: int | None = None) -> Withdrawal:
        """Take back the caller's own bid, until bids close; ``placed_at_ms``: the bid of that receipt and no other."""
        which = {} if placed_at_ms is None else {"placed_at_ms": placed_at_ms}
        return self.ask(Withdrawal, "DELETE", f"/v1/rounds/{round_id}/bid", params=which)

    def mine(self, round_id: str) -> MyRound:
        """Everything that the market has of the caller in a round."""
        return self.ask(MyRound, "GET", f"/v1/rounds/{round_id}/mine")

    def offer(self, round_id: str) -> Offer:
        """The caller's own offer."""
        return self.ask(Offer, "GET", f"/v1/rounds/{round_id}/offer")

    def submit_report(self, round_id: str, report: Report) -> ReportReceipt:
        """Report."""
        return self.ask(ReportReceipt, "PUT", f"/v1/rounds/{round_id}/report", body=report)

    def report(self, round_id: str) -> ReportReceipt:
        """The caller's own report."""
        return self.ask(ReportReceipt, "GET", f"/v1/rounds/{round_id}/report")

    def health(self) -> Health:
        """Whether the market can serve."""
        return self.ask(Health, "GET", "/healthz")

    def _create(self, kind: type[Answer], path: str, body: Message, key: str) -> Answer:
        return self.ask(kind, "POST", path, body=body, key=key or secrets.token_urlsafe(24))
