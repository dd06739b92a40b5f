// Micro-units and text: the twin of pdqs/model/money.py, and the only place in the browser where one becomes the other.

import { number as anyNumber, plainDecimal } from "./spelling.mjs";

let currency = { code: "", symbol: "", decimals: 2, mark: "." };

/** The money of this market, said once by the page before anything is shown. */
export function useCurrency(told) {
  currency = { ...currency, ...told };
}

/** What stands before decimals in this market. */
export const decimalMark = () => currency.mark;

/** A number in English digits as this market writes it: the twin of `styled` in pdqs/model/spelling.py. */
export const styled = (digits) => (currency.mark === "," ? digits.replace(/[.,]/g, (sign) => (sign === "." ? "," : ".")) : digits);

/** A figure with so many decimals, thousands apart, as this market writes it. */
export const fixed = (value, places) => styled(value.toFixed(places).replace(/^-?[0-9]+/, (whole) => whole.replace(/\B(?=(?:[0-9]{3})+$)/g, ",")));

/** An amount as it would be typed. */
export const typedMoney = (micros) => money(micros).replace(/[^0-9.,].*$/, "");

function text(micros, decimals) {
  const step = 10 ** (6 - decimals);
  const count = Math.floor((Math.abs(micros) + Math.floor(step / 2)) / step);
  const [whole, part] = [Math.floor(count / 10 ** decimals), count % 10 ** decimals];
  const between = currency.mark === "." ? "," : ".";
  const grouped = String(whole).replace(/\B(?=(\d{3})+$)/g, between);
  const bare = decimals ? `${grouped}${currency.mark}${String(part).padStart(decimals, "0")}` : grouped;
  const name = currency.code || currency.symbol;
  return `${micros < 0 && count ? "-" : ""}${bare}${name ? ` ${name}` : ""}`;
}

/** Micro-units to the last one, with no idle zeros after the currency's decimals. */
export function money(micros) {
  const needed = String(Math.abs(micros) % 1e6).padStart(6, "0").replace(/0+$/, "").length;
  return text(micros, Math.max(currency.decimals, needed));
}

/** Micro-units as people write them, rounded down: what is promised is never shown as more. */
export function owed(micros) {
  const step = 10 ** (6 - currency.decimals);
  return micros > 0 && micros < step ? money(micros) : text(Math.floor(micros / step) * step, currency.decimals);
}

/** An amount without the name of the currency that may stand beside it. */
export function alone(given) {
  const upper = given.toUpperCase();
  for (const name of [currency.code, currency.symbol].filter(Boolean)) {
    if (upper.startsWith(name.toUpperCase())) return given.slice(name.length).trim();
    if (upper.endsWith(name.toUpperCase())) return given.slice(0, -name.length).trim();
  }
  return given;
}

/** An amount of money as people write it: { micros }, exactly, or { fault }, a sentence on what to write
 * instead, as `like` is written. */
export function amount(given, like = undefined) {
  const { digits, fault } = plainDecimal(alone(given.trim()), currency.mark, !currency.decimals, like);
  if (fault) return { fault };
  const [whole, decimals] = [digits.split(".")[0].replace(/^0+/, ""), digits.split(".")[1].replace(/0+$/, "")];
  const said = `"${[...given.trim()].slice(0, 40).join("")}"`;
  if (decimals.length > 6) return { fault: `${said} has more than six decimals` };
  if (whole.length > 9) return { fault: `${said} is too large: amounts stay below ${styled("1,000,000,000")}` };
  return { micros: Number(whole) * 1e6 + Number(decimals.padEnd(6, "0")) };
}

/** The same, null when it is none. */
export const micros = (given) => amount(given).micros ?? null;

/** A number as this market writes it, to be typed again. */
export const numberText = (value) => String(value).replace(".", currency.mark);

/** A number in this market's spelling, or null. */
export const number = (given) => anyNumber(given, currency.mark);
