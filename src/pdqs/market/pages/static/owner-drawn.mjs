// A report that was drawn and that the market has not confirmed. Its privacy is spent: no answer is asked for any more, and
// all there is to do is to send the same bytes again, from this tab, another one or after a reload.

import { factsAndWords } from "../device/account.mjs";
import { calm, epsilonText, owed, trouble, wayIn } from "./market.mjs";

function inWords(made) {
  if (made.accepted_at_ms !== null) return "and the market asks for it though it has signed for it";
  return made.sent_at_ms === null ? "and not sent yet" : "and the market has not confirmed it yet";
}

/** Shows such a report in the place of the form; `page` is what is around them. */
export class Drawn {
  #sends = false;

  constructor(page, visit, show) {
    Object.assign(this, { page, visit, show, button: page.querySelector("#drawn button") });
    this.button.addEventListener("click", () => this.send());
  }

  /** Whether it is on its way just now. */
  get sends() { return this.#sends; }

  /** Whether this round has a report, which is then all that is shown. `since`: the page was loaded a while ago, and the
   * market may have it by now; `unused`: she has just answered again. */
  async stands(round, { since = false, unused = false } = {}) {
    const made = await this.visit.device.reportFor(round);
    if (!made || this.#sends) return Boolean(made);
    if (since && made.accepted_at_ms !== null) location.reload();
    else await this.present(made, inWords(made));
    this.page.querySelector("#unused").hidden = !unused;
    return true;
  }

  async present(made, state) {
    this.made = made;
    const { spentNanos, capNanos } = await this.visit.device.spending(made.attribute);
    this.page.querySelector("#report-form")?.remove(); // with whatever was chosen in it
    this.page.querySelectorAll("[data-mine]").forEach((part) => { part.hidden = true; });
    this.show("payment", owed(made.payment_micros));
    this.show("drawn", `Your report is drawn, ${state}`);
    this.show("charged", epsilonText(made.epsilon_nanos));
    this.show("used-up", `${epsilonText(spentNanos)} of ${epsilonText(capNanos)}`);
    this.show("facts", factsAndWords(made));
    this.show("wire", made.body);
    this.page.querySelector("#drawn").hidden = false;
  }

  /** The way back in stands beside the button, or none does. */
  #showDoor(door) {
    this.page.querySelectorAll("#drawn .actions a").forEach((old) => old.remove());
    if (door) this.button.after(" ", door);
  }

  /** Send it, or send it again; what stands against it is said. */
  async send(made = this.made) {
    calm();
    this.#sends = true;
    this.#showDoor(null);
    this.button.disabled = true;
    await this.present(made, "and is on its way");
    try {
      await this.visit.send(made);
      location.reload();
    } catch (fault) {
      this.#sends = false;
      await this.stands(made.round_id);
      this.button.disabled = false;
      this.button.focus({ preventScroll: true });
      trouble(fault, true);
      this.#showDoor(wayIn(fault));
    }
  }
}
