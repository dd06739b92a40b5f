// The market has her report, and this browser no receipt for it: the line broke in between. The same bytes once more bring it.

import { inWords } from "./words.mjs";

const WITHOUT = "The market has your report, and its signed receipt has not come to this browser yet: without it, this browser could not show what you were promised.";
const TRIES = "The market does not answer just now; this page asks for it again by itself.";

/** Whether a report left from here and nothing signed came back, nor a no. */
const isUnsigned = (made) => Boolean(made) && made.sent_at_ms !== null && made.accepted_at_ms === null && !made.refused;

/** Whether trying again may help: nobody answered, or the market was not well. */
const mayPass = (fault) => fault instanceof TypeError || fault.status >= 500;

/** Looks after the receipt of a report; `say` shows what stands against it, or nothing. */
export class Receipt {
  #givenUp = false;

  constructor(visit, round, say) {
    Object.assign(this, { visit, round, say });
  }

  /** Send the same report once more where its receipt is missing, and keep what comes. Gives whether it was. */
  async look() {
    const made = await this.visit.device.reportFor(this.round);
    if (this.#givenUp || !isUnsigned(made)) return false;
    try {
      await this.visit.send(made);
      this.say("");
    } catch (fault) {
      this.#givenUp = !mayPass(fault);
      this.say(`${WITHOUT} ${this.#givenUp ? inWords(fault, true) : TRIES}`);
    }
    return true;
  }
}
