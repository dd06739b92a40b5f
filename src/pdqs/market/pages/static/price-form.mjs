// The price an owner names: a number and a slider that say the same, what it means, and what the forecast says of it.

import { amount, money, owed, typedMoney } from "./market.mjs";

const at = (id) => document.getElementById(id);

/** Mark the row of the forecast that is nearest to a price. */
function mark(micros) {
  const rows = [...document.querySelectorAll("#outlook tr[data-price]")];
  const far = (row) => Math.abs(Number(row.dataset.price) - micros);
  const nearest = rows.reduce((best, row) => (best && far(best) <= far(row) ? best : row), null);
  for (const row of rows) row.classList.toggle("here", micros !== null && row === nearest);
}

const within = (price, micros) => micros >= Number(price.dataset.low) && micros <= Number(price.dataset.high);
/** The price as it stands; where it is none, the example of what to write is one that could be named here. */
function given(price) {
  const [low, high] = [Number(price.dataset.low), Number(price.dataset.high)];
  return amount(price.value, typedMoney(Math.floor((low + high) / 20_000) * 10_000 || high));
}
const rangeOf = (price) => `Give a price from ${money(Number(price.dataset.low))} to ${money(Number(price.dataset.high))}.`;

/** What stands against a price that was sent, or that nothing does; it is about the price as it stands. */
function sayFault(words) {
  at("price-fault").textContent = words;
  at("price-fault").hidden = !words;
  at("price").setAttribute("aria-invalid", String(Boolean(words)));
}

/** Let number and slider follow each other; `label` is what the button says of an amount. */
export function priceForm(form, startMicros, label) {
  const [price, slider] = [at("price"), at("price-slider")];
  const most = Number(price.dataset.epsilon);
  const explain = () => {
    const { micros, fault } = given(price);
    const good = !fault && within(price, micros);
    sayFault("");
    at("price-means").textContent = fault ? "" : good ? `You would be paid at least ${owed(Math.ceil(micros * most))} if you are asked for the most; you may be paid more, never less.` : rangeOf(price);
    form.querySelector("[data-ready]").textContent = label(good ? money(micros) : "");
    if (good) slider.value = String(micros);
    slider.setAttribute("aria-valuetext", money(Math.round(Number(slider.value)))); // else it is read out in millionths
    mark(good ? micros : null);
  };
  slider.value = String(startMicros ?? (Number(slider.min) + Number(slider.max)) / 2);
  if (startMicros !== null && !price.value) price.value = money(startMicros); // what she has typed already stays
  slider.addEventListener("input", () => {
    const span = Number(slider.max) - Number(slider.min);
    const step = 10 ** Math.max(Math.floor(Math.log10(span)) - 2, 0);
    price.value = money(Math.min(Math.max(Math.round(Number(slider.value) / step) * step, Number(slider.min)), Number(slider.max)));
    explain();
  });
  price.addEventListener("input", explain);
  explain();
}

/** The price as it stands in the form, in micro-units; null, with the reason beside the field, where it is none. */
export function priceGiven() {
  const price = at("price");
  const { micros, fault } = given(price);
  const range = rangeOf(price);
  const wrong = fault ? `${fault[0].toUpperCase()}${fault.slice(1)}. ${range}` : within(price, micros) ? "" : range;
  sayFault(wrong);
  if (!wrong) return micros;
  at("price-means").textContent = ""; // it may say the same
  price.focus();
  return null;
}
