"""What each clearing can do, apart from the code that does it (:mod:`pdqs.clearing`): asked, not compared by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import final

from pdqs.model.names import ClearingName


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class ClearingFacts:
    """The facts of one clearing.

    ``keeps_budget``: the offers never pass the budget. ``by_rule``: prices follow the rule of the terms.
    ``by_contract``: they follow its contract (FairQuery pays every report, at a price for a domain of two values).
    ``ahead``: the curve is fixed from the prior before any bid is seen. ``shows_bids``: the rule is shown all bids, so
    that one which reads them can. ``calibrates``: an owner's offer needs the others' bids as a summary of fixed size
    and no more (summarise, calibrate, apply). ``streams``: bids can be priced a part at a time. ``asks``: it can follow
    a rule that asks only some owners (:class:`pdqs.pricing.rules.Asks`).
    """

    name: ClearingName
    keeps_budget: bool
    by_rule: bool = True
    by_contract: bool = True
    ahead: bool = False
    shows_bids: bool = False
    calibrates: bool = False
    streams: bool = False
    asks: bool = False


FACTS: Mapping[str, ClearingFacts] = MappingProxyType(
    {
        facts.name.value: facts
        for facts in (
            ClearingFacts(name=ClearingName.LADDER, keeps_budget=True, calibrates=True, streams=True, asks=True),
            ClearingFacts(name=ClearingName.GREEDY, keeps_budget=True, shows_bids=True),
            ClearingFacts(name=ClearingName.FAIRQUERY, keeps_budget=True, by_rule=False, by_contract=False),
            ClearingFacts(name=ClearingName.OPEN, keeps_budget=False, shows_bids=True, streams=True),
            ClearingFacts(name=ClearingName.SINGLE_MINDED, keeps_budget=True, by_rule=False),
            ClearingFacts(name=ClearingName.FALLAH, keeps_budget=False, ahead=True),
        )
    }
)
