// Follow a round: fetch the part of the page that changes, show it when it did, and say so to those who listen.

import { follow } from "./events.mjs";

const part = document.getElementById("progress");
const said = document.getElementById("said");
let last = null;

const stateNow = () => part.firstElementChild?.dataset.state ?? part.dataset.state;
const isOver = () => ["settled", "cancelled", "draft"].includes(stateNow());

function holdsFocus() {
  return part.contains(document.activeElement) && document.activeElement !== document.body;
}

/** Look once; false when there is nothing more to wait for. */
async function look() {
  try {
    const answer = await fetch(part.dataset.follow, { redirect: "manual" });
    if (answer.type === "opaqueredirect") { location.reload(); return false; } // signed out: show the door
    const html = answer.ok ? await answer.text() : null;
    const page = new DOMParser().parseFromString(html ?? "", "text/html");
    const words = page.body.firstElementChild?.dataset.said;
    // What someone is about to press is not moved from under her hand.
    if (words && html !== last && !(holdsFocus() && words === said.textContent)) {
      part.replaceChildren(...page.body.childNodes);
      if (words !== said.textContent) said.textContent = words;
      last = html;
      part.dispatchEvent(new Event("shown"));
    }
  } catch {
    // Out of reach: look again later.
  }
  return !isOver();
}

part.addEventListener("look", look); // something was done here that changes it
if (!isOver()) follow(part.dataset.events, look);
