// A form that is sent when the session has ended, or while nobody can be reached, arrives nowhere, and one that arrives may
// be refused. What she filled in is kept in this tab until she is back on the page with the form, and filled in again for her to send: nothing is sent
// from here. It stays in the browser, so that the market need not keep what someone sends who is not signed in. It is
// kept under her account: whoever else signs in here makes it go unseen, and so does signing out. Hidden fields (keys,
// tokens, a second word before money moves), files and secrets are never kept.

const PLACE = "pdqs-unsent";
const DAY_MS = 86_400_000;
const KINDS = new Set(["text", "search", "email", "url", "number", "tel", "textarea", "select-one", "checkbox", "radio"]);
const AGAIN = "It is filled in again as you left it: look through it, and send it once more.";

const user = document.querySelector('meta[name="user"]')?.content ?? "";
const target = (form) => new URL(form.getAttribute("action") ?? "", location.href).pathname;
const method = (form) => form.getAttribute("method"); // a field of that name would hide the property
const ticked = (field) => ["checkbox", "radio"].includes(field.type);

const fieldsOf = (form) => [...form.elements].filter((field) =>
  field.name && KINDS.has(field.type) && !field.disabled && !field.readOnly
  && field.autocomplete !== "one-time-code" && !field.matches("[data-not-kept]"));

/** What this tab keeps, if anything; nothing where it may keep nothing. */
function kept() {
  try {
    const found = JSON.parse(sessionStorage.getItem(PLACE));
    return found && Date.now() - found.at < DAY_MS ? found : null;
  } catch {
    return null;
  }
}

/** Keep this instead of what was kept; nothing, to forget it. */
function keep(what) {
  try {
    if (what) sessionStorage.setItem(PLACE, JSON.stringify(what));
    else sessionStorage.removeItem(PLACE);
  } catch {
    // This browser keeps nothing for this page: then there is nothing to find either.
  }
}

function sending(event) {
  const form = event.target;
  if (form.matches("[data-leave]")) keep(null);
  const posted = (event.submitter?.getAttribute("formmethod") ?? method(form)) === "post";
  if (event.defaultPrevented || !user || !posted) return;
  const fields = fieldsOf(form);
  if (!fields.some((field) => !ticked(field))) return; // buttons and ticks alone are quickly made again
  const values = fields.map((field) => [field.name, field.value, ticked(field) ? field.checked : null]);
  keep({ user, action: target(form), values, at: Date.now(), refused: false });
}

/** Put back what was typed, where it differs, as if it were typed now. */
function putBack(form, values) {
  const fields = fieldsOf(form);
  for (const [name, value, checked] of values) {
    const field = fields.find((one) => one.name === name && (checked === null || one.value === value));
    if (!field || (checked === null ? field.value === value : field.checked === checked)) continue;
    if (checked === null) field.value = value;
    else field.checked = checked;
    field.closest("details")?.setAttribute("open", "");
    field.dispatchEvent(new Event("input", { bubbles: true }));
  }
}

function restore(what) {
  const form = [...document.forms].find((one) => method(one) === "post" && target(one) === what.action);
  if (!form) return;
  putBack(form, what.values);
  keep(null);
  if (!what.refused) return; // she went back to it herself
  const said = Object.assign(document.createElement("p"), { className: "notice warn", id: "unsent", textContent: `${what.why} ${AGAIN}` });
  said.setAttribute("role", "status");
  form.before(said);
  said.scrollIntoView({ block: "nearest" });
}

/** On a page that says that a form was not taken, and why: from now on it is hers to find. */
function refused(what, why) {
  keep({ ...what, refused: true, why });
  document.querySelector("[data-unsent-written]")?.remove();
}

function arrive() {
  const what = kept();
  const said = document.querySelector("[data-unsent]");
  const wentBack = ["back_forward", "reload"].includes(performance.getEntriesByType("navigation")[0]?.type);
  if (!what || (user && what.user !== user)) keep(null);
  else if (said) refused(what, said.dataset.unsent);
  else if (user && (what.refused || wentBack)) restore(what);
  else if (user && !document.querySelector("[data-again]")) keep(null); // it has arrived, and nothing is asked back
  const waits = document.querySelector("[data-unsent-kept]");
  if (waits && kept()?.refused) waits.hidden = false;
}

document.addEventListener("submit", sending);
arrive();
