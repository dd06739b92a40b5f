"""Lies in how a thing is said: in letters that look alike, in lists where a text belongs, by leaving a figure out."""

from __future__ import annotations

from pdqs.rounds.commitments import commitment_to

from .edits import odd_words, on, put, written
from .lies_between_rounds import answers, between, earlier_bid
from .market import NONCE, SEED, Lie


def labelled(*labels: str, check: str = "answers apart") -> Lie:
    return written(check, lambda script: answers(script, labels=list(labels)))


FORMS = {
    "answers apart by a large letter of Cyrillic": labelled("Tea", "\u0422ea", "none"),
    "answers apart by another large letter of Cyrillic": labelled("HIV", "\u041dIV", "none"),
    "answers apart by a large letter of Greek": labelled("Aids", "\u0391ids", "none"),
    "answers apart by a large letter of Cherokee": labelled("Tea", "\u13a2ea", "none"),
    "answers apart by a letter of Armenian": labelled("no", "n\u0585", "none"),
    "answers apart by the letter i of Cyrillic": labelled("mint", "m\u0456nt", "none"),
    "answers apart by a stroke for a letter": labelled("all", "al\u04cf", "none"),
    "answers apart by a large stroke for a small letter": labelled("all", "a\u04c0\u04c0", "none"),
    "answers apart by a sign of Khmer that shows nothing": labelled("tea", "tea\u17b4", "none"),
    "answers apart by a sign that shows nothing and is yet to be": labelled("tea", "te\u2065a", "none"),
    "answers apart by the last sign that shows nothing": labelled("tea", "te\U000e0fffa", "none"),
    "answers apart by signs that nobody has a letter for": labelled("\ue000", "\ue001", "none"),
    "answers apart by the length of a dash": labelled("1-5", "1\u20135", "none"),
    "answers apart by a raised letter for a raised nought": labelled("10\u00ba", "10\u2070", "none"),
    "an answer that shows nothing": labelled("tea", "\u200b", "none"),
    "an answer of spaces": labelled("tea", "\u00a0", "none"),
    "numbers turned around by marks": labelled("1-5", "\u200f5\u200f-\u200f1x", "none", check="one direction"),
    "a mark of Arabic in an answer": labelled("1-5", "\u061c6-9", "none", check="one direction"),
    "a question turned around by marks": written("one direction", odd_words("Above \u200f5\u200f.\u200f20?")),
    "a question with a mark from left to right": written("one direction", odd_words("Tea\u200e?")),
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
