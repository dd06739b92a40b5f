"""Everything that a device knows, to take away: as data, and as a page to read. Never a token, and never a value."""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path

from pdqs.model.money import exact_money
from pdqs.owner.account import Account, StoredBid, StoredReport
from pdqs.owner.errors import DeviceError
from pdqs.owner.lifetime_cap import OVERALL, Spending
from pdqs.owner.price import NANOS_PER_EPSILON
from pdqs.tables.atomic import replacing

VERSION = 1


def exported(account: Account, markets: Iterable[str], now_ms: int) -> dict[str, object]:
    """What was asked by which market, at which price and epsilon, what was drawn and signed for, and the account.

    ``entries`` is the account as the device keeps it, oldest first: every other figure follows from it.
    """
    return {
        "version": VERSION,
        "exported_at_ms": now_ms,
        "markets": sorted(markets),
        "spending": [dataclasses.asdict(spent) for spent in _spending(account)],
        "bids": [{**dataclasses.asdict(bid), "lots": _lots(account, bid)} for bid in _bids(account)],
        "reports": [{**dataclasses.asdict(report), "facts": report.facts} for report in account.reports()],
        "entries": list(account.entries),
    }


def readable(account: Account) -> str:
    """What of it people read, as one page of HTML that fetches nothing and runs nothing."""
    head = ("market", "round", "question", "epsilon", "promised", "paid", "what is known", "sent")
    parts = [
        _table("Privacy spent", ("about", "epsilon spent", "cap", "reports"), map(_spent_row, _spending(account))),
        _table(
            "What you bid on", ("market", "round", "question", "your price", "terms"), map(_bid_row, _bids(account))
        ),
        _table("What left this device", head, map(_report_row, account.reports())),
    ]
    style = "body{font:1rem/1.5 sans-serif;margin:2rem}td,th{text-align:left;padding:.2rem .8rem;word-break:break-word}"
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>What my device knows</title>'
        f"<style>{style}</style></head><body><h1>What my device knows</h1>"
        "<p>Your answers are not here: the device keeps what it sent, randomised, and nothing else.</p>"
        f"{''.join(parts)}</body></html>\n"
    )


def write_export(path: Path, account: Account, markets: Iterable[str], now_ms: int) -> None:
    """Write a new file that only its owner reads: a page if its name ends in .html, else JSON."""
    if path.exists():
        raise DeviceError(f"{path} is there already: give the name of a new file")
    page = path.suffix == ".html"
    text = readable(account) if page else json.dumps(exported(account, markets, now_ms), indent=2) + "\n"
    with replacing(path) as passing, os.fdopen(os.open(passing, os.O_WRONLY | os.O_CREAT, 0o600), "w") as file:
        file.write(text)


def _spending(account: Account) -> list[Spending]:
    return [*account.all_spending(), account.spending(OVERALL)]


def _bids(account: Account) -> list[StoredBid]:
    """Every bid that was made, oldest first, each round once."""
    places = dict.fromkeys((e["market"], e["round_id"]) for e in account.entries if e["kind"] == "bid")
    found = (account.bid(*place) for place in places)
    return [bid for bid in found if bid is not None]


def _lots(account: Account, bid: StoredBid) -> dict[str, object] | None:
    lots = account.lots(bid.market, bid.round_id)
    return None if lots is None else dataclasses.asdict(lots)


def _spent_row(spent: Spending) -> Sequence[str]:
    return (
        spent.attribute or "all together",
        _epsilon(spent.spent_nanos),
        _epsilon(spent.cap_nanos),
        str(spent.reports),
    )


def _bid_row(bid: StoredBid) -> Sequence[str]:
    asked = str(json.loads(bid.question).get("text", "")) or "(no words)"
    return (bid.market, bid.round_id, asked, exact_money(bid.bid_micros), bid.terms_hash)


def _report_row(report: StoredReport) -> Sequence[str]:
    paid = "not yet" if report.paid_micros is None else exact_money(report.paid_micros)
    told = (report.text or "(no words)", _epsilon(report.epsilon_nanos), exact_money(report.payment_micros), paid)
    return (report.market, report.round_id, *told, report.facts, report.body)


def _epsilon(nanos: int) -> str:
    return f"{nanos / NANOS_PER_EPSILON:.4f}"


def _table(title: str, head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows)
    names = "".join(f"<th>{escape(name)}</th>" for name in head)
    return f"<h2>{escape(title)}</h2><table><tr>{names}</tr>{lines or '<tr><td>Nothing.</td></tr>'}</table>"
