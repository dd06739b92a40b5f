"""``pdqs market``: operate and simulate a running market."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pdqs.cli.market_options import Config, Database, browsers, kept_in, settings_given
from pdqs.cli.shared_options import Json

if TYPE_CHECKING:
    from pdqs.market import Settings
    from pdqs.market.client import MarketClient
    from pdqs.market.simulation import Simulated
    from pdqs.market.store.database import Store

run = typer.Typer(
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    no_args_is_help=True,
    help="Operate and simulate a running market.",
)


@run.command()
def simulate(
    owners: Annotated[int, typer.Option(min=2, max=100_000, help="How many owners take part.")] = 500,
    link: Annotated[
        str, typer.Option(help="The one-time operator link of a running server; by default one is started for this.")
    ] = "",
    budget: Annotated[
        float, typer.Option(min=0, max=1e6, help="What the consumer pays at most; 0: 0.3 an owner, and 1 at least.")
    ] = 0.0,
    query: Annotated[
        str, typer.Option(help="count (of owners whose answer is 1), or median or mean (of ages).")
    ] = "count",
    share: Annotated[float, typer.Option(min=0, max=1, help="The share of owners whose answer is 1.")] = 0.3,
    bid_seconds: Annotated[int, typer.Option(min=0, max=31_536_000, help="How long bids are taken; 0: as needed.")] = 0,
    seed: Annotated[
        int, typer.Option(min=0, help="Of values and prices; coins are always the operating system's.")
    ] = 1,
    json: Json = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask before a running market is used.")] = False,
    among_people: Annotated[
        bool, typer.Option("--among-people", help="Use a running market though real people are in it.")
    ] = False,
    leave: Annotated[
        bool, typer.Option("--leave", help="Leave simulated people and their money in a running market.")
    ] = False,
) -> None:
    """Run a whole round with simulated owners over HTTP, and show the answer beside the simulated truth.

    In a running market (--link) it lets in people and enters a deposit that there are not: it asks first, is refused
    where real people are, keeps its owners in a group of their own, and takes all of it out again afterwards.
    """
    from pdqs.cli.simulating import agreed, refuse_among_people, taken_apart
    from pdqs.market.simulation import QUERIES
    from pdqs.market.simulation import simulate as simulated
    from pdqs.model.errors import InputError

    if query not in QUERIES:
        raise InputError(f"what can be simulated is one of {', '.join(QUERIES)}, got {query!r}")
    if 0 < budget < 1e-6:
        raise InputError(f"--budget {budget:g} is less than any money: give 0.000001 or more")
    budget = budget or max(1.0, 0.3 * owners)
    if link and not yes and not agreed(taken_apart(link)[0], owners, budget):
        raise typer.Exit(1)
    with _ended_in_order(), _operator(link) as (address, operator):
        if link and not among_people:
            refuse_among_people(operator)
        found = simulated(
            address,
            operator,
            owners=owners,
            budget=budget,
            as_guest=bool(link),
            leave=leave,
            share=share,
            query=query,
            bid_seconds=bid_seconds or None,
            seed=seed,
            say=lambda line: None if json else print(line, file=sys.stderr, flush=True),
        )
    print(_json(found) if json else found)


@run.command()
def operator(
    database: Database = None,
    config: Config = "",
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask, though the operator is signed in somewhere.")] = False,
) -> None:
    """Print a fresh one-time code for the operator, for whoever can reach the database.

    Every browser that is signed in as the operator is signed out, and a code that was not used yet no longer works. API
    tokens and passkeys stay. To a person at a terminal that is said first; scripts are told afterwards.
    """
    from pdqs.market import Market
    from pdqs.market.people import first_operator, first_operator_pages

    settings = settings_given(config, database_url=database)
    missing = _missing_file(settings)
    with _up_to_date(settings) as (store, _):
        market = Market(store=store, settings=settings)
        if missing:
            print(
                f"There was no market in {missing}, and a new one was made: --database names another.", file=sys.stderr
            )
        pages = first_operator_pages(market)
        if pages and not yes and sys.stdin.isatty():
            is_in = f"{browsers(pages)} signed in as the operator and will be signed out."
            # Not by typer, which writes a part of its questions to standard output: that is for the code alone.
            print(f"{is_in} Make a fresh code? [y/N]: ", end="", file=sys.stderr, flush=True)
            if sys.stdin.readline().strip().lower() not in ("y", "yes"):
                print("No code was made, and nobody was signed out.", file=sys.stderr)
                raise typer.Exit(1)
        print(first_operator(market).code)
        if pages:
            print(f"{browsers(pages, past=True)} signed in as the operator and signed out by it.", file=sys.stderr)


@run.command()
def groups(
    add: Annotated[
        Path | None,
        typer.Option(help="A CSV file with the columns user_id and group: puts these owners into these groups."),
    ] = None,
    database: Database = None,
    config: Config = "",
) -> None:
    """Show the groups of owners and how many are in each, for whoever can reach the database."""
    from pdqs.market import Market
    from pdqs.market.group_files import add_from
    from pdqs.market.groups import all_groups
    from pdqs.market.people import the_server

    settings = settings_given(config, database_url=database)
    with _up_to_date(_there(settings)) as (store, _):
        market = Market(store=store, settings=settings)
        if add is not None:
            count = add_from(market, the_server(), add)
            print(f"{count:,} {'owner was' if count == 1 else 'owners were'} put into groups.", file=sys.stderr)
        for group in all_groups(market, the_server()).items:
            print(f"{group.owners:>8,}  {group.name}")


@run.command(name="migrate")
def migrate_database(database: Database = None, config: Config = "") -> None:
    """Bring a database up to date; pdqs serve does so by itself."""
    with _up_to_date(_there(settings_given(config, database_url=database))) as (_, revision):
        print(f"The database is at revision {revision}.")


@run.command()
def restored(
    database: Database = None,
    config: Config = "",
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask before every sign-in is ended.")] = False,
    while_served: Annotated[
        bool, typer.Option("--while-served", help="Do it although the market is being served.")
    ] = False,
) -> None:
    """After a backup was put back: end every sign-in that came back with it, and say what has to be entered again.

    Run it before the market is served; one that is being served is refused. Who was shut out since the backup, codes
    that were used and tokens that were ended would be good again; everyone needs a fresh code afterwards, the operator
    by pdqs market operator.
    """
    from pdqs.cli.restored_words import AGAIN, moments
    from pdqs.market import Market
    from pdqs.market.restoring import end_every_sign_in, last_known
    from pdqs.model.errors import InputError

    settings = settings_given(config, database_url=database)
    with _up_to_date(_there(settings)) as (store, _), nullcontext() if while_served else _to_itself(store):
        market = Market(store=store, settings=settings)
        print(moments(last_known(market)))
        if not yes:
            if not sys.stdin.isatty():
                raise InputError("nobody is here to be asked, so no sign-in was ended: --yes ends them")
            if not typer.confirm("End every sign-in, of operators too?"):
                print("No sign-in was ended.")
                raise typer.Exit(1)
        people = end_every_sign_in(market)
    print(f"The sign-ins of {people:,} {'person' if people == 1 else 'people'} were ended.\n\n{AGAIN}")


@contextmanager
def _to_itself(store: Store) -> Iterator[None]:
    """Have a market that nobody serves; whoever does this beside a server must say so."""
    from pdqs.market.store.unserved import kept_unserved
    from pdqs.model.errors import FileError, InputError

    with ExitStack() as held:
        try:
            held.enter_context(kept_unserved(store))
        except FileError as fault:
            raise InputError(f"{fault}; --while-served does it all the same") from None
        yield


def _missing_file(settings: Settings) -> str:
    """The SQLite file of the settings, if it is not there yet: its name may be mistyped."""
    file = kept_in(settings.database_url)
    return file if file is not None and not Path(file).exists() else ""


def _there(settings: Settings) -> Settings:
    """The settings of a market that is there; one that is not is refused, not made."""
    from pdqs.model.errors import InputError

    if missing := _missing_file(settings):
        raise InputError(f"there is no market in {missing!r}: --database names another place")
    return settings


@contextmanager
def _up_to_date(settings: Settings) -> Iterator[tuple[Store, str]]:
    """The database of the settings, migrated, and the revision it is at."""
    from sqlalchemy.exc import DBAPIError

    from pdqs.market.store import migrate
    from pdqs.market.store.away import is_away, why_away
    from pdqs.market.store.database import open_store
    from pdqs.model.errors import FileError

    store = open_store(settings.database_url)
    try:
        yield store, migrate.upgrade(store)
    except DBAPIError as fault:
        if not is_away(fault):
            raise
        raise FileError(f"the database cannot be used: {why_away(fault, store.engine.url)}") from None
    finally:
        store.close()


def _json(found: Simulated) -> str:
    import json

    figures = found.answer.model_dump()
    return json.dumps({**figures, "truth": found.truth, "covered": found.covered, "books_balance": found.books_balance})


@contextmanager
def _ended_in_order() -> Iterator[None]:
    """Whoever ends this program from outside (systemd, `timeout`, a terminal that closes) has it clear away first."""
    import signal
    from types import FrameType

    def told(number: int, _frame: FrameType | None) -> None:
        raise SystemExit(128 + number)

    before = {number: signal.signal(number, told) for number in (signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def _operator(link: str) -> Iterator[tuple[str, MarketClient]]:
    """The operator of the server behind the link, or of one that lives as long as this command."""
    from pdqs.cli.simulating import taken_apart
    from pdqs.market import Settings
    from pdqs.market.client import MarketClient
    from pdqs.market.http.app import create_app
    from pdqs.market.http.serving import served
    from pdqs.market.round_steps import first_operator

    if link:
        address, code = taken_apart(link)
        with MarketClient.enter(address, code) as client:
            yield address, client
        return
    with tempfile.TemporaryDirectory(prefix="pdqs-market-") as directory:
        settings = Settings(
            database_url=f"sqlite:///{directory}/market.db", caller_rate=10_000.0, address_rate=10_000.0
        )
        app = create_app(settings)
        with served(app) as address, MarketClient.enter(address, first_operator(app.state.market).code) as client:
            yield address, client
