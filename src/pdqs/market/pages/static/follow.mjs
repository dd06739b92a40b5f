// Follow a round: fetch the part of the page that changes, show it when it did, and say so to those who listen.

const part = document.getElementById("progress");
const said = document.getElementById("said");
const EVERY_MS = 1000;
let last = null;

function holdsFocus() {
  return part.contains(document.activeElement) && document.activeElement !== document.body;
}

async function look() {
  const state = part.firstElementChild?.dataset.state ?? part.dataset.state;
  if (state === "settled" || state === "cancelled") return;
  if (!document.hidden && state !== "draft") {
    try {
      const answer = await fetch(part.dataset.follow, { redirect: "manual" });
      if (answer.type === "opaqueredirect") { location.reload(); return; } // signed out: show the door
      const html = answer.ok ? await answer.text() : null;
      const page = new DOMParser().parseFromString(html ?? "", "text/html");
      const words = page.body.firstElementChild?.dataset.said;
      // What someone is about to press is not moved from under her hand.
      if (words && html !== last && !(holdsFocus() && words === said.textContent)) {
        part.replaceChildren(...page.body.childNodes);
        if (words !== said.textContent) said.textContent = words;
        last = html;
      }
    } catch {
      // Out of reach: look again later.
    }
  }
  setTimeout(look, EVERY_MS);
}

setTimeout(look, EVERY_MS);
