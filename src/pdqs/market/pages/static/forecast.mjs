// A forecast as the market draws it, put in its place on the page. While others are made first the market says so, and it
// is asked for again by itself: nobody need press anything for that.

const SIGNED_OUT = "you are signed out. Sign in again in another tab, then change a field here";
const FIRST_MS = 1000;
const MOST_MS = 8000;

/** There is no forecast, and the market has said why. */
export class NoForecast extends Error {}

/** Whether what stands in a place says that the forecast is still to come. */
export const isToCome = (place) => place.querySelector("[data-again]") !== null;

/** Wait for so long, or fail as soon as it is no longer wanted. */
const pause = (ms, signal) => new Promise((done, fail) => {
  const timer = setTimeout(done, ms);
  signal?.addEventListener("abort", () => { clearTimeout(timer); fail(signal.reason); }, { once: true });
});

/** Show the forecast of an address in its place, as soon as there is one; where there is none, why is the message of what
 * is thrown. */
export async function showForecast(place, address, signal) {
  for (let wait = FIRST_MS; ; wait = Math.min(2 * wait, MOST_MS)) {
    const answer = await fetch(address, { signal, redirect: "manual" });
    if (!answer.ok) throw new NoForecast(answer.type === "opaqueredirect" ? SIGNED_OUT : "the market could not make it just now");
    const shown = document.createElement("div");
    shown.innerHTML = await answer.text();
    const toCome = isToCome(shown);
    if (!toCome || !isToCome(place)) place.replaceChildren(...shown.childNodes); // said once, not at every look
    place.setAttribute("aria-busy", "false"); // what stands there now is meant to be read, or heard
    if (!toCome) return;
    await pause(wait, signal);
  }
}
