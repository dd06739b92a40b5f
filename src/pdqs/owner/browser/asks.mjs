// What only the owner can decide: the twin of pdqs/owner/asks.py. Each is a question to her, and nothing is drawn until she
// agrees. They follow from the account, which another tab may change while she reads: they are asked for when she looks, and
// looked at once more in the transaction that charges her.

import { Refusal } from "./refusal.mjs";

/** By name, what the owner is asked before anything is drawn. */
export function asksOf(account, market, told) {
  const { notice: { question: { attribute, text }, terms_hash: termsHash }, promise } = told;
  const found = {};
  const before = account.alsoAskedAs(attribute, text);
  if (!account.knows(attribute)) {
    found["new fact"] = `“${attribute}” is a fact that you were never asked about before. It gets an account of its own, so agree only if it is not one of yours under a new name.`;
  }
  if (before.length && !account.askedSo(attribute, text)) {
    found["asked before"] = `The same words, or ones that look like them, were asked before under another name (${before.join(", ")}).`;
  }
  if (account.answeredAsAnother(market, termsHash)) {
    found["answered before"] = "A report on these very terms was made from here already, under another name of yours or of the market's. Agree only if it was somebody else who answered.";
  }
  const keys = account.keys(market);
  if (keys.length && !keys.includes(promise.receiptKey)) {
    found["new key"] = "The market signs with another key than in the rounds that you reported in: what it signed then it could deny now, so agree only if it has told you why.";
  }
  return { ...found, ...asksElsewhere(account, market, told) };
}

/** Where the market's count of her reports is not the account's. */
function asksElsewhere(account, market, { counted, accepted }) {
  const known = account.elsewhere(market);
  const made = account.made(market) + known;
  if (counted > made) {
    return { "elsewhere": `The market has ${counted} reports of yours and this browser made ${made}: another device reports for you, or this browser's account is an old copy, and what they spent is not counted here.` };
  }
  if (accepted <= counted && counted < accepted + known) { // less than it signed for here is refused by a check
    return { "fewer elsewhere": `You agreed before that other devices made ${known} reports of yours in this market, and it now counts ${counted - accepted} of them. Agree only if there were no more, for else it has forgotten some, and could ask you once more for what you have told it.` };
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
    throw new Refusal(`Something has changed since you looked, from another tab. ${sentence} Nothing was drawn and nothing was sent: look at the offer again.`, "OwnerMustAgree");
  }
  const found = [];
  if ("new fact" in now || "asked before" in now) found.push({ kind: "admitted", attribute, text });
  if ("elsewhere" in now || "fewer elsewhere" in now) found.push({ kind: "elsewhere", market, reports: Math.max(told.counted - account.made(market), 0) });
  return found;
}
