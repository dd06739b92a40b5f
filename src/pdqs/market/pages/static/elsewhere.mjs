// Reports of hers that were sent from another device or browser: this one's account cannot count them, and says so.

import { inWords } from "./words.mjs";

/** How many reports the market has of her that were not sent from here. */
async function sentElsewhere(visit) {
  const { device } = visit;
  const { reports_made: counted } = await visit.get("me", "/me");
  const here = (await device.history()).filter(({ market }) => market === device.market);
  const unsigned = here.filter((made) => made.accepted_at_ms === null);
  const arrived = await Promise.all(unsigned.map(({ round_id: round }) => visit.reportThere(round).catch(() => true))); // its receipt may be lost
  return counted - (here.length - unsigned.length) - arrived.filter(Boolean).length;
}

function inSentences(more) {
  if (more <= 0) return "";
  const [which, cost] = more === 1 ? ["1 more report", "it"] : [`${more} more reports`, "they"];
  return `The market counts ${which} of yours, sent from another device or browser, or before the data of this one was cleared. What ${cost} cost is not in these figures.`;
}

/** Say how many there are, if any. */
export async function tellElsewhere(visit) {
  const box = document.getElementById("elsewhere");
  const said = await sentElsewhere(visit).then(inSentences, (fault) => `Whether the market counts more could not be looked at. ${inWords(fault)}`);
  box.querySelector("[data-slot=more]").textContent = said;
  box.hidden = !said;
}
