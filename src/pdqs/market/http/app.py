"""The application: one market behind HTTP."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext
from http import HTTPStatus
from pathlib import Path

from anyio.to_thread import current_default_thread_limiter
from fastapi import APIRouter, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import PlainTextResponse, Response
from fastapi.staticfiles import StaticFiles
from sqlalchemy import func, select
from sqlalchemy.exc import DBAPIError, TimeoutError
from starlette.exceptions import HTTPException

from pdqs import __version__
from pdqs.market import pages, reads
from pdqs.market.clock_state import last_tick
from pdqs.market.context import Clock, Market, system_clock
from pdqs.market.http import draft_routes, group_routes, letter_routes, operator_routes, owner_routes, routes
from pdqs.market.http.changes import Changes
from pdqs.market.http.clock import ticking as clock_of
from pdqs.market.http.forms import OwnForms
from pdqs.market.http.limits import Gate
from pdqs.market.http.mounting import Mounted
from pdqs.market.http.observe import Metrics, Observer, log, where
from pdqs.market.http.origins import DeviceOrigins
from pdqs.market.http.readiness import AWAY, Readiness, WhenReady
from pdqs.market.http.refusals import is_a_person, no_such_page, problem_response, unavailable
from pdqs.market.http.together import Gathered
from pdqs.market.settings import Settings
from pdqs.market.store.away import is_away, is_out_of_reach, why_away
from pdqs.market.store.database import open_store, threads_for
from pdqs.market.store.schema import rounds
from pdqs.protocol.market_messages import Health
from pdqs.protocol.problems import MarketError, ProblemType

DEFAULTS = Settings()
_API = (owner_routes, routes, operator_routes, draft_routes, letter_routes, group_routes)
"""Every module of ``/v1``, those that are asked most first: a route is looked for from the start."""
_CANNOT_WRITE = "the market cannot write just now, and nothing was changed: ask again in a moment"


def create_app(
    settings: Settings = DEFAULTS, clock: Clock = system_clock, *, ticking: bool = True, worker: str = ""
) -> FastAPI:
    """A market on the database of the settings, migrated. With ``ticking``, deadlines are kept while it is served.

    ``worker`` is what this process is called among several, in its metrics.
    """
    store = open_store(settings.database_url, connections=settings.connections_each)
    readiness = Readiness(store)
    readiness.prepare()
    if readiness.refusal is not None:
        store.close()
        raise readiness.refusal
    market = Market(store=store, clock=clock, settings=settings)
    metrics = Metrics(worker)

    @asynccontextmanager
    async def living(_app: FastAPI) -> AsyncIterator[None]:
        threads = threads_for(store.dialect, settings.connections_each)
        current_default_thread_limiter().total_tokens = threads
        log("started", version=__version__, database=store.dialect, pid=os.getpid())
        with clock_of(market, readiness) if ticking else nullcontext():
            yield
        store.close()
        log("stopped", pid=os.getpid())

    here = [{"url": settings.prefix or "/"}]
    app = FastAPI(
        title="pdqs market", version=__version__, docs_url=None, redoc_url=None, servers=here, lifespan=living,
        redirect_slashes=False,  # the framework's own would lead out of the prefix: `refusals` sees to a slash too many
    )  # fmt: skip
    app.state.market = market
    app.state.gathered = Gathered(market)
    app.state.changes = Changes(market)
    app.state.metrics = metrics
    app.state.readiness = readiness
    _add_faults(app)
    for part in _API:
        _take_in(app, part.router)
    _take_in(app, _operations)
    _add_pages(app)
    app.add_middleware(WhenReady, readiness=readiness)
    app.add_middleware(OwnForms, settings=settings)
    app.add_middleware(Gate, settings=settings, callers=market.callers)
    app.add_middleware(DeviceOrigins, settings=settings)
    app.add_middleware(Observer, metrics=metrics, settings=settings)
    app.add_middleware(Mounted, prefix=settings.prefix)
    return app


def _take_in(app: FastAPI, router: APIRouter) -> None:
    """Have the application answer for the router's routes itself.

    An included router is a list of its own, which the framework searches twice for every request; routes of one flat
    list are looked at once each.
    """
    for route in router.routes:
        app.router.routes.append(route)


def _add_faults(app: FastAPI) -> None:
    @app.exception_handler(MarketError)
    async def market_fault(_request: Request, fault: MarketError) -> Response:
        return problem_response(fault.status, fault.type, fault.title, str(fault))

    @app.exception_handler(RequestValidationError)
    async def bad_request(_request: Request, fault: RequestValidationError) -> Response:
        # Where and why, but not what: an answer may end in someone's log, and a bid is nobody else's business.
        found = [f"{'.'.join(map(str, error['loc']))}: {error['msg']}" for error in fault.errors()[:5]]
        return problem_response(422, ProblemType.INVALID, "Unprocessable", "; ".join(found))

    @app.exception_handler(DBAPIError)
    async def database_fault(request: Request, fault: DBAPIError) -> Response:
        if not is_away(fault):
            raise fault
        # The disk is full, the database is gone, or two commands wait for each other: nothing was changed.
        reason = why_away(fault, app.state.market.store.engine.url)
        log("database-failed", kind=type(fault.orig).__name__, where=where(fault), reason=reason)
        return unavailable(request, AWAY if is_out_of_reach(fault) else _CANNOT_WRITE)

    @app.exception_handler(TimeoutError)
    async def no_connection(request: Request, fault: TimeoutError) -> Response:
        log("database-busy", kind=type(fault).__name__, where=where(fault))
        return unavailable(request, "the market is busy, and nothing was changed: ask again in a moment")

    @app.exception_handler(HTTPException)
    async def framework_fault(request: Request, fault: HTTPException) -> Response:
        if fault.status_code in (404, 405) and is_a_person(request):
            return no_such_page(request)
        phrase = HTTPStatus(fault.status_code).phrase
        answer = problem_response(
            fault.status_code, ProblemType.of_status(fault.status_code), phrase, str(fault.detail)
        )
        answer.headers.update(fault.headers or {})
        return answer


_operations = APIRouter()


@_operations.get("/healthz", tags=["operations"])
def healthz(request: Request) -> Health:
    """Whether the market can serve."""
    return reads.health(request.app.state.market)


@_operations.get("/metrics", tags=["operations"], response_class=PlainTextResponse)
def metrics_text(request: Request) -> PlainTextResponse:
    """Counters in the Prometheus text format."""
    with request.app.state.market.store.read() as connection:
        states = connection.execute(select(rounds.c.state, func.count()).group_by(rounds.c.state)).all()
    tick = last_tick(request.app.state.market)
    lines = [*request.app.state.metrics.lines(), "# TYPE pdqs_advance_failures_total counter"]
    lines += [f"pdqs_advance_failures_total {tick.failures}", "# TYPE pdqs_rounds_stuck gauge"]
    lines.append(f"pdqs_rounds_stuck {len(tick.stuck)}")
    lines.append("# TYPE pdqs_rounds gauge")
    lines += [f'pdqs_rounds{{state="{state}"}} {count}' for state, count in states]
    return PlainTextResponse("\n".join(lines) + "\n", media_type="text/plain; version=0.0.4")


def _add_pages(app: FastAPI) -> None:
    """The pages, and the files they are made with."""
    for part in pages.PARTS:
        _take_in(app, part.router)
    static = Path(str(pages.__file__)).parent / "static"
    if static.is_dir():
        app.mount("/static", StaticFiles(directory=static), name="static")
