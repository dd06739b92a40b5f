// Whether a round that was signed for should be settled by now, by the terms she bid on: the twin of pdqs/owner/overdue.py.

import { dayText } from "./statement.mjs";

const MOST_NONCE_SECONDS = 7 * 86_400;
const DAY_MS = 86_400_000;
const GRACE_MS = DAY_MS;

/** When a round is over at the latest, by the frozen terms of a bid that was signed for. */
export function overMs(terms) {
  const { bids_close_at_ms: closes, nonce_seconds: nonce, report_seconds: seconds, terms: { question } } = JSON.parse(terms);
  const waits = Number.isInteger(nonce) ? Math.min(Math.max(nonce, 0), MOST_NONCE_SECONDS) : 0; // no device relies on it
  return closes + 1000 * (waits + seconds * (question?.stages ?? 1));
}

/** Whether that is more than a day ago. */
export const isOverdue = (terms, nowMs) => nowMs > overMs(terms) + GRACE_MS;

/** Whether bids and reports of the round may be deleted by now, as its terms say and by this device's clock. */
export function mayBeDeleted(terms, nowMs) {
  const { retention_days: days, bids_close_at_ms: closes } = JSON.parse(terms);
  return Number.isInteger(days) && nowMs >= closes + DAY_MS * Math.max(days, 1);
}

/** What a market has not done then, to follow on what it signed for. */
export const overdueInWords = (terms, nowMs) =>
  `has still not settled the round, which by its terms was over on ${dayText(overMs(terms))} (by this device it is ${dayText(nowMs)})`;
