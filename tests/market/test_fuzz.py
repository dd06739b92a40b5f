"""The API under schemathesis: requests made from its own description, good and bad, never make it fault."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis.generation import GenerationMode

from market.town import found_town, new_database
from pdqs.market import Settings, access
from pdqs.market.http.app import create_app
from pdqs.market.http.serving import served

EXAMPLES = 4
_EFFORT = settings(max_examples=EXAMPLES, phases=[Phase.generate], suppress_health_check=list(HealthCheck))


@dataclass(frozen=True)
class Api:
    """The description of a served market, a token of each role, and the id of a round that is there."""

    schema: Any
    tokens: dict[str, str]
    round_id: str


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def api(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    url = f"sqlite:///{tmp_path_factory.mktemp('fuzz')}/market.db"
    if request.param == "postgresql":
        url = new_database(request.getfixturevalue("postgres"), "fuzz")
    town = found_town(url)
    (owner,) = town.add_owners(1)
    found = town.open_round()
    people = {"operator": town.operator, "consumer": town.consumer, "owner": owner}
    tokens = {role: access.issue_token(town.market, user) for role, user in people.items()}
    limits = {"caller_rate": 1e6, "caller_burst": 1e6, "address_rate": 1e6, "address_burst": 1e6}
    app = create_app(Settings(database_url=url, **limits), town.clock, ticking=False)  # type: ignore[arg-type]
    with served(app) as address:
        yield Api(schemathesis.openapi.from_url(f"{address}/openapi.json"), tokens, found.round_id)
    town.market.store.close()


def _calls(api: Api, operation: Any, mode: GenerationMode) -> Any:
    """Requests to an operation: good ones go to the round that is there."""
    there = "{round_id}" in operation.path and mode is GenerationMode.POSITIVE
    return operation.as_strategy(mode, path_parameters={"round_id": api.round_id} if there else None)


@pytest.mark.parametrize("mode", list(GenerationMode), ids=["good", "bad"])
@pytest.mark.parametrize("role", ["operator", "consumer", "owner"])
def test_no_request_made_from_the_description_makes_the_api_fault(api: Api, role: str, mode: GenerationMode) -> None:
    statuses: set[int] = set()
    for found in api.schema.get_all_operations():
        operation = found.ok()
        if operation.path == "/v1/me/erase" and mode is GenerationMode.POSITIVE:
            continue  # it would end the caller, and with her the rest of the fuzzing

        @_EFFORT
        @given(case=_calls(api, operation, mode))
        def one(case: schemathesis.Case[Any]) -> None:
            answer = case.call(headers={"Authorization": f"Bearer {api.tokens[role]}"}, timeout=60)
            statuses.add(answer.status_code)
            assert answer.status_code < 500, f"{case.method} {case.path}: {answer.status_code}"
            if answer.status_code >= 400:
                assert answer.headers["content-type"] == ["application/problem+json"]

        with suppress(Unsatisfiable):  # a request without any input cannot be made wrong
            one()
    assert statuses & ({200} if mode is GenerationMode.POSITIVE else {422})
