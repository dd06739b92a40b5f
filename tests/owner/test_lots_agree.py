"""Draws, names and proofs are the same in Python and in the browser, for trees of every small size."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from owner.node import BROWSER, run_node
from pdqs.owner.lots import chance_in_words
from pdqs.privacy.draws import committed_words
from pdqs.rounds.commitments import bid_entry, commitment_to, pseudonym_of
from pdqs.rounds.merkle import merkle_tree

CHANCES = (0, 1, 42_949_672, 42_949_673, 2**31, 4_252_017_623, 4_252_017_624, 2**32 - 1, 2**32)


def cases() -> list[dict[str, Any]]:
    rng = np.random.default_rng(20261116)
    found = []
    for leaves in range(1, 34):
        round_id, owner, place = f"r_{leaves:024x}", f"u_{rng.integers(2**60):024x}", int(rng.integers(leaves))
        bid = int(rng.choice([0, 255, 256, 10**9 - 1, int(rng.integers(10**9))]))
        entries = [rng.bytes(40) for _ in range(leaves)]
        entries[place] = bid_entry(pseudonym_of(round_id, owner), bid)
        tree = merkle_tree(entries)
        proof = tree.proof(place)
        found.append(
            {
                "seed": rng.bytes(32).hex(), "nonce": rng.bytes(32).hex(), "round": round_id, "owner": owner,
                "word": leaves % 20, "bid": bid, "place": place, "leaves": leaves, "root": tree.root.hex(),
                "path": [beside.hex() for beside in proof.path], "chance": CHANCES[leaves % len(CHANCES)],
            }
        )  # fmt: skip
    return found


def test_the_browser_draws_names_and_proves_as_python_does() -> None:
    given = cases()
    told = run_node(str(Path(__file__).with_name("lots_twin.mjs")), str(BROWSER), asked=given)
    for one, said in zip(given, told, strict=True):
        seed, nonce = bytes.fromhex(one["seed"]), bytes.fromhex(one["nonce"])
        name = pseudonym_of(one["round"], one["owner"])
        assert said["hashes"] == [commitment_to("seed", seed), commitment_to("nonce", nonce)]
        assert said["draw"] == int(committed_words(seed, nonce, [name], one["word"])[0])
        assert said["counted"] == [True, False]
        assert said["chance"] == chance_in_words(one["chance"])
