// The live picture: as the plan is filled in, ask the market what it would buy and show its drawing.

import { NoForecast, isToCome, showForecast } from "./forecast.mjs";

const form = document.getElementById("plan");
const preview = document.getElementById("preview");
const WAIT_MS = 250;
let timer;
let asking;

/** Show only the fields that the kind of question needs. */
function fitFields() {
  for (const part of form.querySelectorAll("[data-for]")) {
    part.hidden = !part.dataset.for.split(" ").includes(form.elements.kind.value);
  }
}

/** In the place of a figure that is no longer of this plan: that there is none, and why. */
function sayNone(why) {
  const textContent = `What this budget buys could not be worked out anew: ${why}. What you typed stays here.`;
  preview.replaceChildren(Object.assign(document.createElement("p"), { className: "empty", textContent }));
}

/** A fault was of what stood in its field: once that is changed, it is no longer said of it. */
function calm(field) {
  const box = field.closest(".field.wrong");
  if (!box) return;
  box.classList.remove("wrong");
  field.removeAttribute("aria-invalid");
  box.querySelector(".fault")?.remove();
}

async function refresh() {
  asking?.abort();
  asking = new AbortController();
  preview.setAttribute("aria-busy", "true");
  const fields = new URLSearchParams(new FormData(form));
  for (const secret of ["csrf_token", "key", "text", "attribute", "purpose", "use"]) fields.delete(secret);
  try {
    await showForecast(preview, new URL(`../consumer/plan/preview?${fields}`, import.meta.url), asking.signal);
  } catch (fault) {
    if (fault.name === "AbortError") return;
    sayNone(fault instanceof NoForecast ? fault.message : "the market is out of reach. Change a field to try again");
  }
  preview.setAttribute("aria-busy", "false");
}

form.addEventListener("input", (event) => {
  fitFields();
  calm(event.target);
  if (["text", "attribute", "purpose", "use"].includes(event.target.name)) return;
  clearTimeout(timer);
  timer = setTimeout(refresh, WAIT_MS);
});
for (const button of form.querySelectorAll("[data-without-script]")) button.hidden = true;
document.getElementById("faults")?.focus();
fitFields();
if (isToCome(preview)) refresh();
addEventListener("pageshow", fitFields); // a browser may have put in what was typed
