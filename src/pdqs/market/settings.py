"""What can be set, with what it is unless set. No configuration is needed."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, final

from pdqs.model.errors import TermsError
from pdqs.model.money import Currency
from pdqs.model.spelling import OTHER

PREFIX = "PDQS_"
_MAY_BE_ZERO = ("currency_decimals",)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Settings of one server; each can come from the environment as ``PDQS_`` and its name in capitals.

    A rate is in requests a second, a burst in requests; callers are counted by address and, apart, by credential. A
    request's head and its body must come within ``header_seconds`` and ``body_seconds``. ``least_budget``, in units of
    money, is what a round must at least be worth. Bids, offers and reports are purged ``retention_days`` after the end
    of a round, as its terms say.
    A page session ends when it was not used for ``session_idle_hours``, and after ``session_hours`` in any case; an
    operator's after ``operator_session_hours``, and a one-time code runs out after ``code_hours``.
    ``device_origins`` are the web origins, separated by spaces, whose pages owners may run their device from (by token,
    never with a session): that of ``pdqs owner page`` on her own machine unless set. ``public_url`` is the address that
    people type when a proxy stands in front (``https://market.example``); ``trusted_proxies`` are the addresses,
    separated by spaces, of proxies whose word on who is calling is taken: nobody's unless set. ``records`` says what is
    told of a settled round for anyone to check: ``full``, or ``none``; the terms of a round say which when it opens.
    ``currency`` is the code of the market's money (``EUR``) and ``currency_symbol`` its sign, both as people may type
    them; it is paid in ``currency_decimals``, and written with ``decimal_mark`` (a point or a comma) before them.
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
    forecast_seconds: float = 5.0
    least_budget: float = 1.0
    retention_days: int = 365
    public_url: str = ""
    trusted_proxies: str = ""
    records: str = "full"
    currency: str = ""
    currency_symbol: str = ""
    currency_decimals: int = 2
    decimal_mark: str = "."

    def __post_init__(self) -> None:
        if self.records not in ("full", "none"):
            raise TermsError(f"{PREFIX}RECORDS: {self.records!r} must be full or none")
        _ = self.money  # a currency that cannot be written is refused before anything is served

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

    @staticmethod
    def from_environment(environment: Mapping[str, str] = os.environ) -> Settings:
        """Settings with what the environment says.

        >>> Settings.from_environment({"PDQS_CALLER_RATE": "5"}).caller_rate
        5.0
        """
        given: dict[str, Any] = {}
        for field in dataclasses.fields(Settings):
            text = environment.get(PREFIX + field.name.upper())
            if text is not None:
                given[field.name] = _parsed(field.name, text, type(field.default))
        return Settings(**given)


def _parsed(name: str, text: str, kind: type) -> object:
    try:
        value = kind(text)
    except ValueError:
        raise TermsError(f"{PREFIX}{name.upper()}: {text!r} is not a number") from None
    if kind is not str and name not in _MAY_BE_ZERO and not 0 < value < float("inf"):
        raise TermsError(f"{PREFIX}{name.upper()}: {text!r} must be above 0")
    return value
