"""A round's draws: committed to when it opens, the bids' root published when bids close, and only then told.

    open: hashes of the market's seed and of the consumer's nonce are frozen in the terms
    bids close: the root over all bids is stored and published, signed
    then: the nonce is told (by the consumer, or by the market where it draws one for her), offers are made from the
    draws that follow, and seed and nonce are there for everyone to see

What each side could and could not do to the draws: docs/decisions/0008. The bytes: :mod:`pdqs.rounds.commitments`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, final

import numpy as np
from sqlalchemy import Connection, select

from pdqs.market.context import Market
from pdqs.market.receipts import signed
from pdqs.market.round_terms import receipt_key_of
from pdqs.market.store.schema import bids, rounds
from pdqs.market.store.sql import Found, cells_found
from pdqs.model.arrays import Integers
from pdqs.model.errors import ensure
from pdqs.protocol.device_messages import BidsRoot, Lots
from pdqs.protocol.market_messages import RoundPlan
from pdqs.protocol.problems import ProblemType, UnprocessableError
from pdqs.rounds.commitments import SECRET_BYTES, commitment_to, pseudonym_of
from pdqs.rounds.merkle import MerkleTree
from pdqs.verifying.figures import PublicWords
from pdqs.verifying.making import words_for
from pdqs.verifying.record import reports_tree, tree_over

NONCE_SECONDS = 86_400
"""How long after bids close a consumer may take to tell her nonce; then the round is called off."""

_TREES_KEPT = 64


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Secrets:
    """What a round draws from: the market's seed, and the nonce where the market holds it too (in hexadecimal)."""

    seed: str
    nonce: str | None
    promised: dict[str, object]
    """What the frozen document says of them."""


def new_secrets(market: Market, plan: RoundPlan) -> Secrets:
    """Fresh secrets for a round, and the commitments to them."""
    seed = market.secret(SECRET_BYTES)
    nonce = market.secret(SECRET_BYTES) if plan.nonce_hash is None else None
    holder: Literal["consumer", "market"] = "consumer" if nonce is None else "market"
    promised: dict[str, object] = {
        "seed_hash": commitment_to("seed", seed),
        "nonce_hash": plan.nonce_hash if nonce is None else commitment_to("nonce", nonce),
        "nonce_by": holder,
        "nonce_seconds": NONCE_SECONDS,
        "record": market.settings.records,
    }
    return Secrets(seed=seed.hex(), nonce=None if nonce is None else nonce.hex(), promised=promised)


def refuse_copied(connection: Connection, plan: RoundPlan) -> None:
    """Refuse what another round is committed to already. It is public while bids are open, and no secret of two rounds:
    devices of owners who bid in a copy first would not bid in the round that it was copied from."""
    if plan.nonce_hash is None:
        return
    # No text in JSON holds these signs but as a field of its own: quotes within one are marked.
    named = rounds.c.terms.contains(f'_hash":"{plan.nonce_hash}"', autoescape=True)
    if connection.scalar(select(rounds.c.round_id).where(named).limit(1)) is not None:
        told = "the hash of your part of the draw is one that another round is committed to already: draw another part"
        raise UnprocessableError(ProblemType.BAD_TERMS, told)


def promised_of(document: str) -> dict[str, object]:
    """What a frozen document says of its draws and of who asks; nothing for a round from before it said so."""
    said = json.loads(document)
    kept = ("seed_hash", "nonce_hash", "nonce_by", "nonce_seconds", "record", "asked_by")
    return {name: said[name] for name in kept if name in said}


@final
@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class NamedBids:
    """A round's bids in the order of their owners' pseudonyms, which is that of the tree, the offers and the record.

    ``found`` are the bids as they were read, by owner, and ``order`` their places there.
    """

    found: Sequence[tuple[str, int]]
    order: Integers
    pseudonyms: list[bytes]
    bid_micros: list[int]

    @property
    def owner_ids(self) -> list[str]:
        """The owners."""
        return [self.found[place][0] for place in self.order.tolist()]

    @property
    def by_owner(self) -> Integers:
        """The place that each owner of ``found`` has in the order of pseudonyms."""
        places = np.empty_like(self.order)
        places[self.order] = np.arange(self.order.size)
        return places

    def __len__(self) -> int:
        return len(self.found)

    def tree(self) -> MerkleTree:
        """The tree over all bids."""
        return tree_over(self.pseudonyms, self.bid_micros)


