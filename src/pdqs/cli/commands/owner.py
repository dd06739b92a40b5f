"""``pdqs owner``: take part in a market as a data owner, from this device."""

from __future__ import annotations

import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pdqs.cli.owner_device import (
    File,
    Market,
    RoundId,
    agreed,
    agreed_ahead,
    asking,
    now_ms,
    open_ledger,
    someone_is_there,
    told_if_unsure,
    visiting,
)

if TYPE_CHECKING:
    from pdqs.model.errors import PdqsError
    from pdqs.owner.account import StoredReport
    from pdqs.owner.visit import Visit
    from pdqs.protocol.problems import MarketError

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


@run.command()
def enrol(
    address: Annotated[str, typer.Argument(help="The market's address, or the whole link that you were given.")],
    code: Annotated[str, typer.Argument(help="The one-time code you were given.", show_default=False)] = "",
    yes: Annotated[
        bool, typer.Option("--yes", help="Do not ask, though this device is enrolled there already.")
    ] = False,
    device: File = None,
) -> None:
    """Exchange a one-time code for this device's access to a market. A second person needs a file of her own."""
    from pdqs.cli.owner_enrolling import agreed_to_enrol_again, enrolled_before, redeemed, refuse_another
    from pdqs.cli.owner_typed import invitation_of
    from pdqs.present.text import quoted

    market, code = invitation_of(address, code)
    with open_ledger(device, make=True) as ledger:
        before = enrolled_before(ledger, market)
        if before is not None:
            agreed_to_enrol_again(market, before, yes=yes)
        ledger.ensure_writable()  # before the code is used up
        given = redeemed(market, code)
        if before is not None:
            refuse_another(market, before, given.user)
        ledger.enrol(market, given.user.name, given.token, given.user.user_id)
    print(f"Enrolled in {market} as {quoted(given.user.name)}.")


@run.command(name="list")
def list_rounds(market: Market = "", device: File = None) -> None:
    """The rounds you may bid in or have bid in, and what became of your reports. Ends with 1 where the market broke its
    word in one of them, or one could not be looked at."""
    from pdqs.cli.owner_rounds import looked_in_words, rounds_in_words
    from pdqs.protocol.problems import MarketError

    with open_ledger(device) as ledger, visiting(ledger, market) as visit:
        notices = visit.client.notices()
        looked = visit.look_over(notices, lambda: visit.client.account().balance_micros)
        found = looked_in_words(looked)
        try:
            shown = rounds_in_words(visit, ledger.account(), notices)
            balance = visit.client.account().balance_micros
        except MarketError:  # which hides nothing that was found
            print("".join(f"{line}\n" for line in found), end="")
            raise
    print(shown, *found, f"The market owes you {_money(balance)}.", sep="\n")
    if looked.faults or looked.unseen:
        raise typer.Exit(1)


@run.command()
def bid(
    round_id: RoundId,
    price: Annotated[str, typer.Argument(help="Your price in money for one unit of epsilon.")],
    yes: Annotated[bool, typer.Option("--yes", help="Show the terms, but do not ask before bidding.")] = False,
    market: Market = "",
    device: File = None,
) -> None:
    """Read a round's terms and name your price in it, or another while bids are open. You are asked before it is sent,
    and it stands once the market has signed for it."""
    from pdqs.cli.offer_words import terms_in_words
    from pdqs.cli.owner_typed import micros_of
    from pdqs.owner.errors import DeviceError
    from pdqs.owner.prospect import prospect_of

    asked = micros_of(price)
    if not yes and not someone_is_there():
        raise DeviceError("nobody is here to be asked, so nothing was bid: add --yes to bid on terms that you know")
    with open_ledger(device) as ledger, visiting(ledger, market) as visit:
        notice = visit.notice(round_id)
        print(terms_in_words(prospect_of(visit.device, notice, asked), now_ms()))
        if not yes:
            agreed(f"Do you want to bid {_money(asked)} per unit of epsilon?", "Nothing was bid.")
        with told_if_unsure(f"The bid may have been sent: pdqs owner withdraw {round_id} takes it back either way."):
            kept = visit.name_price(round_id, asked, seen_hash=notice.terms_hash)
    print(f"Your bid of {_money(kept.bid_micros)} per unit of epsilon stands in round {round_id}.")


