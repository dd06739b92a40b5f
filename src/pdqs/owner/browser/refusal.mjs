/** The device stopped before anything was sent; the message says why, in words for the owner. */
export class Refusal extends Error {
  constructor(message, name = "Refusal") {
    super(message);
    this.name = name;
  }
}
