// What a round's draws must not hang on, seeds and nonces of other rounds: the twin of pdqs/owner/commitments_before.py.
//
// A commitment is public while bids are open, so that anybody can copy it into a round of his own; only its secret shows
// whose it is. So a round is refused where the secret itself was told to this device, or where the market that asks now is
// the one that named it before. Where another market named it, one of the two has copied, and no device can tell which: that
// is a question to her (asks.mjs), else anybody could lock her out of anybody's round.

import { termsOf } from "./account.mjs";
import { commitmentTo } from "./lots.mjs";

/** A browser's name for a market has the id that she came to it with. */
const addressOf = (market) => market.split(" ")[0];

const othersOf = (bids, market) => [...new Set(bids.map((bid) => addressOf(bid.market)))].filter((other) => other !== addressOf(market)).sort();

/** A round is what its terms say: one of the same name with other terms is another. */
const otherBids = (account, termsHash) => account.all("bid").filter((bid) => bid.terms_hash !== termsHash);

/** Of every secret that came with a draw, as a seed and as a nonce, whichever it was. */
function told(account) {
  const lots = account.all("lots").map(({ evidence }) => JSON.parse(evidence).lots).filter(Boolean);
  return lots.flatMap(({ seed, nonce }) => [seed, nonce]).flatMap((secret) => ["seed", "nonce"].map((what) => commitmentTo(what, secret)));
}

/** The hashes of terms that name this key, and under which it signed for a bid: a name alone proves nothing. */
function signedBy(account, receiptKey) {
  const signed = account.all("bid-accepted").map(({ receipt }) => JSON.parse(receipt).terms_hash);
  return account.all("bid").filter((bid) => signed.includes(bid.terms_hash) && termsOf(bid).key === receiptKey).map((bid) => bid.terms_hash);
}

/** The other markets where this key signed for her bid: one market of two names, or one that passes another's on. */
export function signsElsewhere(account, market, receiptKey) {
  const signed = signedBy(account, receiptKey);
  return othersOf(account.all("bid").filter((bid) => signed.includes(bid.terms_hash)), market);
}

/** Commitments to what is known of other rounds: what was told here, and what this market named in them. It is this market by
 * its address, or by a key that signed for her bid; a key that is only named may be copied too. */
export function knownByNow(account, market, receiptKey, termsHash) {
  const signed = signedBy(account, receiptKey);
  const own = otherBids(account, termsHash).filter((bid) => addressOf(bid.market) === addressOf(market) || signed.includes(bid.terms_hash));
  return [...told(account), ...own.flatMap((bid) => termsOf(bid).secrets)];
}

/** The other markets whose other rounds, bid in from here by whoever, name one of these commitments. */
export function namedElsewhere(account, market, commitments, termsHash) {
  return othersOf(otherBids(account, termsHash).filter((bid) => termsOf(bid).secrets.some((secret) => commitments.includes(secret))), market);
}
