"""What an offer costs in privacy, and whether it pays for it. The browser's twin is ``browser/price.mjs``.

Every figure is recomputed from the two integers that decide it: the numerator N of q = N / 2^32 and the size k of the
domain. All rounding is to the owner's side: eps up, the least payment up.
"""

from __future__ import annotations

import math

import numpy as np

from pdqs.present.text import in_digits
from pdqs.privacy.loss import Q_UNITS, epsilon_upper

_MOST_SAID = 20.0
"""No terms with a higher cap are read (:data:`pdqs.owner.reading.MOST_EPSILON`)."""

_NEARLY = 99.9
"""In 100: what is more is not rounded to all of it."""


def epsilon_of(numerator: int, domain_size: int) -> float:
    """eps(N / 2^32) on a domain of k values, never below the true one.

    >>> round(epsilon_of(2**31, 2), 4)
    1.0986
    """
    return float(epsilon_upper(np.array(numerator / Q_UNITS), domain_size))


def least_payment_micros(bid_micros: int, numerator: int, domain_size: int) -> int:
    """The least whole payment that covers bid x eps.

    bid x eps is never a whole number unless it is 0 (eps is the logarithm of a rational number), so a figure within
    rounding of one cannot be told from it: such an offer is refused.

    >>> least_payment_micros(1_000_000, 2**31, 2)
    1098613
    """
    return math.ceil(bid_micros * epsilon_of(numerator, domain_size))


def is_fair(bid_micros: int, numerator: int, domain_size: int, payment_micros: int) -> bool:
    """Whether the payment covers the owner's own price: payment >= bid x eps.

    >>> is_fair(1_000_000, 2**31, 2, 1_098_612), is_fair(1_000_000, 2**31, 2, 1_098_613)
    (False, True)
    """
    return payment_micros >= least_payment_micros(bid_micros, numerator, domain_size)


def sureness(epsilon: float) -> float:
    """How sure someone can become who first held two answers equally likely: e^eps / (1 + e^eps).

    >>> round(sureness(math.log(3)), 2)
    0.75
    """
    return 1.0 / (1.0 + math.exp(-epsilon))


def odds_in_words(epsilon: float) -> str:
    """How sure someone can become who guessed 50:50 before, as people say it; never as certain as it is not.

    Beyond 99 in 100 it is the odds themselves, e^eps : 1, rounded up; where no offer can be, only that it is more.

    >>> odds_in_words(0.1), odds_in_words(2.0), odds_in_words(4.0), odds_in_words(5.0), odds_in_words(50.0)
    ('52:48', '88:12', '98:2', '149:1', 'more than 99:1')
    """
    share = 100 * sureness(epsilon)
    if share <= 99:
        return f"{share:.0f}:{100 - round(share)}"
    return f"{math.ceil(math.exp(epsilon))}:1" if epsilon <= _MOST_SAID else "more than 99:1"


def in_words(numerator: int, domain_size: int) -> str:
    """What this eps means, for the owner.

    >>> print(in_words(2**31, 2))
    Your report is your true answer with chance 50.0 %, otherwise a random one. Whoever sees it and first held two
    answers equally likely can be at most 75.0 % sure between them (epsilon 1.0986).
    """
    epsilon, chance = epsilon_of(numerator, domain_size), 100 * numerator / Q_UNITS
    shown = "more than 99.9" if chance > _NEARLY else f"{chance:.1f}" if chance >= 0.1 else in_digits(chance, 2)
    share = 100 * sureness(epsilon)
    return (
        f"Your report is your true answer with chance {shown} %, otherwise a random one."
        " Whoever sees it and first held two answers equally likely can be at most"
        f" {f'{share:.1f} %' if share <= _NEARLY else odds_in_words(epsilon)}"
        f" sure between them (epsilon {epsilon:.4f})."
    )
