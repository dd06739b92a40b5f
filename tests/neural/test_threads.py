"""The same seed gives the same bytes, whatever the number of threads."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

from pdqs.neural.sums import product

TRAIN = """
import hashlib
from pdqs import neural
config = neural.NpqmConfig(owners=1500, budgets=(150.0, 750.0), released={released}, steps=3, nodes=24, seed=4)
summed = hashlib.sha256()
for trained in neural.train(config):
    summed.update(trained.trace.tobytes())
    for rule in trained.rules.values():
        summed.update(rule.nets.digest.encode() + repr(rule.typical).encode())
print(summed.hexdigest())
"""


def printed_with(threads: int, script: str) -> str:
    names = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NPROC")
    environment = {**os.environ, **dict.fromkeys(names, str(threads))}
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, env=environment)
    return ran.stdout


@pytest.mark.parametrize("released", [True, False], ids=["released", "printed"])
def test_one_and_two_threads_train_the_same_bytes(released: bool) -> None:
    script = TRAIN.format(released=released)
    assert printed_with(1, script) == printed_with(2, script)


@pytest.mark.parametrize(("left", "right"), [((3, 4), (4, 5)), ((3, 4), (4,)), ((4,), (4, 5)), ((4,), (4,))])
def test_a_product_is_the_matrix_product(left: tuple[int, ...], right: tuple[int, ...]) -> None:
    rng = np.random.default_rng(3)
    a, b = rng.random(left), rng.random(right)
    assert product(a, b) == pytest.approx(a @ b, rel=1e-14)
