// Receipts that the market cannot take back: the twin of pdqs/protocol/receipts.py and of
// pdqs/verifying/signatures.py.

import { Refusal } from "./refusal.mjs";
import { bytesOf, hexOf } from "./sha256.mjs";
import { counted, sum } from "./statement.mjs";

/** Whether a receipt is of the form that says whose it is and, for a report, what was asked. */
export const isOfForm2 = (receipt) => Object.hasOwn(receipt, "pseudonym");

export const SAYS_LESS = "The market's receipt does not say whose it is, as its terms promise.";

/** Whether a receipt that is kept, in the round of this bid, names nobody where the terms promise a name: the twin of
 * pdqs/owner/short_receipts.py. */
export const fallsShort = (bid, receipt) => Boolean(bid && receipt) && JSON.parse(bid.terms).receipt_form === 2 && !isOfForm2(JSON.parse(receipt));

/** What a receipt's signature is over. */
export function signedText(kind, receipt) {
  const names = Object.keys(receipt).filter((name) => name !== "signature").sort();
  const sorted = Object.fromEntries(names.map((name) => [name, receipt[name]]));
  return `pdqs receipt ${isOfForm2(receipt) ? 2 : 1}\n${kind}\n${JSON.stringify(sorted)}`;
}

const WEAK_KEYS = new Set([
  "00".repeat(32),
  `01${"00".repeat(31)}`,
  "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
  "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
  ...["ec", "ed", "ee"].map((last) => `${last}${"ff".repeat(30)}7f`),
]);

/** Whether anyone can sign in this key's name (a point of order 1, 2, 4 or 8), so that its receipts bind nobody. */
export function isWeak(publicKey) {
  const plain = bytesOf(publicKey);
  plain[31] &= 0x7f;
  return WEAK_KEYS.has(hexOf(plain));
}

/** Whether the holder of this key signed this receipt; refuses where the browser cannot tell. */
export async function isSigned(publicKey, kind, receipt, subtle = globalThis.crypto?.subtle) {
  if (!subtle) throw new Refusal("This page is not on a secure connection, so the market's receipt cannot be checked.");
  let key;
  try {
    key = await subtle.importKey("raw", bytesOf(publicKey), { name: "Ed25519" }, false, ["verify"]);
  } catch (fault) {
    if (fault.name === "NotSupportedError") throw new Refusal("This browser cannot check the market's signature (Ed25519).");
    return false;
  }
  const said = new TextEncoder().encode(signedText(kind, receipt));
  return subtle.verify({ name: "Ed25519" }, key, bytesOf(receipt.signature), said).catch(() => false);
}

/** Of a statement, what is about one round. */
export const linesOf = (round, statement) => counted(statement).filter((line) => line.round_id === round);

/** What the lines of a round paid her, less what they took back; null where none says that it was settled. */
export function paidBy(lines) {
  const own = lines.filter(({ kind, amount_micros: amount }) => kind === "settlement" || amount < 0);
  return lines.some(({ kind }) => kind === "settlement") ? sum(own) : null;
}