@run.command()
def received(
    yes: Annotated[bool, typer.Option("--yes", help="You got all of them: do not ask.")] = False,
    market: Market = "",
    device: File = None,
) -> None:
    """Say which payouts came that the market says it made. Until you do, they are listed: no device can see them."""
    from pdqs.owner.statement import payout_in_words

    with open_ledger(device) as ledger, visiting(ledger, market) as visit:
        told, came = visit.payouts(), 0
        with asking("What you did not answer stays listed."):
            for each in told:
                if yes or typer.confirm(payout_in_words(each)):
                    visit.got(each)  # at once: what she said stands, should she say no more
                    came += 1
    print(f"Payouts that came: {came} of {len(told)}." if told else "No payout is waiting for your word.")


@run.command()
def withdraw(round_id: RoundId, market: Market = "", device: File = None) -> None:
    """Take your bid back while bids are open. Nothing was drawn and nothing is spent."""
    with open_ledger(device) as ledger, visiting(ledger, market) as visit:
        visit.withdraw_bid(round_id)
    print(f"You have no bid in round {round_id}.")


@run.command()
def report(
    round_id: RoundId,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask before sending.")] = False,
    agree: Annotated[
        list[str] | None,
        typer.Option(help="Agree ahead to 'new fact', 'elsewhere' and the like, by name; else you are asked."),
    ] = None,
    market: Market = "",
    device: File = None,
) -> None:
    """Look at your offer and report. Your answer is asked for here, randomised here, and kept nowhere."""
    ahead = agreed_ahead(agree)
    with open_ledger(device) as ledger, visiting(ledger, market) as visit:
        stored = visit.stored(round_id)
        if stored is None:
            stored = _drawn(visit, round_id, yes=yes, ahead=ahead)
            if stored is None:
                return
        else:
            print(f"This round's report was drawn before ({stored.facts}); the same bytes are sent again.")
            _print_refusals(stored)
        print(f"Leaves this device: {stored.body}")
        with told_if_unsure(
            "Your report is drawn, what it cost is charged, and the market has not confirmed it:"
            f" pdqs owner report {round_id} sends the same bytes again.",
            however=True,
        ):
            sent = visit.send(stored)
    print(f"The market signed for your report; {_money(sent.payment_micros)} follows when the round is settled.")


def _drawn(visit: Visit, round_id: str, *, yes: bool, ahead: frozenset[str]) -> StoredReport | None:
    """Show the offer, ask what must be asked, and draw; nothing when nothing is asked of her."""
    from pdqs.cli.offer_words import offer_in_words
    from pdqs.cli.owner_answer import answer_to
    from pdqs.owner.dealing import is_late, late_in_words
    from pdqs.owner.errors import CapReached, OfferRefused
    from pdqs.present.times import moment_text
    from pdqs.protocol.problems import NotFoundError

    try:
        review = visit.review(round_id)
    except NotFoundError as fault:
        raise _no_offer(visit, round_id, fault) from None
    print(offer_in_words(review))
    if review.offer.q_numerator == 0:
        print("Nothing is asked of you in this round and nothing is paid: there is nothing to report.")
        return None
    if is_late(review.offer) and not review.waits:
        raise OfferRefused(f"round {round_id}: {late_in_words(review.offer)}")
    if review.waits:
        closes = review.offer.reports_close_at_ms
        comes = moment_text(closes - 1000 * review.told.promise.report_seconds)
        until = moment_text(closes)
        print(f"Your question comes at {comes} at the latest, and can be answered until {until}: look again then.")
        return None
    if not review.within_cap:
        raise CapReached("this would pass your own lifetime cap: nothing was drawn and nothing was sent")
    for name, sentence in review.asks.items():
        if name not in ahead:
            agreed(sentence, _NOT_DRAWN)
    value = answer_to(review.asking.domain, _NOT_DRAWN)
    if not yes:
        agreed("Do you want to have your answer randomised and the report sent?", _NOT_DRAWN)
    return visit.draw(review, value, agreed=review.asks)


def _no_offer(visit: Visit, round_id: str, fault: MarketError) -> PdqsError:
    """Why there is nothing to report on, and what to do."""
    from pdqs.owner.errors import DeviceError
    from pdqs.present.times import moment_text
    from pdqs.protocol.problems import ProblemType

    if fault.type is not ProblemType.NO_OFFER:
        return fault
    notice = visit.notice(round_id)
    if notice.state != "open":
        return DeviceError(f"round {round_id} has no offer to you: you had no bid in it when bids closed")
    closes = moment_text(notice.bids_close_at_ms)
    return DeviceError(f"there are no offers in round {round_id} yet: they are made once bids are closed ({closes})")


