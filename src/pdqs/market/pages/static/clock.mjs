// Times in the reader's own zone, and clocks that tick. Without this script they stand in UTC, and say so.

import { moment } from "../device/times.mjs";

const serverAhead = Number(document.querySelector('meta[name="now"]')?.content ?? Date.now()) - Date.now();

/** How long is left, in the two largest units: the twin of pdqs/present/times.py. */
function left(ms) {
  const total = Math.floor(ms / 1000);
  if (total <= 0) return "0 s";
  const days = Math.floor(total / 86400);
  const units = [[days, days === 1 ? "day" : "days"], [Math.floor(total / 3600) % 24, "h"], [Math.floor(total / 60) % 60, "min"], [total % 60, "s"]];
  const first = units.findIndex(([count]) => count);
  return units.slice(first, first + 2).filter(([count]) => count).map(([count, name]) => `${count} ${name}`).join(" ");
}

function put(place, words) {
  if (place.textContent !== words) place.textContent = words;
}

function tick() {
  const now = Date.now() + serverAhead;
  for (const place of document.querySelectorAll("time[datetime]")) {
    const at = Date.parse(place.dateTime);
    if ("until" in place.dataset) {
      put(place, left(at - now));
      place.title = moment(at);
    } else if (!place.title) {
      place.title = place.textContent; // in UTC, as it came
      put(place, moment(at));
    }
  }
}

tick();
setInterval(tick, 1000);
new MutationObserver(tick).observe(document.getElementById("main"), { childList: true, subtree: true });
