"""Invitations by the file: a list of names in; a table of codes and a page of cards with QR codes out."""

from __future__ import annotations

import html
import io
import zipfile
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import final

import segno

from pdqs.market.groups import group_names
from pdqs.market.namesakes import mark_of
from pdqs.market.times import moment_text
from pdqs.market.typed_names import fault_of_name, typed_name
from pdqs.model.errors import PdqsError
from pdqs.protocol.market_messages import Invitation
from pdqs.protocol.operator_messages import MOST_AT_ONCE
from pdqs.protocol.problems import ProblemType, UnprocessableError
from pdqs.tables.delimited import joined
from pdqs.tables.lists import read_list, text_of_list
from pdqs.tables.spreadsheet import harmless

LIST = Path("the list")
_HEADINGS = (
    "names",
    "full name",
    "full names",
    "fullname",
    "participant",
    "participants",
    "person",
    "people",
    "member",
)
"""What people write above a column of names, beside ``name``."""
COLUMNS = ("name", "group", "role")
"""What is read of a list."""
_COLUMNS = ("row", "name", "role", "user_id", "code", "link", "good_until")
_MASK = 6
"""Every reader takes every mask. To try out all eight, for the one that scores best, is two thirds of the time that a
list of hundreds takes, and gains a twentieth of the score: the codes in our links are random, and look so under any."""
_STYLE = """body{font:16px/1.4 system-ui,sans-serif;margin:1rem}
ul{list-style:none;padding:0;display:flex;flex-wrap:wrap}
li{border:1px solid #999;margin:.4rem;padding:.8rem;width:17rem;break-inside:avoid}code{overflow-wrap:anywhere}
svg{display:block;margin:.4rem auto;max-width:100%}"""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Guest:
    """A person and the address that lets her in, once."""

    invitation: Invitation
    address: str
    row: int = 0
    """Her row in the list that she was on; 0: there was none."""

    @property
    def link(self) -> str:
        """Where her code signs her in."""
        return f"{self.address}/enter#{self.invitation.code}"


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class GuestList:
    """Names, and the groups of each; no groups at all where the list has no such column."""

    names: list[str]
    groups: list[list[str]]
    rows: list[int]
    """The number of each in the spreadsheet."""
    roles: list[str]
    """What the list itself says that they are, in small letters; none where it has no such column."""
    ignored: list[str] = field(default_factory=list)
    """Columns of the list that nothing is read from."""

    def without(self, places: Collection[int]) -> GuestList:
        """The same list, but for those at these places."""
        left = [place for place in range(len(self.names)) if place not in places]
        return replace(
            self,
            names=[self.names[place] for place in left],
            groups=[self.groups[place] for place in left] if self.groups else [],
            rows=[self.rows[place] for place in left],
            roles=[self.roles[place] for place in left] if self.roles else [],
        )

    def refuse_other_than(self, role: str) -> None:
        """Refuse a list that says of somebody that she is something else than what all are let in as."""
        for row, said in zip(self.rows, self.roles, strict=False):
            if said not in ("", role):
                raise _unfit(f"row {row} says {said!r}, and all are to come in as {role}s: a list for each, please")


def guests_in(raw: bytes) -> GuestList:
    """The people of a list: a CSV file with a column ``name``, and perhaps ``group``; or one name a line.

    >>> guests_in(b"name,since\\nAnn,2020\\nBo,2021\\n").names, guests_in(b"Ann\\nBo\\n").names
    (['Ann', 'Bo'], ['Ann', 'Bo'])
    >>> guests_in(b"name,group\\nAnn,Nurses | Night shift\\nBo,\\n").groups
    [['Nurses', 'Night shift'], []]
    """
    try:
        also = dict.fromkeys(_HEADINGS, "name")
        listed = read_list(text_of_list(raw, LIST), LIST, ["name"], alone="name", also=also)
    except PdqsError as fault:
        raise _unfit(str(fault)) from None
    if listed.header == ("name",) and listed.rows and listed.rows[0][1][0].lower() == "group":
        raise _unfit("it has a column of groups, and none of names")
    names, rows = [typed_name(name) for name in listed.column("name")], listed.numbers
    for row, name in zip(rows, names, strict=True):
        _refuse_no_name(row, name)
    if not 1 <= len(names) <= MOST_AT_ONCE:
        raise _unfit(f"it has {len(names):,} names, and 1 to {MOST_AT_ONCE} are let in at a time")
    cells = listed.column("group") if "group" in listed.header else []
    groups = [_groups(cell, row) for row, cell in zip(rows, cells, strict=False)]
    roles = [cell.strip().lower() for cell in listed.column("role")] if "role" in listed.header else []
    ignored = [column for column in listed.header if column and column not in COLUMNS]
    return GuestList(names=names, groups=groups, rows=rows, roles=roles, ignored=ignored)


def _refuse_no_name(row: int, name: str) -> None:
    """Refuse what no name can be, by the rule for one person."""
    why = fault_of_name(name)
    if why:
        raise _unfit(f"row {row}: {why}")


def _groups(cell: str, row: int) -> list[str]:
    try:
        return group_names(cell.split("|")).groups
    except UnprocessableError as fault:
        raise _unfit(f"row {row}: {fault}") from None


def guest_files(guests: list[Guest]) -> bytes:
    """A zip file: ``invitations.csv`` for programs and ``cards.html`` to print and cut."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as files:
        files.writestr("invitations.csv", _table(guests))
        files.writestr("cards.html", _cards(guests))
    return packed.getvalue()


def qr_svg(text: str) -> str:
    """A QR code as a picture inside a page."""
    return str(
        segno.make(text, error="m", micro=False, mask=_MASK).svg_inline(
            scale=4, border=3, omitsize=True, light="#fff", svgclass=None
        )
    )


def _table(guests: list[Guest]) -> str:
    rows = []
    for guest in guests:
        made, who = guest.invitation, guest.invitation.user
        until = moment_text(made.expires_at_ms)
        rows.append((guest.row or "", harmless(who.name), who.role, who.user_id, made.code, guest.link, until))
    return joined(_COLUMNS, rows)


def _cards(guests: list[Guest]) -> str:
    times = Counter(guest.invitation.user.name for guest in guests)
    cards = "".join(
        f"<li><strong>{html.escape(guest.invitation.user.name)}</strong>{_which(guest, times)}{qr_svg(guest.link)}"
        f"<code>{html.escape(guest.link)}</code>"
        f"<p>Good once, until {moment_text(guest.invitation.expires_at_ms)}.</p></li>"
        for guest in guests
    )
    head = '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Invitations</title>'
    return f"{head}<style>{_STYLE}</style></head><body><h1>Invitations</h1><ul>{cards}</ul></body></html>"


def _which(guest: Guest, times: Mapping[str, int]) -> str:
    """Which of several of one name on the list a card is for: she cannot tell by her name."""
    who = guest.invitation.user
    if times[who.name] < 2:
        return ""
    return f"<p>{f'Row {guest.row} of the list, m' if guest.row else 'M'}arked {mark_of(who.user_id)}</p>"


def _unfit(why: str) -> UnprocessableError:
    return UnprocessableError(ProblemType.BAD_LIST, f"nobody was let in: {why}")
