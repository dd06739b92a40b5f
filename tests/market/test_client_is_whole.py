"""The typed client: every route of the API is one of its methods, and says all that the route can be told."""

from __future__ import annotations

import inspect
import json
import re
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import httpx
import pytest

from pdqs.market import Settings
from pdqs.market.client import MarketClient
from pdqs.market.http.app import create_app
from pdqs.protocol.operator_messages import Confirmation, ConfirmedBatch
from pdqs.protocol.problems import MarketError

_FILLED = re.compile(r"\{[a-z_]+\}")

Route = tuple[str, str]
Told = dict[Route, set[str]]
"""By route: the names of what is said in its body, and with a question mark of what is said in its query."""

ALL = "all of the body"
"""What a method says whose caller makes the whole message."""


def _routes(tmp_path: Path) -> Told:
    app = create_app(Settings(database_url=f"sqlite:///{tmp_path}/market.db"), ticking=False)
    described = app.openapi()
    app.state.market.store.close()
    messages = described["components"]["schemas"]
    return {
        (method.upper(), _FILLED.sub("X", path)): _asked_for(operation, messages)
        for path, methods in described["paths"].items()
        if path.startswith("/v1")
        for method, operation in methods.items()
    }


def _asked_for(operation: dict[str, Any], messages: dict[str, Any]) -> set[str]:
    query = {f"?{one['name']}" for one in operation.get("parameters", []) if one["in"] == "query"}
    content = operation.get("requestBody", {}).get("content", {})
    bodies = [kind["schema"]["$ref"].rpartition("/")[2] for kind in content.values()]
    return query.union(*(messages[body]["properties"] for body in bodies))


def _asked(kind: type[MarketClient]) -> Told:
    """What the methods of a client say, each called with something in every place: what is empty all the same is a
    default of the message, and nothing that a caller has said."""
    heard: Told = {}

    def answer(request: httpx.Request) -> httpx.Response:
        body = json.loads(request.content or b"{}")
        said = {ALL} if request.content == _WHOLE else {name for name, value in body.items() if value}
        route = request.method, request.url.path.replace(_GIVEN["user_id"], "X")
        heard.setdefault(route, set()).update(said, (f"?{name}" for name in request.url.params))
        return httpx.Response(404)

    with kind("http://market.test", transport=httpx.MockTransport(answer), sleep=lambda _: None) as client:
        for name, method in inspect.getmembers(client, inspect.ismethod):
            if not name.startswith("_") and name not in ("close", "ask", "text", "enter"):
                with pytest.raises((MarketError, ValueError)):
                    _called(method)
    return heard


def _called(method: Any) -> None:
    given = {one.name: _GIVEN.get(one.name, "X") for one in inspect.signature(method).parameters.values()}
    told = method(**given)
    if inspect.isgenerator(told):
        next(told)


_WHOLE = b"{}"
_GIVEN: dict[str, Any] = {
    "role": "owner",
    "names": ["Ada"],
    "groups": ["Nurses"],
    "amount_micros": 1,
    "limit": 1,
    "placed_at_ms": 1,
    "user_id": "u_" + "0" * 24,
    "nonce": "0" * 64,
    "word": "0" * 10,
    "code": "x" * 43,
    "came_back": True,
    "forgo_balance": True,
    **dict.fromkeys(("wanted", "request", "plan", "bid", "report"), _WHOLE),
}


def _unsaid(routes: Told, asked: Told) -> Told:
    """What no method of a client can say, by route."""
    missing = {
        route: {name for name in fields - asked[route] if name.startswith("?") or ALL not in asked[route]}
        for route, fields in routes.items()
        if route in asked
    }
    return {route: fields for route, fields in missing.items() if fields}


def test_every_route_is_a_method_of_the_client(tmp_path: Path) -> None:
    routes = _routes(tmp_path)
    missing = routes.keys() - _asked(MarketClient).keys()
    assert missing == set(), sorted(missing)


def test_a_client_that_leaves_a_route_out_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(MarketClient, "make_batch", Mock())
    assert ("POST", "/v1/payout-batches") in _routes(tmp_path).keys() - _asked(MarketClient).keys()


def test_the_client_can_say_all_that_a_route_can_be_told(tmp_path: Path) -> None:
    assert _unsaid(_routes(tmp_path), _asked(MarketClient)) == {}


def test_a_client_that_cannot_say_a_field_or_ask_for_the_next_page_is_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = "/v1/payout-batches/X/confirmation"

    def short(client: MarketClient, batch_id: str, text: str) -> ConfirmedBatch:
        path = f"/v1/payout-batches/{batch_id}/confirmation"
        return client.ask(ConfirmedBatch, "POST", path, body=Confirmation(text=text))

    monkeypatch.setattr(MarketClient, "confirm_batch", short)
    monkeypatch.setattr(MarketClient, "batches", lambda client: client.text("/v1/payout-batches"))
    assert _unsaid(_routes(tmp_path), _asked(MarketClient)) == {
        ("POST", address): {"came_back"},
        ("GET", "/v1/payout-batches"): {"?after", "?limit"},
    }
