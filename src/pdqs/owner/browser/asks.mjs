// What only the owner can decide: the twin of pdqs/owner/asks.py. Each is a sentence that she agrees to or not, and nothing is
// drawn until she does. They follow from the account, which another tab may change while she reads: they are asked for when she looks, and
// looked at once more in the transaction that charges her.

import { namedElsewhere, signsElsewhere } from "./commitments.mjs";
import { Refusal } from "./refusal.mjs";

/** Such a sentence as she says it by a tick. */
export const asAgreement = (sentence) => `I agree: ${sentence[0].toLowerCase()}${sentence.slice(1)}`;

/** By name, what the owner is asked before anything is drawn. */
export function asksOf(account, market, told) {
  const { notice: { question: { attribute, text }, terms_hash: termsHash } } = told;
  const found = {};
  const before = account.alsoAskedAs(attribute, text);
  if (!account.knows(attribute)) {
    found["new fact"] = `“${attribute}” is a new fact, and not one asked about before under another name. It gets an account and a lifetime cap of its own.`;
  }
  if (before.length && !account.askedSo(attribute, text)) {
    found["asked before"] = `The same words, or ones that look like them, were asked before under another name (${before.join(", ")}).`;
  }
  if (account.answeredAsAnother(market, termsHash)) {
    found["answered before"] = "A report on these very terms was made from here already, under another name of yours or of the market's, and it was somebody else who answered.";
  }
  return { ...found, ...asksOfKeys(account, market, told), ...asksElsewhere(account, market, told) };
}

/** Where what the market signs with, or is committed to, may not be its own, or not sign for enough. */
function asksOfKeys(account, market, { notice: { terms_hash: termsHash }, promise }) {
  const [keys, found] = [account.keys(market), {}];
  if (keys.length && !keys.includes(promise.receiptKey)) {
    found["new key"] = "The market signs with another key than in the rounds that you reported in, and has told you why. What it signed then it could deny now.";
  }
  const others = keys.includes(promise.receiptKey) ? [] : signsElsewhere(account, market, promise.receiptKey);
  if (others.length) {
    found["shared key"] = `This market's key is the one that signed for your bids at ${others.join(", ")}. The two are one market, as you know, for else one passes on what the other says, and what is paid for your report may be paid to whoever does so.`;
  }
  const copied = namedElsewhere(account, market, [promise.seedHash, promise.nonceHash].filter(Boolean), termsHash);
  if (copied.length) {
    found["same secrets"] = `A round that you bid in at ${copied.join(", ")} is committed to the same seed or nonce as this one. One of the two has copied it, which anyone can, and if it was this one, your draw may have been known to others, and you trust this market all the same.`;
  }
  if (promise.receiptForm < 2) {
    found["unsigned asking"] = "The market does not promise to sign for what it asks of you in this round, nor that its receipts are yours, as rounds of older markets did not. If its record says later that it asked for less, or it calls a receipt somebody else's, nothing that it signed would show it.";
  }
  return found;
}

/** Where the market's count of her reports is not the account's. */
function asksElsewhere(account, market, { counted, accepted }) {
  const known = account.elsewhere(market);
  const made = account.made(market) + known;
  if (counted > made) {
    return { "elsewhere": `The market has ${counted} reports of yours and this browser made ${made}: another device reports for you, or this browser's account is an old copy, and what they spent is not counted here.` };
  }
  if (accepted <= counted && counted < accepted + known) { // less than it signed for here is refused by a check
    return { "fewer elsewhere": `You agreed before that other devices made ${known} reports of yours in this market, and it now counts ${counted - accepted} of them: there were no more, for else it has forgotten some, and could ask you once more for what you have told it.` };
  }
  return {};
}

/** What she agreed to, to be kept so that it is not asked again. `account` is as it is when she is charged, `agreed` what
 * she was shown and agreed to: if she would be asked for anything else now, nothing is drawn. */
export function admitted(account, market, told, agreed) {
  const { attribute, text } = told.notice.question;
  const now = asksOf(account, market, told);
  for (const [name, sentence] of Object.entries(now)) {
    if (agreed[name] === sentence) continue;
    throw new Refusal(`Something has changed since you looked, from another tab. You are asked to agree to this: ${sentence} Nothing was drawn and nothing was sent: look at the offer again.`, "OwnerMustAgree");
  }
  const found = [];
  if ("new fact" in now || "asked before" in now) found.push({ kind: "admitted", attribute, text });
  if ("elsewhere" in now || "fewer elsewhere" in now) found.push({ kind: "elsewhere", market, reports: Math.max(told.counted - account.made(market), 0) });
  return found;
}
