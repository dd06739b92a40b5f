// The live picture: as the plan is filled in, ask the market what it would buy and show its drawing.

import { isToCome, showForecast } from "./forecast.mjs";
import { keepKey } from "./same-form.mjs";

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
  }
  preview.setAttribute("aria-busy", "false");
}

form.addEventListener("input", (event) => {
  fitFields();
  if (["text", "attribute", "purpose", "use"].includes(event.target.name)) return;
  clearTimeout(timer);
  timer = setTimeout(refresh, WAIT_MS);
});
for (const button of form.querySelectorAll("[data-without-script]")) button.hidden = true;
document.getElementById("faults")?.focus();
fitFields();
if (isToCome(preview)) refresh();
keepKey(form, () => {
  document.getElementById("sent-before")?.removeAttribute("hidden");
  fitFields();
  refresh(); // the picture came for an empty form
});