@run.command()
def privacy(
    cap: Annotated[list[str] | None, typer.Option(help="Set a lifetime cap: ATTRIBUTE=EPSILON.")] = None,
    cap_overall: Annotated[str, typer.Option(help="Set the lifetime cap over all attributes together.")] = "",
    device: File = None,
) -> None:
    """Privacy spent per attribute and over all, against your lifetime caps, and everything that left this device."""
    from pdqs.cli.owner_typed import cap_nanos_of, cap_of
    from pdqs.owner.lifetime_cap import OVERALL
    from pdqs.present.text import table

    with open_ledger(device) as ledger:
        for setting in cap or []:
            ledger.set_cap(*cap_of(setting))
        if cap_overall:
            ledger.set_cap(OVERALL, cap_nanos_of(cap_overall))
        account = ledger.account()
    spent = [
        (s.attribute or "(all together)", *_epsilons(s.spent_nanos, s.cap_nanos, s.left_nanos))
        for s in [*account.all_spending(), account.spending(OVERALL)]
    ]
    sent = [(r.round_id, r.attribute, *_epsilons(r.epsilon_nanos), r.facts, r.body) for r in account.reports()]
    print(table(("attribute", "spent", "cap", "left"), spent))
    print("\nWhat left this device:\n" + table(_SENT, sent) if sent else "No privacy has been spent.")
    _print_refusals(*account.reports())


@run.command()
def export(
    out: Annotated[Path, typer.Argument(metavar="FILE", help="A new file: .json for data, .html for a page to read.")],
    device: File = None,
) -> None:
    """Write down everything that this device knows: what was asked, at which price and epsilon, sent and signed for."""
    from pdqs.owner.export import write_export

    with open_ledger(device) as ledger:
        write_export(out, ledger.account(), ledger.markets(), now_ms())
    print(f"Wrote {out}, for your eyes only.")


@run.command()
def proof(
    round_id: RoundId,
    out: Annotated[Path, typer.Option(help="The .json file to write; - prints it.")] = Path("-"),
    record: Annotated[Path | None, typer.Option(help="Fetch the round's record too, to this .json file.")] = None,
    market: Market = "",
    device: File = None,
) -> None:
    """Write what this device kept of a round, for pdqs verify RECORD --proof. It tells your name in the round."""
    from pdqs.owner.export import write_private
    from pdqs.owner.own_proof import proof_of
    from pdqs.tables.delimited import STANDARD

    with open_ledger(device) as ledger, visiting(ledger, market) as visit:
        said = sys.stderr if STANDARD in (out, record) else sys.stdout  # not among what is printed there
        write_private(out, proof_of(ledger.account(), visit.device.market, round_id).text() + "\n")
        if out != STANDARD:
            print(f"Wrote {out}, for your eyes only.", file=said)
        if record is not None:
            write_private(record, visit.client.record(round_id))
        if record not in (None, STANDARD):
            print(f"Wrote {record}.", file=said)


@run.command()
def page(
    port: Annotated[
        int, typer.Option(help="The port on this machine; keep to one, for the account belongs to it.")
    ] = 8017,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask, though it was at another port before.")] = False,
    once: Annotated[bool, typer.Option("--once", hidden=True, help="Say where it is and stop.")] = False,
) -> None:
    """Serve the browser's device from this machine, so that its code is yours and not a market's. A browser keeps an
    account for each port: you are asked before it is served at a new one."""
    from pdqs.cli.owner_page import agreed_to_port
    from pdqs.owner.bundle import PageServer, manifest_hash

    with PageServer(port) as server:
        if beside := agreed_to_port(server.server_port, yes=yes):
            print(beside)
        print(f"Your device is at {server.address} (manifest {manifest_hash()}). Ctrl-C ends it.")
        if not once:
            with suppress(KeyboardInterrupt):
                server.serve_forever()


@run.command()
def bundle(out: Annotated[Path, typer.Option(help="The folder to write to.")]) -> None:
    """Write the browser's device as files to be hosted anywhere, with a manifest of their SHA-256."""
    from pdqs.owner.bundle import write_bundle

    print(f"Wrote the device to {out}; the SHA-256 of its manifest is {write_bundle(out)}.")


def _print_refusals(*reports: StoredReport) -> None:
    """What the market said against reports, in lines of its own."""
    from pdqs.cli.owner_rounds import refusals_in_words

    for line in refusals_in_words(reports):
        print(line)


_NOT_DRAWN = "Nothing was drawn and nothing was sent."
_SENT = ("round", "attribute", "epsilon", "known", "bytes")


def _epsilons(*nanos: int) -> tuple[str, ...]:
    from pdqs.privacy.loss import NANOS_PER_EPSILON

    return tuple(f"{n / NANOS_PER_EPSILON:.4f}" for n in nanos)


def _money(micros: int) -> str:
    from pdqs.model.money import exact_money

    return exact_money(micros)