def bids_found(connection: Connection, round_id: str) -> list[tuple[str, int]]:
    """Every owner who bid in a round, with her bid, in the order of their ids."""
    own = select(bids.c.owner_id, bids.c.bid_micros).where(bids.c.round_id == round_id).order_by(bids.c.owner_id)
    return cells_found(connection, own)


def named(round_id: str, found: Sequence[tuple[str, int]]) -> NamedBids:
    """Bids in the order of their owners' pseudonyms."""
    # As arrays: a million objects in an order that is not theirs in memory are slower to gather than to make.
    names = np.frombuffer(b"".join([pseudonym_of(round_id, owner_id) for owner_id, _ in found]), dtype="S32")
    order, bid_micros = np.argsort(names, kind="stable"), np.array([bid for _, bid in found], dtype=np.int64)
    sorted_names = names[order].tobytes()
    return NamedBids(
        found=found,
        order=order,
        pseudonyms=[sorted_names[start : start + 32] for start in range(0, len(sorted_names), 32)],
        bid_micros=bid_micros[order].tolist(),
    )


def named_bids(connection: Connection, round_id: str) -> NamedBids:
    """All bids of a round."""
    return named(round_id, bids_found(connection, round_id))


def root_over(market: Market, row: Found, tree: MerkleTree, bids_in_it: int, now_ms: int) -> BidsRoot:
    """The root of the tree over a round's bids, signed by the key that its terms name."""
    plain = BidsRoot(
        round_id=row.round_id,
        terms_hash=row.terms_hash,
        root=tree.root.hex(),
        bids=bids_in_it,
        published_at_ms=now_ms,
    )
    return signed(market, receipt_key_of(row.terms), plain)


def root_over_reports(round_id: str, codes: Mapping[str, int | None]) -> str:
    """The root over the reports that came, by owner, in hexadecimal."""
    came = [(owner_id, code) for owner_id, code in codes.items() if code is not None]
    named = sorted((pseudonym_of(round_id, owner_id), code) for owner_id, code in came)
    return reports_tree([name for name, _ in named], [code for _, code in named]).root.hex()


def words_of(row: Found, names: Sequence[bytes]) -> PublicWords | None:
    """The public words of owners by their names in the round, from its secrets; none for a round that was opened before
    there were any."""
    if row.seed is None:
        return None
    seed, nonce = bytes.fromhex(row.seed), bytes.fromhex(row.nonce)
    said = promised_of(row.terms)
    kept = (said["seed_hash"], said["nonce_hash"]) == (commitment_to("seed", seed), commitment_to("nonce", nonce))
    ensure(kept, "the seed and the nonce are not those that the terms are committed to")
    return words_for(row.seed, row.nonce, names)


def lots_for(market: Market, row: Found, owner_id: str) -> Lots | None:
    """What shows one owner where her draw came from; ``row`` is of a round whose offers are made."""
    if row.seed is None or row.nonce is None or row.bids_root is None:
        return None
    tree, places = _tree_of(market, row)
    proof = tree.proof(places[pseudonym_of(row.round_id, owner_id)])
    return Lots(seed=row.seed, nonce=row.nonce, place=proof.place, path=[beside.hex() for beside in proof.path])


def _tree_of(market: Market, row: Found) -> tuple[MerkleTree, dict[bytes, int]]:
    """The tree of a round and everyone's place in it; bids do not change any more, so it is made once."""
    known = market.trees.get(row.round_id)
    if known is None:
        with market.store.look() as connection:
            frozen_bids = named_bids(connection, row.round_id)
        tree = frozen_bids.tree()
        published = BidsRoot.model_validate_json(row.bids_root).root
        ensure(tree.root.hex() == published, "the bids are not those over which the root was published")
        known = tree, {name: place for place, name in enumerate(frozen_bids.pseudonyms)}
        if len(market.trees) >= _TREES_KEPT:
            market.trees.clear()
        market.trees[row.round_id] = known
    return known
