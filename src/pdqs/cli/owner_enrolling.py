"""Before and after a one-time code is used up: whose device this is at that market, and whether it stays hers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, final

from pdqs.cli.owner_device import agreed, as_the_market_said, someone_is_there
from pdqs.owner.client import OwnerClient
from pdqs.owner.errors import DeviceError, OwnerMustAgree
from pdqs.present.text import quoted
from pdqs.protocol.problems import MarketError, NotFoundError, ProblemType

if TYPE_CHECKING:
    from pdqs.owner.ledger import Ledger
    from pdqs.protocol.market_messages import Token, User


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Earlier:
    """What this device had at a market before another code was used there."""

    name: str
    """Empty where the market does not tell: its token may have run out."""
    whose: str
    """Of the bids and reports that were made there from here, in words."""
    known_as: frozenset[str]
    has_traces: bool
    """Whether bids or reports were made there from here."""

    def is_other(self, user: User) -> bool:
        """Whether this is certainly somebody else."""
        return bool(self.known_as) and user.user_id not in self.known_as


def enrolled_before(ledger: Ledger, market: str) -> Earlier | None:
    """Who this device speaks for at a market by now, as far as can be known; None for nobody."""
    token = ledger.markets().get(market)
    if token is None:
        return None
    account = ledger.account()
    try:
        user = user_of(market, token)
    except MarketError:
        name, whose, known_as = "", "somebody else's", account.known_as(market)
    else:
        # Whose bids they are, the bids tell: the token may be another person's since.
        name, known_as = quoted(user.name), account.known_as(market) or frozenset({user.user_id})
        whose = f"{name}'s" if user.user_id in known_as else "somebody else's"
    has_traces = any(e["kind"] in ("bid", "drawn") and e["market"] == market for e in account.entries)
    return Earlier(name=name, whose=whose, known_as=known_as, has_traces=has_traces)


def user_of(market: str, token: str) -> User:
    """Who the market takes the bearer of a token for."""
    with as_the_market_said(), OwnerClient(market, token) as client:
        return client.account().user


def redeemed(market: str, code: str) -> Token:
    """The token that a code is good for, and whose it is; now the code is used up."""
    with as_the_market_said(), OwnerClient(market) as client:
        try:
            return client.redeem_as(code)
        except NotFoundError:
            raise DeviceError(f"there is no market at {market}: give its address alone") from None
        except MarketError as fault:
            if fault.type is ProblemType.WRONG_ROLE:  # in the client's own words
                raise DeviceError(str(fault)) from None
            raise


def agreed_to_enrol_again(market: str, before: Earlier, *, yes: bool) -> None:
    """Ask before the code is used up: a second person's would put her in the place of the first."""
    as_whom = f"as {before.name} " if before.name else ""
    said = f"this device is enrolled in {market} {as_whom}already: for a second person use a file of her own (--device)"
    if yes:
        return
    if not someone_is_there():
        raise OwnerMustAgree(f"{said}; nobody is here to be asked, so the code was not used: --yes if it is the same")
    agreed(
        f"{said[0].upper()}{said[1:]}. Is the code for {before.name or 'the same person'}?", "The code was not used."
    )


def refuse_another(market: str, before: Earlier, user: User) -> None:
    """Where bids or reports were made from here, the device stays hers who made them."""
    if not (before.has_traces and before.is_other(user)):
        return
    raise DeviceError(
        f"the code was for {quoted(user.name)}, and the bids and reports of this device in {market} are"
        f" {before.whose}: the device stays as it was, for what it tells and takes back would be"
        " wrong for both. The code is used up: ask for another, and use it with a file of its own (--device)"
    )
