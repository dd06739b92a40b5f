// The owner's rounds: what became of the reports that this browser made, whatever the market's list says of them.

import { marketNow, tellFaults, visiting } from "./market.mjs";

const LOOKS_MS = 20_000;
const { look, seen, waits } = document.getElementById("standing").dataset;

/** A page left open says nothing of a time that is over: it is loaded again once one of those on it has passed. */
function loadAgainLater() {
  const ends = [...document.querySelectorAll("time[data-until]")].map((place) => Date.parse(place.dateTime));
  const coming = ends.filter((end) => end > marketNow());
  if (coming.length) setInterval(() => { if (!document.hidden && coming.some((end) => end + 1000 < marketNow())) location.reload(); }, 2000);
}

/** Load the page again if there is something else to see, or nobody is signed in any more. */
async function lookOnce() {
  if (document.hidden) return;
  try {
    const answer = await fetch(look, { redirect: "manual" });
    if (answer.type === "opaqueredirect" || (answer.ok && (await answer.json()).seen !== seen)) location.reload();
  } catch {
    // Out of reach: look again later.
  }
}

/** An offer, a question or a payment that is waited for comes by itself, while the page is in sight. */
function lookWhileWaiting() {
  if (waits === undefined) return;
  setInterval(lookOnce, LOOKS_MS);
  document.addEventListener("visibilitychange", lookOnce);
}

loadAgainLater();
lookWhileWaiting();
await tellFaults(await visiting({ lasting: false }));
