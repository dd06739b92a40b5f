"""What can be set, with what it is unless set. No configuration is needed."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import final
from urllib.parse import urlsplit

from pdqs.market.setting_values import MOST, check_host, check_most, check_origins, check_proxies, check_public_url
from pdqs.model.errors import TermsError
from pdqs.model.money import Currency
from pdqs.model.spelling import OTHER

PREFIX = "PDQS_"
_LEAST_CONNECTIONS = 8
CLOCK_CONNECTIONS = 6
"""What the process that keeps the deadlines takes for itself."""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Settings of one server; :func:`pdqs.market.configuration.settings_from` reads them from where they are set.

    ``workers`` processes answer requests at ``host`` and ``port``, and have ``database_connections`` to PostgreSQL
    between them. ``root_path`` is the path that the market is under at its public address; unless set, that of
    ``public_url``.
    A rate is in requests a second, a burst in requests; callers are counted by address and, apart, by credential. A
    request's head and its body must come within ``header_seconds`` and ``body_seconds``; there are at most
    ``most_connections`` at once, ``most_connections_each`` of them from one address that is no proxy's.
    ``least_budget``, in units of money, is what a round must at least be worth, ``least_report_seconds`` how long it
    (each of its stages) must take reports, and ``most_drafts`` how many plans that are not open a consumer may keep.
    Bids, offers and reports are purged ``retention_days`` after the end of a round, as its terms say.
    A page session ends when it was not used for ``session_idle_hours``, and after ``session_hours`` in any case; an
    operator's after ``operator_session_hours``, and a one-time code runs out after ``code_hours``.
    ``device_origins`` are the web origins, separated by spaces, whose pages owners may run their device from (by token,
    never with a session): that of ``pdqs owner page`` on her own machine unless set. ``public_url`` is the address that
    people type when a proxy stands in front (``https://market.example``); ``trusted_proxies`` are the addresses or
    networks, separated by spaces, of proxies whose word on who is calling is taken: nobody's unless set. ``records``
    says what is told of a settled round to those who took part: everyone's bids and reports if there were enough for an
    answer (``answered``), in any case (``full``), or nothing (``none``); the terms of a round say which when it opens.
    ``currency`` is the code of the market's money (``EUR``) and ``currency_symbol`` its sign, both as people may type
    them; it is paid in ``currency_decimals``, and written with ``decimal_mark`` (a point or a comma) before them.
    ``mail_url`` is where e-mail is handed over (``smtp://user:password@host:587`` with STARTTLS, ``smtps://host:465``,
    or ``file:/folder`` while developing) and ``mail_from`` whom it comes from; without it there is none. ``webhooks``
    says where people may have letters sent: to ``public`` addresses with https, to ``private`` ones too, or to
    ``none``. A round closes soon in its last ``closing_minutes``.
    """

    database_url: str = "sqlite:///pdqs-market.db"
    most_body_bytes: int = 256 * 1024
    address_rate: float = 400.0
    address_burst: float = 4_000.0
    caller_rate: float = 20.0
    caller_burst: float = 200.0
    tick_seconds: float = 1.0
    code_hours: float = 72.0
    session_hours: float = 720.0
    session_idle_hours: float = 168.0
    operator_session_hours: float = 12.0
    device_origins: str = "http://127.0.0.1:8017"
    header_seconds: float = 10.0
    body_seconds: float = 20.0
    most_connections: int = 600
    most_connections_each: int = 300
    forecast_seconds: float = 5.0
    least_budget: float = 1.0
    least_report_seconds: int = 60
    most_drafts: int = 100
    retention_days: int = 365
    public_url: str = ""
    trusted_proxies: str = ""
    records: str = "answered"
    mail_url: str = ""
    mail_from: str = ""
    webhooks: str = "public"
    closing_minutes: float = 120.0
    currency: str = ""
    currency_symbol: str = ""
    currency_decimals: int = 2
    decimal_mark: str = "."
    host: str = "127.0.0.1"
    port: int = 8000
    workers: int = 1
    database_connections: int = 40
    root_path: str = ""

    def __post_init__(self) -> None:
        if self.records not in ("answered", "full", "none"):
            raise TermsError(f"{PREFIX}RECORDS: {self.records!r} must be answered, full or none")
        if self.webhooks not in ("none", "public", "private"):
            raise TermsError(f"{PREFIX}WEBHOOKS: {self.webhooks!r} must be none, public or private")
        for name in MOST:
            check_most(PREFIX + name.upper(), name, getattr(self, name))
        self._check_mail()
        _ = self.money  # a currency that cannot be written is refused before anything is served
        self._check_address()
        self._check_workers()

    def _check_mail(self) -> None:
        if not self.mail_url:
            return
        if not self.mail_url.startswith(("smtp://", "smtps://", "file:/")):
            kinds = "smtp://host:587, smtps://host:465 or file:/folder"
            raise TermsError(f"{PREFIX}MAIL_URL must look like {kinds}")  # it may hold a password: it is not said back
        if "@" not in self.mail_from:
            raise TermsError(
                f"{PREFIX}MAIL_FROM: {self.mail_from!r} must be an e-mail address, which letters come from; it goes"
                f" with {PREFIX}MAIL_URL"
            )
        if not self.public_url and not self.mail_url.startswith("file:"):
            raise TermsError(
                f"{PREFIX}PUBLIC_URL must be set where letters are sent ({PREFIX}MAIL_URL): people find their way here"
                " by the address in them"
            )

    def _check_address(self) -> None:
        check_host(f"{PREFIX}HOST", self.host)
        check_proxies(f"{PREFIX}TRUSTED_PROXIES", self.trusted_proxies)
        check_origins(f"{PREFIX}DEVICE_ORIGINS", self.device_origins)
        check_public_url(f"{PREFIX}PUBLIC_URL", self.public_url)
        parts = urlsplit(self.public_url)
        for name, path in (("ROOT_PATH", self.root_path), ("PUBLIC_URL", parts.path)):
            if not _ROOT.fullmatch(path or "/"):
                raise TermsError(f"{PREFIX}{name}: the path {path!r} must look like /market")

    def _check_workers(self) -> None:
        if self.workers > 1 and self.database_url.startswith("sqlite"):
            raise TermsError(
                f"{self.workers} workers need PostgreSQL: a SQLite file is written by one process, so serve it with one"
            )
        least = self.workers * _LEAST_CONNECTIONS + CLOCK_CONNECTIONS
        if self.database_connections < least:
            raise TermsError(
                f"{PREFIX}DATABASE_CONNECTIONS: {self.database_connections} for {self.workers} workers must be"
                f" at least {least}"
            )

    @property
    def origin(self) -> str:
        """Scheme and host of the public address, as browsers name it; nothing when there is no such address."""
        parts = urlsplit(self.public_url)
        return f"{parts.scheme}://{parts.netloc}".lower() if self.public_url else ""

    @property
    def address(self) -> str:
        """Where people reach the market, without a slash at its end: on this machine, unless it says otherwise.

        >>> Settings(public_url="https://Town.example/market/").address, Settings(port=8001).address
        ('https://town.example/market', 'http://127.0.0.1:8001')
        """
        host = f"[{self.host}]" if ":" in self.host else self.host
        return (self.origin or f"http://{host}:{self.port}") + self.prefix

    @property
    def prefix(self) -> str:
        """The path that the market is under, without a slash at its end; nothing when it has the whole host.

        >>> Settings(public_url="https://town.example/market/").prefix
        '/market'
        """
        return (self.root_path or urlsplit(self.public_url).path).rstrip("/")

    @property
    def connections_each(self) -> int:
        """How many connections to PostgreSQL one worker may have."""
        return (self.database_connections - CLOCK_CONNECTIONS) // self.workers

    @property
    def money(self) -> Currency:
        """The money of this market, and how it is written."""
        marks = {str(mark): mark for mark in OTHER}
        if self.decimal_mark not in marks:
            raise TermsError(f"{PREFIX}DECIMAL_MARK: {self.decimal_mark!r} must be '.' or ','")
        return Currency(
            code=self.currency,
            symbol=self.currency_symbol,
            decimals=self.currency_decimals,
            mark=marks[self.decimal_mark],
        )


_ROOT = re.compile(r"/|(/[A-Za-z0-9._~-]+)+/?")
