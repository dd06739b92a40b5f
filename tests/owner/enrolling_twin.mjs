// Addresses and codes as they are typed, put to the browser's device.

import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const { addressOf, invitationOf } = await import(pathToFileURL(`${process.argv[2]}/enrolling.mjs`));
const { addresses, invitations } = JSON.parse(readFileSync(0, "utf8"));

function told(asked) {
  try {
    return asked();
  } catch (fault) {
    if (fault.name !== "Refusal") throw fault;
    return null;
  }
}

console.log(JSON.stringify({
  addresses: addresses.map((words) => told(() => addressOf(words))),
  invitations: invitations.map(([address, code]) => told(() => Object.values(invitationOf(address, code)))),
}));
