"""Lies in how a thing is said: in letters that look alike, in lists where a text belongs, by leaving a figure out."""

from __future__ import annotations

from pdqs.rounds.commitments import commitment_to

from .edits import on, put
from .lies_between_rounds import between, earlier_bid
from .market import NONCE, SEED

FORMS = {
    "a lottery that posts no price": between(
        "posted price", goal="drawn", edit=on("GET offer", put(posted_micros=None))
    ),
    "the seed of another round, told there in a list": between(
        "fresh secrets", seed=(earlier_bid(seed_hash=[commitment_to("seed", SEED)]),)
    ),
    "the nonce of another round, told there in a list of a list": between(
        "fresh secrets", seed=(earlier_bid(nonce_hash=[[commitment_to("nonce", NONCE)]]),)
    ),
}
