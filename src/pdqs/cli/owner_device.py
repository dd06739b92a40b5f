"""This device as the commands of ``pdqs owner`` find it: its file, the market meant, a person who can be asked."""

from __future__ import annotations

import os
import re
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from pdqs.owner.ledger import Ledger
    from pdqs.owner.visit import Visit
    from pdqs.protocol.market_messages import User

File = Annotated[
    Path | None, typer.Option("--device", help="This device's own file.", envvar="PDQS_DEVICE", show_default=False)
]
Market = Annotated[str, typer.Option("--market", help="The market's address, if you are enrolled in several.")]


def _round_id(text: str) -> str:
    from pdqs.owner.client import is_round_id
    from pdqs.owner.errors import DeviceError

    # The address of the round's page will do: its id is the last part of it.
    found = re.split("[?#]", text.strip())[0].rstrip("/").rpartition("/")[2] if "://" in text else text.strip()
    if not is_round_id(found):
        raise DeviceError(f"{text!r} is not a round's id: copy all of it from pdqs owner list")
    return found


RoundId = Annotated[
    str, typer.Argument(metavar="ROUND", help="A round's id, from the list, or its page.", callback=_round_id)
]


@contextmanager
def open_ledger(path: Path | None, *, make: bool = False) -> Iterator[Ledger]:
    """The device's file, open. Unless it is to be made there must be one: a mistyped name is no new device."""
    from pdqs.owner.ledger import Ledger

    file = path or device_file()
    if not make:
        _refuse_missing(file)
    ledger = Ledger(file)
    try:
        yield ledger
    finally:
        ledger.close()


def _refuse_missing(file: Path) -> None:
    from pdqs.owner.errors import DeviceError

    with suppress(OSError):  # what cannot be looked at is worded by whoever opens it
        try:
            file.stat()
        except (FileNotFoundError, NotADirectoryError):
            raise DeviceError(
                f"there is no device at {file}, and this command makes none: name its file with --device, or begin with"
                " pdqs owner enrol ADDRESS CODE"
            ) from None


def device_file() -> Path:
    """This device's own file, unless another is named."""
    home = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(os.environ.get("PDQS_DEVICE") or Path(home) / "pdqs" / "device.sqlite")


@contextmanager
def visiting(ledger: Ledger, market: str) -> Iterator[Visit]:
    """This device at the market meant, with a connection to it."""
    from pdqs.owner.addresses import one_address
    from pdqs.owner.client import OwnerClient
    from pdqs.owner.errors import DeviceError
    from pdqs.owner.review import Device
    from pdqs.owner.visit import Visit

    known = ledger.markets()
    wanted = one_address(market.strip()) or (next(iter(known)) if len(known) == 1 else "")
    if not known:
        raise DeviceError("this device is enrolled in no market yet: pdqs owner enrol ADDRESS CODE")
    if wanted not in known:
        said = f"this device is not enrolled in {wanted}" if wanted else "say which market with --market"
        raise DeviceError(f"{said} (enrolled in: {', '.join(known)})")
    with as_the_market_said(), _let_in_by(wanted), OwnerClient(wanted, known[wanted]) as client:
        if not ledger.has_name(wanted):
            _name_owner(ledger, wanted, known[wanted], client.account().user)
        yield Visit(device=Device(market=wanted, ledger=ledger), client=client, clock=now_ms)


@contextmanager
def _let_in_by(market: str) -> Iterator[None]:
    """Where the market takes this device's token no more: what may have happened, and what to do."""
    from pdqs.owner.errors import DeviceError
    from pdqs.protocol.problems import ProblemType, UnauthorizedError

    try:
        yield
    except UnauthorizedError as fault:
        if fault.type is not ProblemType.BAD_TOKEN:
            raise
        raise DeviceError(
            f"{market} no longer lets this device in: a newer code of yours was used somewhere, its sign-in was ended,"
            " or your account was closed. Ask whoever runs the market; with a fresh code of yours, pdqs owner enrol"
            " lets it in again. What is kept here stays"
        ) from None


def _name_owner(ledger: Ledger, market: str, token: str, user: User) -> None:
    """Keep whose a token is that was kept without asking, as was done once when the line broke after the code was used.

    Where bids were made from here by somebody else, nothing goes on in her name.
    """
    from pdqs.owner.errors import DeviceError
    from pdqs.present.text import quoted

    known_as = ledger.account().known_as(market)
    if known_as and user.user_id not in known_as:
        raise DeviceError(
            f"the last code that was used here for {market} was for {quoted(user.name)}, and the bids of this device"
            " there are somebody else's: whoever made them needs a code of her own (pdqs owner enrol), and"
            f" {quoted(user.name)} a code to use with a file of its own (--device)"
        )
    ledger.enrol(market, user.name, token, user.user_id)
    print(f"Enrolled in {market} as {quoted(user.name)}.", file=sys.stderr)


@contextmanager
def as_the_market_said() -> Iterator[None]:
    """An error whose words are the market's is told as that: it is not to pass for what the device says."""
    from pdqs.present.text import quoted
    from pdqs.protocol.problems import MarketError, ProblemType

    try:
        yield
    except MarketError as fault:
        if fault.type in (ProblemType.UNREACHABLE, ProblemType.BAD_ANSWER):  # these the device words itself
            raise
        raise type(fault)(fault.type, f"the market said: {quoted(str(fault))}") from None


def now_ms() -> int:
    """This machine's clock."""
    return time.time_ns() // 1_000_000


@contextmanager
def told_if_unsure(sentence: str, *, however: bool = False) -> Iterator[None]:
    """Where Ctrl-C comes in the middle of sending, or no answer does that says what became of it: what to know.

    ``however``: also where the answer is a refusal.
    """
    from pdqs.model.errors import PdqsError
    from pdqs.protocol.problems import MarketError, ProblemType

    unsure = {ProblemType.UNREACHABLE, ProblemType.BAD_ANSWER, ProblemType.UNAVAILABLE, ProblemType.FAULT}
    try:
        yield
    except (KeyboardInterrupt, PdqsError) as fault:
        is_open = not isinstance(fault, PdqsError) or (isinstance(fault, MarketError) and fault.type in unsure)
        if however or is_open:
            print(f"\n{sentence}", file=sys.stderr)
        raise


def someone_is_there() -> bool:
    """Whether a person can be asked."""
    return sys.stdin.isatty()


def agreed_ahead(names: list[str] | None) -> frozenset[str]:
    """What she agrees to before it is asked, by name."""
    from pdqs.owner.asks import NAMES
    from pdqs.owner.errors import DeviceError

    for name in names or ():
        if name not in NAMES:
            raise DeviceError(f"--agree {name!r} is nothing that is asked: {', '.join(map(repr, NAMES))}")
    return frozenset(names or ())


def agreed(question: str, otherwise: str) -> None:
    """Ask a person; unless she says yes, say what that means and end."""
    with asking(otherwise):
        says_yes = typer.confirm(question)
    if not says_yes:
        print(otherwise)
        raise typer.Exit(1)


@contextmanager
def asking(otherwise: str) -> Iterator[None]:
    """Where what is typed comes to an end and no person is there, say what that means."""
    from pdqs.owner.errors import OwnerMustAgree

    try:
        yield
    except typer.Abort:
        if someone_is_there():
            raise
        print()
        raise OwnerMustAgree(f"nobody is here to be asked: {otherwise[0].lower()}{otherwise[1:].rstrip('.')}") from None
