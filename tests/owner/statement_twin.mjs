// Statements of money as the browser's device reads them.
// node statement_twin.mjs MODULES_DIRECTORY < JSON of {statements: [{lines, received}], sums: [{balance, lines, round}]}

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const load = (name) => import(pathToFileURL(join(process.argv[2], name)));
const { addsUp, payoutInWords, repeated, taken, unconfirmed } = await load("statement.mjs");
const { linesOf, paidBy } = await load("receipts.mjs");

/** What is said, or why nothing is. */
function orRefusal(said) {
  try {
    return said();
  } catch (fault) {
    if (fault.name !== "Refusal") throw fault;
    return fault.message;
  }
}

/** How often the round of a line is read while it is looked what was taken. */
function roundsRead(lines) {
  let count = 0;
  taken(lines.map((line) => ({ ...line, get round_id() { count += 1; return line.round_id; } })));
  return count;
}

const { statements = [], sums = [] } = JSON.parse(readFileSync(0, "utf8"));
process.stdout.write(JSON.stringify({
  sums: sums.map(({ balance, lines, round }) => [orRefusal(() => addsUp({ balance, lines })), orRefusal(() => paidBy(linesOf(round, lines)))]),
  found: statements.map(({ lines, received }) => {
    const payouts = unconfirmed(lines, received.map(([transaction_id, amount_micros]) => ({ transaction_id, amount_micros })));
    return { repeated: repeated(lines), taken: taken(lines), payouts: payouts.map((line) => [line.transaction_id, payoutInWords(line)]), read: roundsRead(lines) };
  }),
}));
