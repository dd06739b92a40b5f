// A question that comes in a later stage: this browser checks that the stage is hers by lot, and keeps the proof.

/** What this browser found out about her stage, before her question has come. */
export async function checkedTurn(visit, round) {
  const { offer } = await visit.review(round);
  return offer.lots
    ? "Checked by this browser: your bid was counted, and your draw and your stage follow from what was fixed before anyone could bid."
    : "";
}
