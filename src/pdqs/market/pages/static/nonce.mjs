// A consumer's own part of the draw: drawn by this browser when she opens a round, kept here, and told by itself once
// the bids are closed and fixed. Until then the market has its hash alone.

import { commitmentTo } from "../device/lots.mjs";
import { hexOf } from "../device/sha256.mjs";

const part = document.getElementById("progress");
const place = (round) => `pdqs-nonce ${round}`;
let telling = ""; // the round whose part is on its way, or was told

/** What this browser keeps for a round; nothing where it may keep nothing. */
function kept(round) {
  try {
    return localStorage.getItem(place(round));
  } catch {
    return null;
  }
}

/** The part for a round: the one that is kept already (another tab may have drawn it), or a fresh one. */
function drawn(round) {
  const nonce = kept(round) ?? hexOf(crypto.getRandomValues(new Uint8Array(32)));
  localStorage.setItem(place(round), nonce);
  return nonce;
}

/** Before a round is opened: a box to tick, and the hash of what was drawn goes with the form. */
function offer(box) {
  const [tick, hash] = [box.querySelector("input[type=checkbox]"), box.querySelector("input[name=nonce_hash]")];
  box.hidden = false;
  const choose = () => {
    try {
      hash.value = tick.checked ? commitmentTo("nonce", drawn(box.dataset.ownChance)) : "";
    } catch {
      [tick.checked, tick.disabled, hash.value] = [false, true, ""];
      box.querySelector("[data-cannot-keep]").hidden = false;
    }
  };
  tick.addEventListener("change", choose);
  choose(); // a page that is come back to may hold the tick still
}

/** While owners bid: whether this browser has the part, and a file of it. */
function show(card, nonce) {
  card.querySelector("[data-nonce-kept]")?.toggleAttribute("hidden", !nonce);
  card.querySelector("[data-nonce-elsewhere]")?.toggleAttribute("hidden", Boolean(nonce));
  const file = card.querySelector("[data-nonce-file]");
  if (file && nonce) file.href = `data:text/plain,${nonce}%0A`;
}

/** Once bids are fixed: tell it. What stands against it leaves the form for her. */
async function tell(form, round, nonce) {
  if (telling) return;
  telling = round;
  form.elements.nonce.value = nonce;
  try {
    const body = new URLSearchParams(new FormData(form));
    await fetch(form.action, { method: "POST", body, redirect: "manual" });
    part.dispatchEvent(new Event("look"));
  } catch {
    telling = ""; // out of reach: with the next look again
  }
}

/** Say that it was told, once the round no longer waits for it; from then on everyone can read it there. */
function told(round) {
  const status = document.getElementById("nonce-told");
  status.textContent = "This browser told its part of the draw, and the draw was made.";
  status.hidden = false;
  localStorage.removeItem(place(round));
  telling = "";
}

function tend() {
  const box = part.querySelector("[data-own-chance]");
  if (box) offer(box);
  const card = part.querySelector("[data-nonce]");
  if (telling && part.querySelector("[data-state=reporting], [data-state=settled]")) told(telling);
  if (!card) return;
  const nonce = kept(card.dataset.nonce);
  show(card, nonce);
  const form = card.querySelector("form");
  if (form && nonce && commitmentTo("nonce", nonce) === card.dataset.nonceHash) tell(form, card.dataset.nonce, nonce);
}

part.addEventListener("shown", tend);
tend();
