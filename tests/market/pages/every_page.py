"""A walk through every page of every role: empty, filled and in error; on a phone and a desktop, light and dark.

As a script it looks at every page in every look, keeps a picture of each, and writes what it found::

    python -m market.pages.every_page --out docs/results/pages/every-page.json
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, final

from fastapi.routing import APIRoute

from pdqs.market import access, pages
from pdqs.protocol.market_messages import Role, User

from .axe import AXE, violations
from .filled import Filled, fill
from .landmarks import faults_of
from .site import ARTIFACTS, Site, Visitor, chromium, served

if TYPE_CHECKING:
    from playwright.sync_api import Browser

PHONE, DESKTOP = {"width": 390, "height": 844}, {"width": 1280, "height": 860}
LOOKS = [(size, scheme) for size in ("phone", "desktop") for scheme in ("light", "dark")]
SOME = [("phone", "light"), ("phone", "dark")]
NOT_PAGES = re.compile(
    r"/(events|forecast|preview|progress|stage|standing|options|passkey)$|\.(json|\{kind\})$|\{module\}$"
)
"""Routes that give a part of a page, a file or a stream of events."""


def every_route() -> set[str]:
    """The path of every page that can be asked for."""
    shown = [route for part in pages.PARTS for route in part.router.routes if isinstance(route, APIRoute)]
    return {one.path for one in shown if "GET" in (one.methods or ()) and not NOT_PAGES.search(one.path)}


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Stop:
    """A page to look at: where, as whom (nobody in particular when empty), and what is sent from there, if anything."""

    name: str
    path: str
    role: Role | None = None
    sends: dict[str, str] = field(default_factory=dict)
    """A form of that page, by its ``action``, and what is typed into it."""
    status: int = 200
    again: bool = False
    """Much like another: looked at by ``make pages``, not by every run of the tests."""


def _plain(stage: str, role: Role | None, *paths: str) -> Iterator[Stop]:
    for path in paths:
        name = re.sub(r"[^a-z]+", "-", path.strip("/")) or "door"
        again = (path in ACCOUNT and role != "owner") or (stage == "empty" and path in MUCH_THE_SAME)
        yield Stop(name=f"{stage}-{role or 'nobody'}-{name}", path=path, role=role, again=again)


ACCOUNT = ("/account", "/account/letters")
MUCH_THE_SAME = {"/operator", *(f"/operator/{one}" for one in ("ledger", "people", "journal", "deeds", "invitations"))}
MUCH_THE_SAME |= {"/account", "/enter", "/consumer/plan"}
OPERATOR = ("", "/ledger", "/payouts", "/people", "/codes", "/journal", "/deeds", "/invitations", "/letters", "/groups")


def routes_without(visited: set[str]) -> set[str]:
    """Pages that none of these addresses led to."""
    shapes = {path: re.compile(re.sub(r"\{\w+\}", "[^/]+", path)) for path in every_route()}
    return {path for path, shape in shapes.items() if not any(shape.fullmatch(one) for one in visited)}


def empty_stops() -> Iterator[Stop]:
    """A market on its first day."""
    yield from _plain("empty", None, "/", "/enter", "/device-elsewhere", "/docs")
    yield from _plain(
        "empty", "consumer", "/consumer", "/consumer/plan", "/consumer/money", "/consumer/rounds", *ACCOUNT
    )
    yield from _plain("empty", "owner", "/owner", "/owner/privacy", "/owner/earnings", *ACCOUNT)
    yield from _plain("empty", "operator", *(f"/operator{path}" for path in OPERATOR), "/operator/people?text=nobody")


def filled_stops(made: Filled) -> Iterator[Stop]:
    """A market with everything in it."""
    rounds = made.rounds
    yield from _plain("filled", "consumer", "/consumer", "/consumer/money", *ACCOUNT)
    for name in ("draft", "waiting", "offer", "done", "missed", "cancelled"):
        path, again = f"/consumer/rounds/{rounds[name]}", name in ("offer", "missed")
        yield Stop(name=f"filled-consumer-round-{name}", path=path, role="consumer", again=again)
    draft, done = rounds["draft"], rounds["done"]
    yield Stop(name="filled-consumer-edit", path=f"/consumer/rounds/{draft}/edit", role="consumer")
    for kind in ("median", "quantile", "histogram"):
        path, again = f"/consumer/plan?kind={kind}", kind != "histogram"
        yield Stop(name=f"filled-consumer-plan-{kind}", path=path, role="consumer", again=again)
    yield Stop(name="filled-consumer-compare", path=f"/consumer/compare?like={done}", role="consumer")
    yield from _plain("filled", "owner", "/owner", "/owner/privacy", "/owner/earnings", "/account", "/enter")
    for name in ("open", "waiting", "offer", "reported", "done", "missed", "nothing", "over", "cancelled"):
        path, again = f"/owner/rounds/{rounds[name]}", name in ("reported", "missed", "over", "cancelled")
        yield Stop(name=f"filled-owner-round-{name}", path=path, role="owner", again=again)
    yield from _plain("filled", "operator", *(f"/operator{path}" for path in OPERATOR), "/account/letters")
    yield Stop(name="filled-operator-groups-of", path=f"/operator/people/{made.owner.user_id}/groups", role="operator")
    for name in ("waiting", "offer", "done", "cancelled", "draft"):
        path, again = f"/operator/rounds/{rounds[name]}", name != "waiting"
        yield Stop(name=f"filled-operator-round-{name}", path=path, role="operator", again=again)


def error_stops(made: Filled) -> Iterator[Stop]:
    """What people see who were not lucky, and what is said back before something counts."""
    hers = {name: f"/consumer/rounds/{round_id}" for name, round_id in made.rounds.items()}
    waiting, groups_of = f"/operator/rounds/{made.rounds['waiting']}", f"/operator/people/{made.owner.user_id}/groups"
    for role in (None, "consumer", "owner", "operator"):
        name, again = f"error-{role or 'nobody'}-no-page", role is not None
        yield Stop(name=name, path="/no/such/page", role=role, status=404, again=again)
    yield Stop(name="error-owner-not-hers", path="/operator/people", role="owner", status=403)
    yield Stop(name="error-owner-no-round", path="/owner/rounds/r_0", role="owner", status=404, again=True)
    yield Stop(name="error-consumer-no-round", path="/consumer/rounds/r_0", role="consumer", status=404, again=True)
    paid = {"user_id": made.consumer.user_id, "amount": "5.00"}
    for name, path, role, action, typed, status in (
        ("door-code", "/", None, "/enter", {"code": "x" * 30}, 401),
        ("plan", "/consumer/plan", "consumer", "/consumer/rounds", {"budget": "12,50", "owners": "many"}, 422),
        ("money", "/operator/ledger", "operator", "/operator/ledger/deposit", {"amount": "1,5"}, 422),
        ("money-asked", "/operator/ledger", "operator", "/operator/ledger/deposit", paid, 200),
        ("money-undo", "/operator/ledger", "operator", "/operator/ledger/reversal", {}, 200),
        ("cancel-asked", hers["waiting"], "consumer", f"{hers['waiting']}/cancel", {}, 200),
        ("discard-asked", hers["draft"], "consumer", f"{hers['draft']}/cancel", {}, 200),
        ("groups", groups_of, "operator", groups_of, {"groups": "x" * 41}, 422),
        ("disable-asked", "/operator/people", "operator", f"/operator/people/{made.owner.user_id}/disable", {}, 200),
        ("erase-asked", "/account", "owner", "/account/erase", {}, 200),
        ("person", "/operator/people", "operator", "/operator/people", {"name": " "}, 422),
        ("person-asked", "/operator/people", "operator", "/operator/people", {"name": "Zoe"}, 200),
        ("list", "/operator/invitations", "operator", "/operator/invitations", {}, 422),
        ("letters", "/account/letters", "owner", "/account/letters", {"webhook": "http://a.example"}, 422),
        ("token", "/account", "owner", "/account/tokens", {"name": " "}, 422),
        ("token-made", "/account", "owner", "/account/tokens", {"name": "my program"}, 200),
        ("link-made", "/account", "owner", "/account/link", {}, 200),
        ("end-asked", "/account", "owner", "/account/end", {}, 200),
        ("form", "/account", "owner", "/account/link", {"csrf_token": "old"}, 403),
        ("batch", "/operator/payouts", "operator", "/operator/payouts", {}, 409),
        ("cancel", waiting, "operator", f"{waiting}/cancel", {}, 200),
        ("early", waiting, "operator", f"{waiting}/clear", {}, 409),
    ):
        again = name in AGAIN
        yield Stop(name=f"error-{name}", path=path, role=role, sends={"": action, **typed}, status=status, again=again)  # type: ignore[arg-type]  # a role


AGAIN = {
    *("money", "money-undo", "discard-asked", "disable-asked", "erase-asked", "end-asked", "cancel", "early"),
    *("token", "link-made", "person", "form", "batch", "list", "groups"),
}
DARK = {
    *("empty-nobody-door", "filled-consumer-round-done", "filled-owner-round-open", "filled-operator-operator"),
    *("error-plan", "error-person-asked", "filled-owner-account", "empty-nobody-docs", "filled-consumer-consumer"),
}
"""Pages that together have every colour; ``make pages`` looks at all of them in the dark."""


SUBMIT = """([typed]) => {
  const form = [...document.forms].find((one) => one.getAttribute('action') === typed['']);
  for (const [name, value] of Object.entries(typed)) if (name) form.elements[name].value = value;
  form.noValidate = true; form.submit(); }"""


@final
class Walk:
    """Someone of each role at one browser, who looks at pages; ``faults`` is what was wrong with any."""

    def __init__(self, site: Site, browser: Browser, *, thorough: bool = False) -> None:
        self._site, self._browser, self._thorough = site, browser, thorough
        self._visitors: dict[Role | None, Visitor] = {}
        self.users: dict[Role, User] = {"operator": site.operator}
        self.faults: list[str] = []
        self.visited: set[str] = set()
        self.looked: list[dict[str, object]] = []

    def enter(self, role: Role, name: str) -> User:
        self.users[role] = self._site.invite(role, name)[0]
        return self.users[role]

    def _visitor(self, role: Role | None) -> Visitor:
        if role not in self._visitors:
            made = Visitor(self._browser, self._site, viewport=PHONE)
            if role is not None:
                cookie = access.start_session(self._site.market, self.users[role], device="Firefox on Linux").cookie
                made.context.add_cookies([{"name": access.COOKIE, "value": cookie, "url": self._site.address}])
            self._visitors[role] = made
        return self._visitors[role]

    def look(self, stops: Iterator[Stop]) -> None:
        """Look at each of these pages."""
        for stop in stops:
            if stop.again and not self._thorough:
                continue
            visitor = self._visitor(stop.role)
            self.visited.add(stop.path.partition("?")[0])
            before = len(visitor.complaints)
            status = self._reach(visitor, stop)
            if status != stop.status:
                self.faults.append(f"{stop.name}: status {status}")
            for size, scheme in LOOKS if self._thorough else SOME[: 2 if stop.name in DARK else 1]:
                self._in_look(visitor, stop, size, scheme)
            said = [one for one in visitor.complaints[before:] if stop.status < 400 or f"{stop.status} (" not in one]
            self.faults += [f"{stop.name}: the console says {one}" for one in said]

    def _reach(self, visitor: Visitor, stop: Stop) -> int:
        page = visitor.page
        answer = page.goto(self._site.address + stop.path)
        if stop.sends:
            with page.expect_navigation() as came:
                page.evaluate(SUBMIT, [stop.sends])
            answer = came.value
        assert answer is not None
        return answer.status

    def _in_look(self, visitor: Visitor, stop: Stop, size: str, scheme: str) -> None:
        page, look = visitor.page, f"{stop.name}-{size}-{scheme}"
        page.set_viewport_size(PHONE if size == "phone" else DESKTOP)  # type: ignore[arg-type]  # a size
        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]  # a scheme
        # Only colours differ in the dark: unless it is to be thorough, only they are looked at again.
        found = violations(page, only=() if self._thorough or scheme == "light" else ("color-contrast",))
        if (size, scheme) == LOOKS[0]:  # once, and before any picture: taking one puts a style into the page
            found += faults_of(page)
        if not visitor.fits():
            found.append("wider than the window")
        self.faults += [f"{look}: {one}" for one in found]
        self.looked.append({"page": stop.name, "size": size, "scheme": scheme, "violations": found})
        if self._thorough:
            visitor.shoot(f"pages/{look}")

    def close(self) -> None:
        for visitor in self._visitors.values():
            visitor.context.close()


def walk_all(site: Site, browser: Browser, *, thorough: bool = False) -> Walk:
    """Empty pages, filled ones, and errors."""
    walk = Walk(site, browser, thorough=thorough)
    consumer, owner = walk.enter("consumer", "Health Institute"), walk.enter("owner", "Ann")
    walk.look(empty_stops())
    made = fill(site, consumer, owner)
    walk.look(filled_stops(made))
    walk.look(error_stops(made))
    walk.close()
    return walk


def main() -> int:
    arguments = argparse.ArgumentParser(description="Look at every page in every look.")
    arguments.add_argument("--out", type=Path, required=True, help="where the findings go, as JSON")
    given = arguments.parse_args()
    if not AXE.exists():
        print("axe-core is not installed: npm install", file=sys.stderr)
        return 2
    (ARTIFACTS / "pages").mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, served(Path(folder)) as site, chromium() as browser:
        walk = walk_all(site, browser, thorough=True)
    seen = sorted({str(one["page"]) for one in walk.looked})
    found = {"looks": [f"{size}, {scheme}" for size, scheme in LOOKS], "faults": walk.faults, "pages": seen}
    given.out.parent.mkdir(parents=True, exist_ok=True)
    given.out.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    print(f"{len(seen)} pages in {len(LOOKS)} looks: {len(walk.faults)} faults", *walk.faults, sep="\n")
    return 1 if walk.faults else 0


if __name__ == "__main__":
    sys.exit(main())
