// The owner's rounds: what became of the reports that this browser made, whatever the market's list says of them.

import { tellFaults, visiting } from "./market.mjs";

await tellFaults(await visiting({ lasting: false }));
