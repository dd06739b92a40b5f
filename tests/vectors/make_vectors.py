"""Write ``randomiser.json``: words and reports for every language's device to replay.

Nothing here calls pdqs. The reports come from the definition at the top of ``pdqs/randomiser.py``, followed word by
word with Python's integers; eps and prices come from decimal arithmetic of 60 digits. Run it with

    python tests/vectors/make_vectors.py

and it rewrites the file beside it, the same bytes every time.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Iterator
from decimal import ROUND_CEILING, Decimal, localcontext
from pathlib import Path
from typing import Any

WORD = 2**32
SEED = 20_240_601
SIZES = (*range(2, 65), 100, 101, 255, 256, 257, 1000, 65_535, 65_537, 1_000_003, 2**30 + 1, 2**31 - 1, 2**31)
NUMERATORS = (0, 1, 2**31, WORD - 1, 4_140_446_321, 1_431_655_765)
FILE = Path(__file__).with_name("randomiser.json")


def report_of(code: int, numerator: int, domain_size: int, words: Iterator[int]) -> int:
    """Steps 1 to 3 of the definition, for one owner."""
    coin = next(words)
    limit = WORD - WORD % domain_size
    die = next(words)
    while die >= limit:
        die = next(words)
    return code if coin < numerator else die % domain_size


def case(code: int, numerator: int, domain_size: int, words: list[int]) -> dict[str, Any]:
    rest = iter(words)
    report = report_of(code, numerator, domain_size, rest)
    left = len(list(rest))
    return {
        "domain_size": domain_size,
        "numerator": numerator,
        "code": code,
        "words": words,
        "report": report,
        "words_used": len(words) - left,
    }


def coins_about(numerator: int) -> list[int]:
    """The words on either side of the coin's edge, and the two ends."""
    return sorted({0, max(numerator - 1, 0), min(numerator, WORD - 1), WORD - 1})


def randomiser_cases() -> Iterator[dict[str, Any]]:
    rng = random.Random(SEED)
    for domain_size in SIZES:
        limit = WORD - WORD % domain_size
        for numerator in NUMERATORS:
            coin = rng.choice(coins_about(numerator))
            code = rng.choice([0, domain_size - 1, rng.randrange(domain_size)])
            yield case(code, numerator, domain_size, [coin, rng.randrange(limit), rng.randrange(WORD)])
        # Every coin at an edge, with the last die that is taken.
        for coin in coins_about(2**31):
            yield case(domain_size - 1, 2**31, domain_size, [coin, limit - 1, 7])
        if limit < WORD:  # dice that are refused: the first and the last of them, one, two and three in a row
            for refused in ([limit], [WORD - 1], [limit, WORD - 1], [WORD - 1, limit, limit]):
                for coin in (0, WORD - 1):
                    yield case(0, 2**31, domain_size, [coin, *refused, rng.randrange(limit), rng.randrange(WORD)])


def epsilon_exact(numerator: int, domain_size: int) -> Decimal:
    """ln(1 + k q / (1 - q)) with q = N / 2^32: the logarithm of a ratio of whole numbers."""
    return (Decimal(WORD + (domain_size - 1) * numerator) / Decimal(WORD - numerator)).ln()


def epsilon_cases() -> Iterator[dict[str, Any]]:
    for domain_size in (2, 3, 5, 12, 48, 101, 1000, 2**31):
        for numerator in (0, 1, 2, 1000, 2**20, 2**30, 1_431_655_765, 2**31, 3_418_842_000, 4_140_446_321, WORD - 1):
            exact = epsilon_exact(numerator, domain_size)
            nanos = int((exact * 10**9).to_integral_value(ROUND_CEILING))
            yield {"numerator": numerator, "domain_size": domain_size, "epsilon": float(exact), "nanos": nanos}


def price_cases() -> Iterator[dict[str, Any]]:
    """The least payment that covers bid x eps, and its neighbours on either side."""
    for domain_size in (2, 48):
        for numerator in (0, 1000, 2**31, 3_418_842_000, 4_140_446_321):
            for bid_micros in (0, 1, 37, 125_000, 999_999, 1_000_000, 250_000_001):
                least = int((bid_micros * epsilon_exact(numerator, domain_size)).to_integral_value(ROUND_CEILING))
                for payment in (least - 1, least, least + 1):
                    if payment >= 0:
                        yield {
                            "bid_micros": bid_micros,
                            "numerator": numerator,
                            "domain_size": domain_size,
                            "payment_micros": payment,
                            "fair": payment >= least,
                        }


def vectors() -> dict[str, Any]:
    with localcontext() as context:
        context.prec = 60
        return {
            "about": "Made by make_vectors.py from the definition in pdqs/randomiser.py; q = numerator / 2^32.",
            "reports": list(randomiser_cases()),
            "epsilons": list(epsilon_cases()),
            "prices": list(price_cases()),
        }


def text_of(found: dict[str, Any]) -> str:
    """One case to a line, so that a change is a change of lines."""

    def lines(cases: Iterable[dict[str, Any]]) -> str:
        return ",\n    ".join(json.dumps(one) for one in cases)

    parts = [f'  "about": {json.dumps(found["about"])}']
    parts += [f'  "{name}": [\n    {lines(found[name])}\n  ]' for name in ("reports", "epsilons", "prices")]
    return "{\n" + ",\n".join(parts) + "\n}\n"


if __name__ == "__main__":
    FILE.write_text(text_of(vectors()), encoding="utf-8")
