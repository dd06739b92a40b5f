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


@final
@dataclass(frozen=True, slots=True, eq=False)
class MerkleTree:
    """A tree that is kept, so that many proofs cost little. Make one with :func:`merkle_tree`."""

    levels: tuple[tuple[bytes, ...], ...]

    def __len__(self) -> int:
        return len(self.levels[0])

    @property
    def root(self) -> bytes:
        """The one hash that stands for the list."""
        return self.levels[-1][0] if self.levels[0] else EMPTY_ROOT

    def proof(self, place: int) -> InclusionProof:
        """The proof that the entry at a place is in the list."""
        ensure(0 <= place < len(self), "there is no such place in the list")
        beside = [(place >> height) ^ 1 for height in range(len(self.levels) - 1)]
        path = tuple(level[at] for at, level in zip(beside, self.levels, strict=False) if at < len(level))
        return InclusionProof(place=place, leaves=len(self), path=path)


def leaf_hash(data: bytes) -> bytes:
    """What stands for one entry of the list."""
    return hashlib.sha256(_LEAF + data).digest()


def merkle_tree(entries: Sequence[bytes]) -> MerkleTree:
    """The tree over entries (not yet hashed), in the order given.

    >>> merkle_tree([b"a"]).root == leaf_hash(b"a")
    True
    >>> merkle_tree([b"a", b"b", b"c"]).root == merkle_tree([b"a", b"b", b"c", b"c"]).root
    False
    """
    levels = [tuple([leaf_hash(data) for data in entries])]
    while len(levels[-1]) > 1:
        below = levels[-1]
        pairs = tuple([_node(left, right) for left, right in zip(below[::2], below[1::2], strict=False)])
        levels.append(pairs + below[len(below) - len(below) % 2 :])
    return MerkleTree(tuple(levels))


def is_included(data: bytes, proof: InclusionProof, root: bytes) -> bool:
    """Whether the proof shows that this entry is in the list with this root.

    >>> tree = merkle_tree([b"a", b"b", b"c"])
    >>> is_included(b"c", tree.proof(2), tree.root), is_included(b"b", tree.proof(2), tree.root)
    (True, False)
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
