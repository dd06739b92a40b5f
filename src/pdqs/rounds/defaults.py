"""What terms say when nothing else is said: the honest choices, the default cap on epsilon among them."""

from __future__ import annotations

from typing import Final

from pdqs.model.names import ClearingName, ContractName, EstimatorName, QuestionKind, RuleName

DEFAULT_BID_RANGE: Final = (0.0, 1.0)
DEFAULT_RULE: Final = RuleName.LOTTERY.value
DEFAULT_CLEARING: Final = ClearingName.LADDER.value
DEFAULT_CONTRACT: Final = ContractName.ON_REPORT.value
DEFAULT_ESTIMATOR: Final = EstimatorName.UNBIASED.value
DEFAULT_QUESTION: Final = QuestionKind.AUTO.value

DEFAULT_EPSILON_MAX: Final = 2.0
"""For yes-or-no questions a higher cap buys a lottery next to nothing (section 9 of docs/theory)."""
