// What went wrong, said to a person: what happened, that nothing is lost, and what to do. The market's own text is for
// programs; what the device itself refuses is written for people and shown as it is.

const SIGNED_OUT = "You were signed out. Sign in again to come back to this page; nothing is lost.";
const SAID = {
  "bids-closed": "Bids closed before this arrived, so nothing was changed. Reload the page to see where the round stands.",
  "bid-stands": "You have another price in this round, perhaps from another tab or device. Reload the page to see it.",
  "bid-out-of-range": "That price is outside this round's range. Nothing was sent; give another.",
  "no-bid": "There is no price of yours in this round any more. Reload the page to see where it stands.",
  "other-terms": "This page is older than the round's terms. {unharmed}; reload the page.",
  "no-offer": "There is no offer to you in this round. Reload the page to see where it stands.",
  "reports-closed": "Reports closed before yours arrived. You are not paid for it, and it is not drawn again.",
  "report-stands": "The market has a report of yours in this round already, and it stands.",
  "no-round": "This round cannot be found. Go back to your rounds and choose it there.",
  "no-session": SIGNED_OUT,
  "no-credential": SIGNED_OUT, // her browser has forgotten it, as when cookies are cleared
  "bad-csrf-token": "You signed in anew in another tab. {unharmed}; reload this page and try again.",
  "wrong-role": "You are signed in as someone who is not an owner. Sign in as the owner to take part.",
  "too-many-requests": "That was too often in too short a time. Wait a minute and try again; nothing is lost.",
  "unavailable": "The market cannot take anything just now. {unharmed}; try again in a moment.",
};
const REFUSED = "The market did not take this. {unharmed}; reload the page and try again.";
const SOMEBODY_ELSE = "Somebody else ({who}) is signed in here now. {unharmed}; to go on as yourself, sign in again.";
const OFFLINE = "The market cannot be reached. Look whether you are online, then try again; what is kept here is safe.";

/** Whether it is that nobody is signed in here any more. */
export const isSignedOut = ({ type }) => SAID[type] === SIGNED_OUT;

/** A fault as a sentence that helps. `drawn`: it came while a report was sent that is drawn, and its privacy spent. */
export function inWords(fault, drawn = false) {
  const given = { unharmed: drawn ? "Your report is kept as it was drawn" : "Nothing was changed", who: fault.who };
  const said = (words) => words.replace(/\{(\w+)\}/g, (_, name) => given[name]);
  if (fault.who !== undefined) return said(SOMEBODY_ELSE);
  if (Object.hasOwn(SAID, fault.type ?? "")) return said(SAID[fault.type]);
  if (fault.name === "MarketRefusal") return said(fault.status >= 500 ? SAID.unavailable : REFUSED);
  if (fault instanceof TypeError) return OFFLINE; // how fetch says that nobody answered
  return fault.message;
}
