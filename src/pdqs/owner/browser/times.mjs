// Moments for people, in the zone of whoever reads; a moment looks as in pdqs/present/times.py.

const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const zoned = new Intl.DateTimeFormat(undefined, { timeZoneName: "short" });
const two = (count) => String(count).padStart(2, "0");
const zone = (at) => zoned.formatToParts(at).find(({ type }) => type === "timeZoneName").value;

export function moment(ms) {
  const at = new Date(ms);
  return `${at.getDate()} ${MONTHS[at.getMonth()]} ${at.getFullYear()}, ${two(at.getHours())}:${two(at.getMinutes())} ${zone(at)}`;
}
