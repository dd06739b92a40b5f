"""What an answer may tell, and to whom: what is hers as it is known, and of nobody else an id or a secret."""

from __future__ import annotations

import json
import re
from typing import Any

from market.fuzz.asking import Answer, Asked
from market.fuzz.routes import Rule
from market.fuzz.world import Person, World

_USER_ID = re.compile(rb"u_[0-9a-f]{24}")
_SECRET = re.compile(rb"[A-Za-z0-9_-]{43,64}")


def told_wrong(
    asked: Asked, answer: Answer, rule: Rule, params: dict[str, str], person: Person | None, world: World
) -> str:
    """What is wrong with an answer; nothing when it may be told to this caller, who is nobody where there is none."""
    secret = _somebody_elses_secret(answer, person, world)
    if secret:
        return f"shows a secret of {secret}"
    if person is not None and person.role == "operator":
        return ""
    known = set(_USER_ID.findall(asked.path.encode() + asked.body))
    if person is not None:  # a trail says who made a code: she, or the operator
        known |= {person.user_id.encode(), world.people["operator"].user_id.encode()}
    if rule.path != "/v1/tokens" and not known.issuperset(_USER_ID.findall(answer.body)):
        return "shows somebody else's id"
    return _not_hers(answer, rule, params, person, world) if person is not None and answer.status == 200 else ""


def _somebody_elses_secret(answer: Answer, person: Person | None, world: World) -> str:
    """Whose token, cookie or CSRF token an answer carries that are not the caller's."""
    for word in _SECRET.findall(answer.body):
        whose = world.holder_of(word.decode())
        if whose is not None and whose is not person:
            return whose.name
    return ""


def _not_hers(answer: Answer, rule: Rule, params: dict[str, str], person: Person, world: World) -> str:
    """What an owner is told of herself, compared with what is known of her."""
    if rule.page or rule.method not in ("GET", "PUT"):
        return ""
    mine = (params.get("round_id", ""), person.user_id)
    told: Any = json.loads(answer.body) if rule.path in _OWN else {}
    if rule.path == "/v1/me" and told["user"]["user_id"] != person.user_id:
        return "shows somebody else"
    if rule.path.endswith("/bid") and told["bid_micros"] != world.bids.get(mine):
        return "shows another bid than hers"
    if rule.path.endswith("/mine") and (told["bid"] or {}).get("bid_micros") != world.bids.get(mine):
        return "shows another bid than hers"
    if rule.path.endswith("/mine") and (told["report"] or {}).get("code") != world.reports.get(mine):
        return "shows another report than hers"
    if rule.path.endswith("/report") and told["code"] != world.reports.get(mine):
        return "shows another report than hers"
    return ""


_OWN = ("/v1/me", *(f"/v1/rounds/{{round_id}}/{what}" for what in ("mine", "bid", "report")))
