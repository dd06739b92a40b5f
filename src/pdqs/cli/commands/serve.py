"""``pdqs serve``: run the market."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from pdqs.cli.market_options import Config, Database, kept_in

if TYPE_CHECKING:
    import socket

    from fastapi import FastAPI

    from pdqs.market.settings import Settings


def run(
    host: Annotated[str | None, typer.Option(help="Address to listen on; by default this machine only.")] = None,
    port: Annotated[
        int | None, typer.Option(min=0, max=65535, help="Port to listen on, by default 8000; 0 is any free one.")
    ] = None,
    database: Database = None,
    workers: Annotated[
        int | None, typer.Option(min=1, max=64, help="Processes that answer requests; more than one needs PostgreSQL.")
    ] = None,
    root_path: Annotated[
        str | None, typer.Option(help="The path that a proxy has the market under, such as /market.")
    ] = None,
    public_url: Annotated[
        str | None, typer.Option(help="The address that people type, such as https://market.example.")
    ] = None,
    config: Config = "",
    link: Annotated[
        bool | None,
        typer.Option(
            "--link/--no-link",
            help="Print a one-time link that signs the operator in, and out wherever she is in already; by default to a"
            " terminal, and at the first start.",
        ),
    ] = None,
) -> None:
    from pdqs.cli.market_options import settings_given
    from pdqs.market.http.serving import address_of, listening_socket
    from pdqs.market.store.database_url import read_url
    from pdqs.market.store.serving_lock import served_once

    settings = settings_given(
        config, host=host, port=port, database_url=database, workers=workers, root_path=root_path, public_url=public_url
    )
    several = read_url(settings.database_url).drivername != "sqlite"
    with (
        listening_socket(settings.host, settings.port, shared=several) as bound,
        served_once(settings.database_url, address_of(bound)),
    ):
        serve_on(settings, bound, link=link, several=several)


def serve_on(settings: Settings, bound: socket.socket, *, link: bool | None, several: bool) -> None:
    """Serve on a socket: by one process that does everything, or by ``several``."""
    import dataclasses

    from pdqs.market.http.app import create_app
    from pdqs.market.http.observe import log_to_stderr
    from pdqs.market.http.serving import address_of, run_for_good, server_of
    from pdqs.market.http.workers import serve_with_workers

    settings = dataclasses.replace(settings, port=bound.getsockname()[1])  # 0 was any free one
    here = address_of(bound) + settings.prefix
    address = settings.address if settings.public_url else here
    app = create_app(settings)
    behind = f"; requests are taken at {here}" if address != here else ""
    print(f"The market is at {address} (API: {address}/docs){behind}", flush=True)
    greet(app, address, link)
    if (kept := kept_in(settings.database_url)) is not None:
        print(f"The market is kept in {kept}; --database names another place", flush=True)
    log_to_stderr()
    if several:
        print("It answers once its workers have started, which takes some seconds", flush=True)
        app.state.market.store.close()
        serve_with_workers(settings)
    else:
        run_for_good(server_of(app), bound)


def greet(app: FastAPI, address: str, link: bool | None) -> None:
    """Print the operator's link where it belongs; without a database there is nobody to make one for."""
    import sys

    from pdqs.cli.market_options import browsers
    from pdqs.market.people import first_operator, first_operator_pages, is_new

    if not app.state.readiness.is_ready:
        print(f"The database cannot be used: {app.state.readiness.why_away}.", flush=True)
        print("Requests are answered by 503 until it can be; it is tried again every second.", flush=True)
        return
    if link is None:  # what is no terminal may be a log, which many read and nobody empties
        link = sys.stdout.isatty() or is_new(app.state.market)
    if link:
        pages = first_operator_pages(app.state.market)
        print(f"Operator, once: {address}/enter#{first_operator(app.state.market).code}", flush=True)
        if pages:
            print(f"{browsers(pages, past=True)} signed in as the operator and signed out by it.", flush=True)
