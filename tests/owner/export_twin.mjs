// What the browser's device writes of these entries when its owner takes everything away.
// node export_twin.mjs MODULES_DIRECTORY < JSON of {entries, markets, now}

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const load = (name) => import(pathToFileURL(join(process.argv[2], name)));
const { Account } = await load("account.mjs");
const { exported, readable } = await load("export.mjs");

const { entries, markets, now } = JSON.parse(readFileSync(0, "utf8"));
const account = new Account(entries);
process.stdout.write(JSON.stringify({ data: await exported(account, markets, now), page: await readable(account) }));
