// The device's own account, shown: what was spent, what the caps are, and every byte that left.

import { factsAndWords, OVERALL } from "../device/account.mjs";
import { saveData, savePage } from "../device/export.mjs";
import { moment } from "../device/times.mjs";
import { tellElsewhere } from "./elsewhere.mjs";
import { arrived, calm, epsilonText, fixed, money, number, numberText, tellFaults, trouble, visiting } from "./market.mjs";

const slot = (root, name) => root.querySelector(`[data-slot="${name}"]`);

async function spendingCard(device, attribute) {
  const { spentNanos, capNanos, reports } = await device.spending(attribute);
  const name = attribute === OVERALL ? "everything together" : attribute;
  const card = document.getElementById("spending-row").content.cloneNode(true);
  slot(card, "attribute").textContent = name;
  slot(card, "spent").textContent = epsilonText(spentNanos);
  slot(card, "cap").textContent = epsilonText(capNanos);
  slot(card, "reports").textContent = reports === 1 ? "1 report" : `${reports} reports`;
  const meter = slot(card, "meter");
  meter.max = Math.max(capNanos, spentNanos, 1);
  meter.value = spentNanos;
  meter.setAttribute("aria-label", `Epsilon spent on ${name}: ${epsilonText(spentNanos)} of ${epsilonText(capNanos)}`);
  const field = slot(card, "new-cap");
  field.value = numberText(capNanos / 1e9);
  card.querySelector("form").addEventListener("submit", (event) => setCap(event, device, attribute, field));
  return card;
}

async function setCap(event, device, attribute, field) {
  event.preventDefault();
  calm();
  const cap = number(field.value);
  const good = cap !== null && cap >= 0 && cap <= 1000 && /^([a-z][a-z0-9_.-]{0,59})?$/.test(attribute);
  field.setAttribute("aria-invalid", String(!good));
  if (!good) { trouble(new Error(`A cap is a number from 0 to ${fixed(1000, 0)}, such as ${numberText(1.5)}, for a fact named in small letters.`)); return; }
  await device.setCap(attribute, Math.floor(cap * 1e9));
  document.getElementById("said").textContent = `The cap for ${attribute || "everything together"} is ${numberText(cap)}.`;
  await present(device);
}

/** The cap of a fact that she names: without a name it would be the one for everything together, which she did not mean. */
async function setNamedCap(event, device, fact, field) {
  const name = fact.value.trim();
  fact.setAttribute("aria-invalid", String(!name));
  if (name) { await setCap(event, device, name, field); return; }
  event.preventDefault();
  trouble(new Error("Name the fact that this cap is for, such as income. The cap for everything together has a field of its own. Nothing was changed."));
  fact.focus({ preventScroll: true });
}

/** Whether a report was sent under another sign-in than this one. */
const isOfAnother = (device) => (made) => made.market !== device.market;

function historyCard(made, notHers) {
  const card = document.getElementById("history-row").content.cloneNode(true);
  slot(card, "attribute").textContent = made.attribute;
  slot(card, "epsilon").textContent = epsilonText(made.epsilon_nanos);
  slot(card, "payment").textContent = money(made.paid_micros ?? 0);
  slot(card, "offered").textContent = money(made.payment_micros);
  slot(card, "facts").textContent = factsAndWords(made);
  slot(card, "when").textContent = moment(made.drawn_at_ms);
  slot(card, "body").textContent = made.body;
  slot(card, "whose").hidden = !notHers;
  return card;
}

/** Whose reports the figures count, where they are not hers alone. */
function sayWhose(all, others) {
  const place = slot(document.getElementById("shared"), "others");
  const which = all === 1 ? "The report below was" : `${others} of the ${all} reports below ${others === 1 ? "was" : "were"}`;
  place.textContent = `${which} sent while somebody else was signed in here, or you under another name.`;
  place.hidden = others === 0;
}

async function present(device) {
  const names = [...(await device.account()).attributes(), OVERALL];
  const cards = await Promise.all(names.map((attribute) => spendingCard(device, attribute)));
  document.getElementById("spending").replaceChildren(...cards);
  await presentHistory(device);
}

async function presentHistory(device) {
  const history = await device.history();
  sayWhose(history.length, history.filter(isOfAnother(device)).length);
  const nothing = Object.assign(document.createElement("p"), { className: "card empty", textContent: "Nothing yet." });
  document.getElementById("history").replaceChildren(...(history.length ? history.reverse().map((made) => historyCard(made, isOfAnother(device)(made))) : [nothing]));
}

try {
  const visit = await visiting();
  const { device } = visit;
  const fact = document.getElementById("new-fact");
  document.getElementById("cap-form").addEventListener("submit", (event) =>
    setNamedCap(event, device, fact, document.getElementById("first-cap")));
  const saving = (id, save) => document.getElementById(id).addEventListener("click", () => { calm(); device.account().then(save).catch(trouble); });
  saving("export-page", savePage);
  saving("export-data", (account) => saveData(account, [device.market]));
  await present(device);
  arrived(); // the account stands there; what the market is asked next may take its time
  const known = (await device.history()).map(factsAndWords).join();
  await tellFaults(visit);
  await tellElsewhere(visit);
  if ((await device.history()).map(factsAndWords).join() !== known) await presentHistory(device); // a cap that she is typing stays
} catch (fault) {
  trouble(fault);
} finally {
  arrived();
}
