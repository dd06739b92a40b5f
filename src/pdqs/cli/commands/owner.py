"""``pdqs owner``: take part in a market as a data owner, from this device."""

from __future__ import annotations

import os
import sys
import textwrap
import time
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from pdqs.owner.client import OwnerClient
    from pdqs.owner.ledger import Ledger
    from pdqs.owner.review import Device, Review
    from pdqs.protocol.device_messages import DomainMessage, RoundNotice

run = typer.Typer(
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    help="Take part in a market as a data owner. Your value never leaves this device; a randomised report does.",
)


@run.callback(invoke_without_command=True)
def _words(context: typer.Context) -> None:
    if context.invoked_subcommand is None:
        print(context.get_help())


def _default_file() -> Path:
    home = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(os.environ.get("PDQS_DEVICE") or Path(home) / "pdqs" / "device.sqlite")


File = Annotated[
    Path | None, typer.Option("--device", help="This device's own file.", envvar="PDQS_DEVICE", show_default=False)
]
Market = Annotated[str, typer.Option("--market", help="The market's address, if you are enrolled in several.")]


@run.command()
def enrol(
    address: Annotated[str, typer.Argument(help="The market's address, e.g. http://127.0.0.1:8000")],
    code: Annotated[str, typer.Argument(help="The one-time code you were given.")],
    device: File = None,
) -> None:
    """Exchange a one-time code for this device's access to a market."""
    from pdqs.owner.client import OwnerClient

    market = address.rstrip("/")
    with _ledger(device) as ledger:
        with OwnerClient(market) as client:
            token = client.redeem(code)
        with OwnerClient(market, token) as client:
            account = client.account().user
        ledger.enrol(market, account.name, token)
    print(f"Enrolled in {market} as {account.name}.")


@run.command(name="list")
def list_rounds(market: Market = "", device: File = None) -> None:
    """The rounds you may bid in or have bid in."""
    from pdqs.present.text import table

    with _ledger(device) as ledger, _connected(ledger, market) as (address, client):
        rows = [
            (notice.round_id, notice.state, notice.question.text or "(no text)", _standing(ledger, address, notice))
            for notice in client.notices()
        ]
        balance = client.account().balance_micros
    print(table(("round", "state", "question", "you"), rows) if rows else "No rounds are open.")
    print(f"The market owes you {_money(balance)}.")


@run.command()
def bid(
    round_id: Annotated[str, typer.Argument(metavar="ROUND")],
    price: Annotated[str, typer.Argument(help="Your price in money for one unit of epsilon.")],
    market: Market = "",
    device: File = None,
) -> None:
    """Name your price in a round. It stands once the market has acknowledged it."""
    from pdqs.owner.errors import DeviceError

    asked = _micros(price)
    with _ledger(device) as ledger, _connected(ledger, market) as (address, client):
        kept = _device(address, ledger).bid(client.notice(round_id), asked)
        if kept.bid_micros != asked:
            raise DeviceError(f"your bid of {_money(kept.bid_micros)} stands in this round and cannot be changed")
        client.send_bid(round_id, kept.body)
        ledger.acknowledge("bids", address, round_id)
    print(f"Your bid of {_money(kept.bid_micros)} per unit of epsilon stands in round {round_id}.")


