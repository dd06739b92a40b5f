// The owner's earnings: what this browser finds at fault in them, and payouts of which only she can know whether they came.

import { tellFaults, visiting } from "./market.mjs";

await tellFaults(await visiting({ lasting: false }));
