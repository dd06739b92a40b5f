// Which of so many bids are looked at on a day, in the browser.
// node turns_twin.mjs MODULES_DIRECTORY < JSON of {cases: [[how many, now]]}

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const { inTurn } = await import(pathToFileURL(join(process.argv[2], "dropped.mjs")));
const { cases } = JSON.parse(readFileSync(0, "utf8"));
const found = cases.map(([many, now]) => inTurn([...Array(many).keys()], now));
process.stdout.write(JSON.stringify({ found }));
