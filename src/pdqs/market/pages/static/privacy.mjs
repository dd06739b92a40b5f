// The device's own account, shown: what was spent, what the caps are, and every byte that left.

import { Device } from "/device/device.mjs";
import { openStore } from "/device/store.mjs";
import { calm, epsilonText, money, owner, trouble } from "./market.mjs";

const slot = (root, name) => root.querySelector(`[data-slot="${name}"]`);

async function spendingCard(device, attribute) {
  const { spentNanos, capNanos, reports } = await device.spending(attribute);
  const card = document.getElementById("spending-row").content.cloneNode(true);
  slot(card, "attribute").textContent = attribute;
  slot(card, "spent").textContent = epsilonText(spentNanos);
  slot(card, "cap").textContent = epsilonText(capNanos);
  slot(card, "reports").textContent = reports === 1 ? "1 report" : `${reports} reports`;
  const meter = slot(card, "meter");
  meter.max = Math.max(capNanos, spentNanos, 1);
  meter.value = spentNanos;
  meter.setAttribute("aria-label", `Epsilon spent on ${attribute}: ${epsilonText(spentNanos)} of ${epsilonText(capNanos)}`);
  const field = slot(card, "new-cap");
  field.value = String(capNanos / 1e9);
  card.querySelector("form").addEventListener("submit", async (event) => {
    event.preventDefault();
    calm();
    const cap = Number(field.value.trim().replace(",", "."));
    const good = field.value.trim() !== "" && cap >= 0 && cap <= 1000;
    field.setAttribute("aria-invalid", String(!good));
    if (!good) { trouble(new Error("A cap is a number from 0 to 1000.")); return; }
    await device.setCap(attribute, Math.floor(cap * 1e9));
    document.getElementById("said").textContent = `The cap for ${attribute} is ${cap}.`;
    await present(device);
  });
  return card;
}

function historyTable(history) {
  const table = document.getElementById("history-table").content.cloneNode(true);
  for (const made of history) {
    const row = table.querySelector("tbody").insertRow();
    const when = new Date(made.made_at_ms).toISOString().slice(0, 16).replace("T", " ");
    [`${when} UTC`, made.attribute].forEach((text) => { row.insertCell().textContent = text; });
    [epsilonText(made.epsilon_nanos), money(made.payment_micros)].forEach((text) => {
      const cell = row.insertCell();
      cell.className = "num";
      cell.textContent = text;
    });
    const bytes = document.createElement("code");
    bytes.className = "hash";
    bytes.textContent = made.body;
    row.insertCell().append(bytes);
  }
  return table;
}

async function present(device) {
  const history = await device.history();
  const attributes = [...new Set(history.map((made) => made.attribute))].sort();
  if (!attributes.length) return;
  const cards = await Promise.all(attributes.map((attribute) => spendingCard(device, attribute)));
  document.getElementById("spending").replaceChildren(...cards);
  document.getElementById("history").replaceChildren(historyTable(history));
}

try {
  await present(new Device(await openStore(), owner()));
} catch (fault) {
  trouble(fault);
}
