"""Write ``questions.json``: words and reports of every question for every language's device to replay.

Nothing here calls pdqs. The reports come from the definition at the top of ``pdqs/privacy/asking.py``, followed word by
word with Python's integers. Run it with

    python tests/vectors/make_question_vectors.py

and it rewrites the file beside it, the same bytes every time.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

WORD = 2**32
SEED = 20_261_116
FILE = Path(__file__).with_name("questions.json")
SIZES = (2, 3, 5, 8, 10, 48, 61, 101, 257, 1000, 65_537, 1_000_000)
NUMERATORS = (0, 1, 2**31, WORD - 1, 1_431_655_765)


def die(sides: int, words: Iterator[int]) -> int:
    limit = WORD - WORD % sides
    return next(word for word in words if word < limit) % sides


def philox(counter: tuple[int, ...], key: tuple[int, int]) -> tuple[int, ...]:
    """Philox4x32-10."""
    x0, x1, x2, x3 = counter
    k0, k1 = key
    for _ in range(10):
        p0, p1 = x0 * 0xD2511F53, x2 * 0xCD9E8D57
        x0, x1, x2, x3 = (p1 >> 32) ^ x1 ^ k0, p1 % WORD, (p0 >> 32) ^ x3 ^ k1, p0 % WORD
        k0, k1 = (k0 + 0x9E3779B9) % WORD, (k1 + 0xBB67AE85) % WORD
    return x0, x1, x2, x3


def bucket_map(seed: int, size: int) -> tuple[int, int, int]:
    """a, b and p of the public map."""
    p = next(n for n in count(size) if all(n % d for d in range(2, int(n**0.5) + 1)))
    words = (word for block in count() for word in philox((0, 0, block, 0), (seed, 0)))
    a = 1 + die(p - 1, words)
    return a, die(p, words), p


def prepared(question: dict[str, Any], size: int, code: int, words: Iterator[int]) -> tuple[int, int]:
    """The code that the randomiser hides, and kappa."""
    if question["kind"] == "level":
        low, over = divmod(code * (question["levels"] - 1), size - 1)
        return low + (die(max(size - 1, 2), words) < over), question["levels"]
    if question["kind"] == "side":
        return int(code <= question["code"]), 2
    if question["kind"] == "bucket":
        a, b, p = bucket_map(question["seed"], size)
        return (a * code + b) % p * question["buckets"] // p, question["buckets"]
    return code, size


def case(question: dict[str, Any], size: int, code: int, numerator: int, words: list[int]) -> dict[str, Any]:
    rest = iter(words)
    truth, kappa = prepared(question, size, code, rest)
    coin = next(rest)
    random_code = die(kappa, rest)
    report = truth if coin < numerator else random_code
    used = len(words) - len(list(rest))
    return {
        "question": question,
        "domain_size": size,
        "code": code,
        "numerator": numerator,
        "words": words,
        "kappa": kappa,
        "report": report,
        "words_used": used,
    }


def questions(size: int, rng: random.Random) -> Iterator[dict[str, Any]]:
    yield {"kind": "value"}
    for levels in sorted({2, 3, 5, size}):
        if levels <= size:
            yield {"kind": "level", "levels": levels}
    for code in sorted({0, size - 2, rng.randrange(size - 1)}):
        yield {"kind": "side", "code": code}
    for buckets in sorted({2, 4, 9}):
        if buckets <= size:
            yield {"kind": "bucket", "buckets": buckets, "seed": rng.randrange(WORD)}


def reports() -> Iterator[dict[str, Any]]:
    rng = random.Random(SEED)
    for size in SIZES:
        for question in questions(size, rng):
            for numerator in NUMERATORS:
                code = rng.choice([0, size - 1, rng.randrange(size)])
                yield case(question, size, code, numerator, [rng.randrange(WORD) for _ in range(8)])
            steps = max(size - 1, 2)
            limit = WORD - WORD % steps
            if question["kind"] == "level" and limit < WORD:  # rounding words that are refused
                for refused in ([limit], [WORD - 1, limit]):
                    words = [*refused, rng.randrange(limit), 0, 5, 6, 7, 8]
                    yield case(question, size, size // 2, 2**31, words)
            if question["kind"] == "level":  # the rounding die on either side of its edge
                over = (size // 2) * (question["levels"] - 1) % (size - 1)
                for face in sorted({max(over - 1, 0), min(over, steps - 1)}):
                    yield case(question, size, size // 2, WORD - 1, [face, 0, 1, 2, 3, 4])


def maps() -> Iterator[dict[str, int]]:
    """Public maps; for the largest domain also seeds whose first words are refused by the die for a, and for b."""
    rng = random.Random(SEED + 1)
    for size in SIZES:
        for seed in (0, 1, WORD - 1, rng.randrange(WORD)):
            a, b, p = bucket_map(seed, size)
            yield {"seed": seed, "domain_size": size, "a": a, "b": b, "p": p}
    size = 1_000_000
    _, _, p = bucket_map(0, size)
    for place, sides in ((0, p - 1), (1, p)):
        limit = WORD - WORD % sides
        seed = next(s for s in count() if philox((0, 0, 0, 0), (s, 0))[place] >= limit)
        a, b, _ = bucket_map(seed, size)
        yield {"seed": seed, "domain_size": size, "a": a, "b": b, "p": p}


def texts() -> Iterator[dict[str, Any]]:
    income = {"start": 0, "step": 500, "size": 41}
    small = {"start": 0.1, "step": 0.1, "size": 30}
    large = {"start": 0, "step": 10_000_000_000, "size": 5}
    wide = "(Rounded up or down at random, right on average.)"
    for question, domain, said in (
        ({"kind": "side", "code": 5}, income, "Is your monthly income at most 2,500?"),
        ({"kind": "side", "code": 2}, small, "Is your monthly income at most 0.3?"),
        ({"kind": "side", "code": 1}, large, "Is your monthly income at most 10,000,000,000?"),
        (
            {"kind": "level", "levels": 3},
            income,
            f"Which is nearer to your monthly income: 0, 10,000 or 20,000? {wide}",
        ),
        ({"kind": "value"}, income, "What is your monthly income?"),
        (
            {"kind": "bucket", "buckets": 4, "seed": 7},
            income,
            "Which of these 4 groups, mixed for you alone, holds your monthly income?",
        ),
    ):
        yield {"question": question, "domain": domain, "said": said}


def vectors() -> dict[str, Any]:
    return {
        "about": "Made by make_question_vectors.py from the definition in pdqs/privacy/asking.py; q = numerator/2^32.",
        "reports": list(reports()),
        "maps": list(maps()),
        "texts": list(texts()),
    }


def text_of(found: dict[str, Any]) -> str:
    """One case to a line, so that a change is a change of lines."""
    parts = [f'  "about": {json.dumps(found["about"])}']
    for name in ("reports", "maps", "texts"):
        lines = ",\n    ".join(json.dumps(one) for one in found[name])
        parts.append(f'  "{name}": [\n    {lines}\n  ]')
    return "{\n" + ",\n".join(parts) + "\n}\n"


if __name__ == "__main__":
    FILE.write_text(text_of(vectors()), encoding="utf-8")
