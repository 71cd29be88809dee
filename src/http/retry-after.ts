/** Reads a Retry-After header (RFC 9110, 10.2.3): seconds, or an HTTP date. */

const DAY = '(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|satu?r?|sun)(?:day)?';

/** If the header was sent twice, a comma separates its values. The comma after the name of a day does not. */
const VALUES = new RegExp(`\\s*(?:${DAY},)?[^,]+`, 'gi');

/** A date starts with the name of a day. Date.parse alone would read "-5" or "12 monkeys" as a year. */
const DATE = new RegExp(`^${DAY},? `, 'i');

/** The time zone at the end of a date. The asctime format has none. */
const ZONE = /([a-z]|\s[+-][\d:]+)$/i;

/** Milliseconds from `now` (since the epoch): the longest of several, 0 for a date in the past. null: absent or invalid. */
export function parseRetryAfter(header: string | undefined, now: number): number | null {
  const values = header?.match(VALUES) ?? [];
  return values
    .map((value) => readValue(value.trim(), now))
    .reduce((longest, ms) => (longest === null || (ms !== null && ms > longest) ? ms : longest), null);
}

function readValue(value: string, now: number): number | null {
  // A number too large to represent is still a long wait. The caller caps it, and needs a number for that.
  if (/^\d+(\.\d+)?$/.test(value)) return Math.min(Number(value) * 1_000, Number.MAX_SAFE_INTEGER);
  if (!DATE.test(value)) return null;
  // Every HTTP date is in UTC, but Date.parse would read one without a zone as local time.
  const date = Date.parse(ZONE.test(value) ? value : `${value} GMT`);
  return Number.isNaN(date) ? null : Math.max(0, date - now);
}
