"""Everything that a device knows, to take away: as data, and as a page to read. Never a token, and never a value.

The browser's twin, ``browser/export.mjs``, writes the same of the same entries, to the letter.
"""

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
from pdqs.owner.lots import chance_in_words
from pdqs.owner.own_proof import Proven, proven
from pdqs.owner.short_receipts import falls_short, signature_in_words
from pdqs.privacy.loss import NANOS_PER_EPSILON
from pdqs.tables.atomic import replacing
from pdqs.tables.delimited import STANDARD
from pdqs.tables.files import write_text

VERSION = 1


def exported(account: Account, markets: Iterable[str], now_ms: int) -> dict[str, object]:
    """What was asked by which market, at which price and epsilon, what was drawn and signed for, and the account.

    Beside each bid stands the proof that it was counted, and whether it holds, looked at anew; ``receipt_falls_short``
    where a receipt names nobody though the terms promise it. ``entries`` is the account as the device keeps it, oldest
    first: every other figure follows from it.
    """
    return {
        "version": VERSION,
        "exported_at_ms": now_ms,
        "markets": sorted(markets),
        "spending": [dataclasses.asdict(spent) for spent in _spending(account)],
        "bids": [
            {
                **dataclasses.asdict(bid),
                "receipt_falls_short": falls_short(bid, bid.receipt),
                "lots": _lots(account, bid),
                "inclusion": _inclusion(account, bid),
            }
            for bid in _bids(account)
        ],
        "reports": [_report(account, report) for report in account.reports()],
        "entries": list(account.entries),
    }


def readable(account: Account) -> str:
    """What of it people read, as one page of HTML that fetches nothing and runs nothing."""
    counted = [(bid, found) for bid in _bids(account) if (found := proven(account, bid)) is not None]
    parts = [
        _table("Privacy spent", ("about", "epsilon spent", "cap", "reports"), map(_spent_row, _spending(account))),
        _table("What you bid on", _BID_HEAD, map(_bid_row, _bids(account))),
        _table("That your bids were counted", _COUNTED_HEAD, (_counted_row(*each) for each in counted)),
        _table("What left this device", _REPORT_HEAD, (_report_row(account, each) for each in account.reports())),
    ]
    style = (
        ":root{color-scheme:light dark}body{font:1rem/1.5 sans-serif;margin:1rem}table{display:block;overflow-x:auto}"
        "td,th{text-align:left;vertical-align:top;padding:.2rem .8rem;min-width:7rem;word-break:break-word}"
    )
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width"><title>What my device knows</title>'
        f"<style>{style}</style></head><body><h1>What my device knows</h1>"
        "<p>Your answers are not here: the device keeps what it sent, randomised, and nothing else.</p>"
        f"{''.join(parts)}</body></html>\n"
    )


def write_export(path: Path, account: Account, markets: Iterable[str], now_ms: int) -> None:
    """Write a new file that only its owner reads: a page if its name ends in .html, data if it ends in .json."""
    if path.suffix not in (".html", ".json"):
        raise DeviceError(f"{path}: end its name in .json for data, or in .html for a page to read")
    if path.exists():
        raise DeviceError(f"{path} is there already: give the name of a new file")
    page = path.suffix == ".html"
    text = readable(account) if page else json.dumps(exported(account, markets, now_ms), indent=2) + "\n"
    write_private(path, text)


def write_private(path: Path, text: str) -> None:
    """Text to a file that only its owner reads, whole or not at all, whoever could read the one before; - prints it."""
    if path == STANDARD:
        write_text(path, text)
        return
    with replacing(path) as passing:
        made = os.open(passing, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(made, "w", encoding="utf-8", newline="") as file:
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


def _report(account: Account, report: StoredReport) -> dict[str, object]:
    short = falls_short(account.bid(report.market, report.round_id), report.receipt)
    return {**dataclasses.asdict(report), "receipt_falls_short": short, "facts": report.facts}


def _inclusion(account: Account, bid: StoredBid) -> dict[str, object] | None:
    found = proven(account, bid)
    if found is None:
        return None
    return {"proof": dataclasses.asdict(found.proof), "counted": found.counted, "root_signed": found.root_signed}


def _spent_row(spent: Spending) -> Sequence[str]:
    return (
        spent.attribute or "all together",
        _epsilon(spent.spent_nanos),
        _epsilon(spent.cap_nanos),
        str(spent.reports),
    )


_BID_HEAD = ("market", "round", "asked by", "question", "your price", "terms", "signature")
_COUNTED_HEAD = ("round", "lot", "your name in the round", "place", "root over all bids", "checked")
_REPORT_HEAD = ("market", "round", "question", "epsilon", "promised", "paid", "what is known", "sent", "signature")


def _bid_row(bid: StoredBid) -> Sequence[str]:
    asked = str(json.loads(bid.question).get("text", "")) or "(no words)"
    by = str(json.loads(bid.terms).get("asked_by") or "(not said)")
    signature = signature_in_words(bid, bid.receipt)
    return (bid.market, bid.round_id, by, asked, exact_money(bid.bid_micros), bid.terms_hash, signature)


def _counted_row(bid: StoredBid, found: Proven) -> Sequence[str]:
    proof = found.proof
    fell = "drawn" if proof.asked else "not drawn"
    lot = f"{fell} (draw {proof.draw}, chance {chance_in_words(proof.chance_numerator)})"
    if not found.counted:
        held = "no: your bid is not under this root"
    else:
        held = "yes: your bid is under this root"
        held += ", which the market signed" if found.root_signed else ", but the market did not sign the root"
    return (bid.round_id, lot, proof.pseudonym, f"{proof.place + 1} of {proof.bids}", proof.bids_root, held)


def _report_row(account: Account, report: StoredReport) -> Sequence[str]:
    paid = "not yet" if report.paid_micros is None else exact_money(report.paid_micros)
    paid += f" ({exact_money(report.taken_back_micros)} was taken back)" if report.taken_back_micros else ""
    signature = signature_in_words(account.bid(report.market, report.round_id), report.receipt)
    told = (report.text or "(no words)", _epsilon(report.epsilon_nanos), exact_money(report.payment_micros), paid)
    return (report.market, report.round_id, *told, report.facts_and_words, report.body, signature)


def _epsilon(nanos: int) -> str:
    return f"{nanos / NANOS_PER_EPSILON:.4f}"


def _table(title: str, head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows)
    names = "".join(f"<th>{escape(name)}</th>" for name in head)
    return f"<h2>{escape(title)}</h2><table><tr>{names}</tr>{lines or '<tr><td>Nothing.</td></tr>'}</table>"
