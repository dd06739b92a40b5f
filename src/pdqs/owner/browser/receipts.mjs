// Receipts that the market cannot take back: the twin of pdqs/protocol/receipts.py.

import { Refusal } from "./refusal.mjs";
import { bytesOf } from "./sha256.mjs";

/** What a receipt's signature is over. */
export function signedText(kind, receipt) {
  const names = Object.keys(receipt).filter((name) => name !== "signature").sort();
  const sorted = Object.fromEntries(names.map((name) => [name, receipt[name]]));
  return `pdqs receipt 1\n${kind}\n${JSON.stringify(sorted)}`;
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
