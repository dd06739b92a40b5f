r"""Truthful and within budget for every draw: the leave-one-out ladder over bids and draws (section 9 of docs/theory).

Money is micro-units and draws are words k in 0..2^bits - 1. With R(b; g) the number of words at which bid b is asked at
rung g, T(k; g) the highest price asked at word k, c = b l* rounded up, and all P_j, A, B whole numbers:

*At q\** (the cap is at most eps\*), for markets of up to EXACT owners:

    P_j(g) = T(k_j; g) if k_j < R(b_j; g), else 0;   A(g) = sum_j P_j(g);   B_i(g) = A(g) - P_i(g)
    G_i = the largest g with B_i(g) + c_i <= beta;   chance_i = R(b_i; G_i);   asked iff k_i < chance_i
    price_i = max_g min(beta - B_i(g), T(k_i; g))

**Theorem.** For every bid vector and every draw no misreport gains anything, nobody is paid less than she asks, and
the budget holds. *Proof.* She is asked iff some g has k_i < R(b_i; g) and c_i <= beta - B_i(g), that is, iff
c_i <= price_i; and price_i does not read b_i. If asked, price_i >= c_i >= b_i l\*; if not, then
price_i <= c_i - 1 < b_i l\*, so a lie that gets her asked loses. Budget: price_i <= P_i(g_i) at the largest g_i that
attains the maximum; with m the owner whose g_i is largest, sum_i price_i <= beta - B_m(g_m) + sum_{i != m} P_i(g_m)
= beta. []  The chance is exact: B_i reads neither her bid nor her word, so she is asked at exactly chance_i of the
2^bits words that she might have drawn.

*Beyond q\**: rung_i = the largest g with B_i(g) + P(lo, k_i; g) <= beta, where P is that of
:mod:`pdqs.clearing.lottery.full_curve`. It reads her word but not her bid: truthful to the micro-unit by which payments
are rounded up. With v_g the first word at which P(lo, .; g) fits, she is asked at the words of the union of
[v_g, R(b; g)).

*More than EXACT owners*: costs by cell (:mod:`pdqs.clearing.lottery.summaries`), and the largest payment is put aside
in place of c_i: rung_i = the largest g with A(g) - P_cell(i)(g) + P(lo, 0; g) <= beta reads neither her bid nor her
word.

Three steps, so that streams and clusters share them: :func:`summarise_lottery`, :func:`calibrate_lottery`,
:func:`apply_lottery`.
"""

from __future__ import annotations

from pdqs.clearing.lottery.calibration import LotteryCalibration, calibrate_lottery
from pdqs.clearing.lottery.clearing import LotteryResult, apply_lottery, clear_by_lottery, posted_to_all
from pdqs.clearing.lottery.market import BITS, LotteryMarket
from pdqs.clearing.lottery.prices import posted_prices
from pdqs.clearing.lottery.summaries import EXACT, summarise_lottery

__all__ = [
    "BITS",
    "EXACT",
    "LotteryCalibration",
    "LotteryMarket",
    "LotteryResult",
    "apply_lottery",
    "calibrate_lottery",
    "clear_by_lottery",
    "posted_prices",
    "posted_to_all",
    "summarise_lottery",
]
