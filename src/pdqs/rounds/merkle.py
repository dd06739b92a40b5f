"""A Merkle tree: one hash that stands for a whole list, and short proofs that something is in it.

    leaf(d) = SHA-256(00 d)      node(l, r) = SHA-256(01 l r)      root of nothing = SHA-256()

Level by level, neighbours are joined; the last of an odd number goes up as it is, never doubled, so that two lists of
different length cannot have the same root. Leaves and nodes are hashed apart, so that no node passes for a leaf. A
proof is a leaf's place, the number of leaves, and the neighbours on its way up; which of them stands left or right
follows from the place. The browser's twin is ``owner/browser/lots.mjs``.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

from pdqs.model.errors import ensure

_LEAF, _NODE = b"\x00", b"\x01"
EMPTY_ROOT = hashlib.sha256().digest()


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class InclusionProof:
    """That a leaf stands at ``place`` (from 0) among ``leaves``; ``path`` holds its neighbours from below upwards."""

    place: int
    leaves: int
    path: tuple[bytes, ...]


def leaf_hash(data: bytes) -> bytes:
    """What stands for one entry of the list."""
    return hashlib.sha256(_LEAF + data).digest()


def merkle_root(leaves: Sequence[bytes]) -> bytes:
    """The root over entries (not yet hashed), in the order given.

    >>> merkle_root([b"a"]) == leaf_hash(b"a")
    True
    >>> merkle_root([b"a", b"b", b"c"]) == merkle_root([b"a", b"b", b"c", b"c"])
    False
    """
    return _levels(leaves)[-1][0] if leaves else EMPTY_ROOT


def inclusion_proof(leaves: Sequence[bytes], place: int) -> InclusionProof:
    """The proof that the entry at a place is in the list.

    >>> entries = [b"a", b"b", b"c"]
    >>> is_included(b"c", inclusion_proof(entries, 2), merkle_root(entries))
    True
    """
    return inclusion_proofs(leaves, [place])[0]


def inclusion_proofs(leaves: Sequence[bytes], places: Sequence[int]) -> list[InclusionProof]:
    """The proofs of many entries, from one tree."""
    ensure(all(0 <= place < len(leaves) for place in places), "there is no such place in the list")
    levels = _levels(leaves) if leaves else []
    return [InclusionProof(place=place, leaves=len(leaves), path=_way_up(levels, place)) for place in places]


def is_included(data: bytes, proof: InclusionProof, root: bytes) -> bool:
    """Whether the proof shows that this entry is in the list with this root.

    >>> entries = [b"a", b"b", b"c"]
    >>> is_included(b"b", inclusion_proof(entries, 2), merkle_root(entries))
    False
    """
    place, width, path = proof.place, proof.leaves, list(proof.path)
    if not 0 <= place < width:
        return False
    found = leaf_hash(data)
    while width > 1:
        if place ^ 1 < width:
            if not path:
                return False
            beside = path.pop(0)
            found = _node(found, beside) if place % 2 == 0 else _node(beside, found)
        place, width = place // 2, (width + 1) // 2
    return not path and found == root


def _node(left: bytes, right: bytes) -> bytes:
    return hashlib.sha256(_NODE + left + right).digest()


def _levels(leaves: Sequence[bytes]) -> list[list[bytes]]:
    """Every level of the tree, from the leaves to the root."""
    levels = [[leaf_hash(data) for data in leaves]]
    while len(levels[-1]) > 1:
        below = levels[-1]
        pairs = [_node(below[i], below[i + 1]) for i in range(0, len(below) - 1, 2)]
        levels.append(pairs + below[len(below) - len(below) % 2 :])
    return levels


def _way_up(levels: Sequence[Sequence[bytes]], place: int) -> tuple[bytes, ...]:
    return tuple(
        level[(place >> height) ^ 1] for height, level in enumerate(levels[:-1]) if (place >> height) ^ 1 < len(level)
    )
