// A price that left from this browser, and of which nothing signed came back: it may stand. The page says so, in every tab,
// and looks until it is known. Of one that she took back it says that too.

import { money } from "./market.mjs";

const place = () => document.getElementById("price-sent");

/** What is known of such a price; `known`: whether the market has just said that it is not there. */
function inWords(price, { known, closed, stage }) {
  if (!known) return `Your price of ${price} may have arrived: no answer to it came back. This page looks by itself.`;
  if (closed) return `Your price of ${price} did not arrive before bids closed.`;
  const instead = stage === "waiting" ? "the one below stands" : "the market has no price of yours in this round. Send it again if you still want it";
  return `Your price of ${price} has not arrived so far: ${instead}.`;
}

/** What is known of the last price that left from here, where the page shows another or none; nothing where there is none. */
function said(account, market, shown) {
  const last = account.unsignedBids(market, shown.round).at(-1);
  if (last) return shown.seen === `waiting ${last.bid_micros}` ? "" : inWords(money(last.bid_micros), shown);
  const isWithdrawn = account.of(market, shown.round).at(-1)?.kind === "bid-withdrawn";
  return isWithdrawn && shown.stage === "bid" ? "Your price is withdrawn. You have no bid in this round." : "";
}

/** Say what is known of her price and is not on the page else. */
export async function tellPrice({ device }, shown) {
  const words = said(await device.account(), device.market, shown);
  if (place().textContent !== words) place().textContent = words;
  place().hidden = !words;
}

/** Whether what was sent may have arrived for all that: nobody answered, or only a market that was not well. */
export const mayHaveArrived = (fault) => fault instanceof TypeError || fault.status >= 500;
