"""The tree over the bids: a proof for everything that is in it, and none for anything else."""

from __future__ import annotations

import dataclasses
import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdqs.model.errors import InvariantError
from pdqs.rounds.merkle import EMPTY_ROOT, InclusionProof, is_included, leaf_hash, merkle_tree

lists = st.lists(st.binary(max_size=8), min_size=1, max_size=40)


@given(lists, st.data())
def test_every_entry_has_a_proof(entries: list[bytes], data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(entries) - 1))
    proof = merkle_tree(entries).proof(place)
    assert is_included(entries[place], proof, merkle_tree(entries).root)
    assert len(proof.path) <= (len(entries) - 1).bit_length()


@given(lists, st.binary(max_size=8), st.data())
def test_nothing_else_has_one(entries: list[bytes], other: bytes, data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(entries) - 1))
    proof = merkle_tree(entries).proof(place)
    assert is_included(other, proof, merkle_tree(entries).root) == (other == entries[place])


@given(lists, lists)
def test_two_lists_with_one_root_are_the_same_list(one: list[bytes], other: list[bytes]) -> None:
    assert (merkle_tree(one).root == merkle_tree(other).root) == (one == other)


@given(lists, st.data())
def test_a_proof_that_was_touched_proves_nothing(entries: list[bytes], data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(entries) - 1))
    proof, root = merkle_tree(entries).proof(place), merkle_tree(entries).root
    longer = dataclasses.replace(proof, path=(*proof.path, bytes(32)))
    assert not is_included(entries[place], longer, root)
    if proof.path:
        at = data.draw(st.integers(0, len(proof.path) - 1))
        flipped = bytes([proof.path[at][0] ^ 1]) + proof.path[at][1:]
        touched = (*proof.path[:at], flipped, *proof.path[at + 1 :])
        assert not is_included(entries[place], dataclasses.replace(proof, path=touched), root)
        assert not is_included(entries[place], dataclasses.replace(proof, path=proof.path[:-1]), root)


def test_a_node_does_not_pass_for_a_leaf() -> None:
    below = [leaf_hash(entry) for entry in (b"a", b"b")]
    node_as_entry = below[0] + below[1]
    assert merkle_tree([b"a", b"b"]).root != merkle_tree([node_as_entry]).root
    # Were leaves and nodes hashed alike, it would: that is what the first byte is for.
    alike = hashlib.sha256(b"\x01" + node_as_entry).digest()
    assert alike == merkle_tree([b"a", b"b"]).root


def test_the_last_of_an_odd_number_is_not_doubled() -> None:
    assert merkle_tree([b"a", b"b", b"c"]).root != merkle_tree([b"a", b"b", b"c", b"c"]).root


def test_an_empty_list_has_a_root_and_no_proofs() -> None:
    assert merkle_tree([]).root == EMPTY_ROOT == hashlib.sha256(b"").digest()
    with pytest.raises(InvariantError, match="no such place"):
        merkle_tree([]).proof(0)


@pytest.mark.parametrize("place", [-1, 3, 4])
def test_a_place_outside_the_list_is_refused(place: int) -> None:
    root = merkle_tree([b"a", b"b", b"c"]).root
    proof = InclusionProof(place=place, leaves=3, path=merkle_tree([b"a", b"b", b"c"]).proof(2).path)
    assert not is_included(b"c", proof, root)
