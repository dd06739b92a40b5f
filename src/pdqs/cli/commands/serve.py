"""``pdqs serve``: run the market."""

from __future__ import annotations

from typing import Annotated

import typer


def run(
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port to listen on; 0 is any free one.")] = 8000,
    database: Annotated[
        str, typer.Option(help="sqlite:///FILE or postgresql://...; by default a file in this directory.")
    ] = "",
    link: Annotated[
        bool | None,
        typer.Option(
            "--link/--no-link",
            help="Print a one-time link that signs the operator in; by default to a terminal, and at the first start.",
        ),
    ] = None,
) -> None:
    import dataclasses
    import sys

    from pdqs.market.http.app import create_app
    from pdqs.market.http.observe import log_to_stderr
    from pdqs.market.http.serving import address_of, listening_socket, server_of
    from pdqs.market.people import first_operator, is_new
    from pdqs.market.settings import Settings

    settings = Settings.from_environment()
    if database:
        settings = dataclasses.replace(settings, database_url=database)
    bound = listening_socket(host, port)
    app = create_app(settings)
    address = address_of(bound)
    print(f"The market is at {address} (API: {address}/docs)", flush=True)
    if link is None:  # what is no terminal may be a log, which many read and nobody empties
        link = sys.stdout.isatty() or is_new(app.state.market)
    if link:
        code = first_operator(app.state.market).code
        print(f"Operator, once: {settings.public_url.rstrip('/') or address}/enter#{code}", flush=True)
    log_to_stderr()
    server_of(app).run(sockets=[bound])
