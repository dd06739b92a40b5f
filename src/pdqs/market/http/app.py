"""The application: one market behind HTTP."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from http import HTTPStatus
from pathlib import Path

from fastapi import APIRouter, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, PlainTextResponse, Response
from fastapi.staticfiles import StaticFiles
from sqlalchemy import func, select
from sqlalchemy.exc import DBAPIError, InternalError, OperationalError
from starlette.exceptions import HTTPException

from pdqs import __version__
from pdqs.market import reads, round_steps
from pdqs.market.context import Clock, Market, system_clock
from pdqs.market.http import routes
from pdqs.market.http.forms import OwnForms
from pdqs.market.http.limits import Gate
from pdqs.market.http.observe import Metrics, Observer, log, where
from pdqs.market.http.origins import DeviceOrigins
from pdqs.market.retention import purge_due
from pdqs.market.settings import Settings
from pdqs.market.store import migrate
from pdqs.market.store.database import open_store
from pdqs.market.store.schema import rounds
from pdqs.protocol.market_messages import Health
from pdqs.protocol.problems import PROBLEM_JSON, MarketError, ProblemType, problem_json

DEFAULTS = Settings()


def create_app(settings: Settings = DEFAULTS, clock: Clock = system_clock, *, ticking: bool = True) -> FastAPI:
    """A market on the database of the settings, migrated. With ``ticking``, deadlines are kept while it is served."""
    store = open_store(settings.database_url)
    migrate.upgrade(store)
    market = Market(store=store, clock=clock, settings=settings)
    metrics = Metrics()

    @asynccontextmanager
    async def living(_app: FastAPI) -> AsyncIterator[None]:
        stop = threading.Event()
        ticker = threading.Thread(target=_tick, args=(market, metrics, stop), name="pdqs-clock")
        if ticking:
            ticker.start()
        yield
        stop.set()
        if ticking:
            ticker.join()
        store.close()

    app = FastAPI(title="pdqs market", version=__version__, docs_url=None, redoc_url=None, lifespan=living)
    app.state.market = market
    app.state.metrics = metrics
    _add_faults(app)
    app.include_router(routes.router)
    app.include_router(_operations)
    _add_api_page(app)
    _add_pages(app)
    app.add_middleware(OwnForms, settings=settings)
    app.add_middleware(Gate, settings=settings)
    app.add_middleware(DeviceOrigins, settings=settings)
    app.add_middleware(Observer, metrics=metrics, settings=settings)
    return app


def _tick(market: Market, metrics: Metrics, stop: threading.Event) -> None:
    """Keep the deadlines until told to stop."""
    while not stop.wait(market.settings.tick_seconds):
        keep_deadlines(market, metrics)


def keep_deadlines(market: Market, metrics: Metrics) -> None:
    """Advance what is due. What cannot be advanced is logged by its id, counted, and tried again at the next tick."""
    try:
        for round_id in round_steps.advance_due(market):
            log("advanced", round=round_id)
        for round_id in purge_due(market):
            log("purged", round=round_id)
        for stuck in market.stuck.values():
            metrics.count_stuck()
            log("advance-failed", round=stuck.round_id, kind=stuck.kind, where=stuck.where)
    except Exception as fault:  # the database is out of reach, and no round in particular is at fault
        metrics.count_stuck()
        log("advance-failed", kind=type(fault).__name__, where=where(fault))


def problem(status: int, type_: ProblemType, title: str, detail: str) -> Response:
    """An error of the one shape."""
    headers = {"www-authenticate": "Bearer"} if status == 401 else None
    body = problem_json(status, type_, title, detail)
    return Response(body, status_code=status, media_type=PROBLEM_JSON, headers=headers)


def _add_faults(app: FastAPI) -> None:
    @app.exception_handler(MarketError)
    async def market_fault(_request: Request, fault: MarketError) -> Response:
        return problem(fault.status, fault.type, fault.title, str(fault))

    @app.exception_handler(RequestValidationError)
    async def bad_request(_request: Request, fault: RequestValidationError) -> Response:
        # Where and why, but not what: an answer may end in someone's log, and a bid is nobody else's business.
        found = [f"{'.'.join(map(str, error['loc']))}: {error['msg']}" for error in fault.errors()[:5]]
        return problem(422, ProblemType.INVALID, "Unprocessable", "; ".join(found))

    @app.exception_handler(DBAPIError)
    async def database_fault(_request: Request, fault: DBAPIError) -> Response:
        if not isinstance(fault, OperationalError | InternalError):
            raise fault
        # The disk is full, the database is gone, or two commands wait for each other: nothing was changed.
        log("database-failed", kind=type(fault.orig).__name__, where=where(fault))
        detail = "the market cannot write just now, and nothing was changed: ask again in a moment"
        answer = problem(503, ProblemType.UNAVAILABLE, "Service unavailable", detail)
        answer.headers["retry-after"] = "1"
        return answer

    @app.exception_handler(HTTPException)
    async def framework_fault(_request: Request, fault: HTTPException) -> Response:
        phrase = HTTPStatus(fault.status_code).phrase
        answer = problem(fault.status_code, ProblemType.of_status(fault.status_code), phrase, str(fault.detail))
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
    stuck = len(request.app.state.market.stuck)
    lines = [*request.app.state.metrics.lines(), "# TYPE pdqs_rounds_stuck gauge", f"pdqs_rounds_stuck {stuck}"]
    lines.append("# TYPE pdqs_rounds gauge")
    lines += [f'pdqs_rounds{{state="{state}"}} {count}' for state, count in states]
    return PlainTextResponse("\n".join(lines) + "\n", media_type="text/plain; version=0.0.4")


_API_PAGE = """<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>pdqs market API</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="stylesheet" href="/docs/static/swagger-ui.css"></head>
<body><div id="api"></div>
<script src="/docs/static/swagger-ui-bundle.js"></script><script src="/docs/start.js"></script></body>
</html>
"""
_API_START = "SwaggerUIBundle({ url: '/openapi.json', dom_id: '#api', deepLinking: true, validatorUrl: null });\n"


def _add_api_page(app: FastAPI) -> None:
    """The API's page, from files of an installed package: nothing is fetched from elsewhere."""
    import swagger_ui_bundle

    app.mount("/docs/static", StaticFiles(directory=Path(swagger_ui_bundle.swagger_ui_path)), name="api-page")

    @app.get("/docs", include_in_schema=False)
    def api_page() -> HTMLResponse:
        return HTMLResponse(_API_PAGE)

    @app.get("/docs/start.js", include_in_schema=False)
    def api_start() -> Response:
        return Response(_API_START, media_type="text/javascript")


def _add_pages(app: FastAPI) -> None:
    """The pages, and the files they are made with."""
    from pdqs.market import pages

    app.include_router(pages.router, include_in_schema=False)
    static = Path(str(pages.__file__)).parent / "static"
    if static.is_dir():
        app.mount("/static", StaticFiles(directory=static), name="static")