@run.command()
def report(
    round_id: Annotated[str, typer.Argument(metavar="ROUND")],
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask before sending.")] = False,
    market: Market = "",
    device: File = None,
) -> None:
    """Look at your offer and report. Your answer is asked for here, randomised here, and kept nowhere."""
    from pdqs.owner.errors import CapReached

    with _ledger(device) as ledger, _connected(ledger, market) as (address, client):
        stored = ledger.report(address, round_id)
        if stored is None:
            owners_device = _device(address, ledger)
            review = owners_device.review(client.notice(round_id), client.offer(round_id))
            print(_shown(review))
            if review.offer.q_numerator == 0:
                print("Nothing is asked of you in this round and nothing is paid: there is nothing to report.")
                return
            if not review.within_cap:
                raise CapReached("this would pass your own lifetime cap: nothing was drawn and nothing was sent")
            value = _asked(review.offer.question.domain)
            if not yes:
                typer.confirm("Randomise your answer and send the report?", abort=True)
            stored = owners_device.report(review, value, now_ms=time.time_ns() // 1_000_000)
        else:
            print("This round's report was drawn before; the same bytes are sent again.")
        print(f"Leaves this device: {stored.body.decode()}")
        receipt = client.send_report(round_id, stored.body)
        ledger.acknowledge("reports", address, round_id)
    print(f"The market has your report; {_money(receipt.payment_micros)} follows when the round is settled.")


@run.command()
def privacy(
    cap: Annotated[list[str] | None, typer.Option(help="Set a lifetime cap: ATTRIBUTE=EPSILON.")] = None,
    device: File = None,
) -> None:
    """Privacy spent per attribute, against your lifetime caps, and everything that ever left this device."""
    from pdqs.owner.price import NANOS_PER_EPSILON
    from pdqs.present.text import table

    with _ledger(device) as ledger:
        for setting in cap or []:
            name, _, amount = setting.partition("=")
            ledger.set_cap(name, int(_decimal(amount, "cap") * NANOS_PER_EPSILON))
        spent = [
            (s.attribute, *(f"{n / NANOS_PER_EPSILON:.4f}" for n in (s.spent_nanos, s.cap_nanos, s.left_nanos)))
            for s in ledger.all_spending()
        ]
        sent = [(r.round_id, r.attribute, r.body.decode()) for r in ledger.reports()]
    print(table(("attribute", "spent", "cap", "left"), spent) if spent else "No privacy has been spent.")
    if sent:
        print("\nWhat left this device:\n" + table(("round", "attribute", "bytes"), sent))


@contextmanager
def _ledger(path: Path | None) -> Iterator[Ledger]:
    from pdqs.owner.ledger import Ledger

    ledger = Ledger(path or _default_file())
    try:
        yield ledger
    finally:
        ledger.close()


@contextmanager
def _connected(ledger: Ledger, market: str) -> Iterator[tuple[str, OwnerClient]]:
    """The market meant, and a connection to it."""
    from pdqs.owner.client import OwnerClient
    from pdqs.owner.errors import DeviceError

    known = ledger.markets()
    wanted = market.rstrip("/") or (next(iter(known)) if len(known) == 1 else "")
    if wanted not in known:
        listed = ", ".join(known) or "none"
        raise DeviceError(f"say which market with --market (enrolled in: {listed}), or enrol with pdqs owner enrol")
    with OwnerClient(wanted, known[wanted]) as client:
        yield wanted, client


def _device(address: str, ledger: Ledger) -> Device:
    from pdqs.owner.review import Device

    return Device(market=address, ledger=ledger)


def _standing(ledger: Ledger, address: str, notice: RoundNotice) -> str:
    if ledger.report(address, notice.round_id) is not None:
        return "reported"
    made = ledger.bid(address, notice.round_id)
    return f"bid {_money(made.bid_micros)}" if made else ""


def _shown(review: Review) -> str:
    from pdqs.owner.price import NANOS_PER_EPSILON

    question, spending = review.offer.question, review.spending
    return "\n".join(
        (
            f"Question   {question.text or '(no text)'}",
            f"Answers    {_answers(question.domain)}",
            f"You asked  {_money(review.bid_micros)} per unit of epsilon",
            f"Payment    {_money(review.offer.payment_micros)} (your price comes to"
            f" {_money(review.least_payment_micros)}: checked)",
            f"Privacy    epsilon {review.epsilon:.6f} (recomputed here)",
            *(f"           {line}" for line in textwrap.wrap(review.meaning, 90)),
            f"Ledger     {question.attribute}: {spending.spent_nanos / NANOS_PER_EPSILON:.4f} spent,"
            f" {review.after_nanos / NANOS_PER_EPSILON:.4f} after, cap {spending.cap_nanos / NANOS_PER_EPSILON:.4f}",
            f"Terms      {review.offer.terms_hash} (hash checked)",
        )
    )


def _answers(domain: DomainMessage) -> str:
    return "yes or no" if domain.kind == "binary" else str(domain.domain())


def _asked(domain: DomainMessage) -> object:
    """The owner's answer, asked for rather than passed as an argument, so that no shell history keeps it."""
    from pdqs.owner.errors import OfferRefused

    hidden = sys.stdin.isatty()
    text = str(typer.prompt("Your true answer (stays on this device)", hide_input=hidden)).strip()
    if domain.kind == "categories":
        return text
    words = {"yes": 1.0, "no": 0.0} if domain.kind == "binary" else {}
    try:
        return words.get(text.lower()) if text.lower() in words else float(text)
    except ValueError:
        raise OfferRefused(f"your answer is not one that the question allows ({_answers(domain)})") from None


def _decimal(text: str, what: str) -> Decimal:
    from pdqs.owner.errors import DeviceError

    try:
        amount = Decimal(text)
    except InvalidOperation:
        amount = Decimal("NaN")
    if not (amount.is_finite() and 0 <= amount <= 10**6):
        raise DeviceError(f"{what}: {text!r} is not a number between 0 and 1,000,000")
    return amount


def _micros(price: str) -> int:
    from pdqs.model.money import parse_money

    return parse_money(price, "price")


def _money(micros: int) -> str:
    from pdqs.model.money import exact_money

    return exact_money(micros)
