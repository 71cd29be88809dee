/** Reads a Retry-After header (RFC 9110, 10.2.3): seconds, or an HTTP date. */

const DAY = '(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|satu?r?|sun)(?:day)?';

/** A header that was sent twice has its values behind each other; the comma after the name of a day separates nothing. */
const VALUES = new RegExp(`\\s*(?:${DAY},)?[^,]+`, 'gi');

/** Date.parse alone would take "-5" or "12 monkeys" for a year: a date starts with the name of a day. */
const DATE = new RegExp(`^${DAY},? `, 'i');

/** How a date ends that says its zone; those of asctime do not. */
const ZONE = /([a-z]|\s[+-][\d:]+)$/i;

/** Milliseconds from `now` (since the epoch), 0 for a date gone by, of several the longest; null: absent or not understood. */
export function parseRetryAfter(header: string | undefined, now: number): number | null {
  const values = header?.match(VALUES) ?? [];
  return values
    .map((value) => readValue(value.trim(), now))
    .reduce((longest, ms) => (longest === null || (ms !== null && ms > longest) ? ms : longest), null);
}

function readValue(value: string, now: number): number | null {
  // A number too long to be one is a long wait all the same: whoever caps it needs a number.
  if (/^\d+(\.\d+)?$/.test(value)) return Math.min(Number(value) * 1_000, Number.MAX_SAFE_INTEGER);
  if (!DATE.test(value)) return null;
  // Every HTTP date is in UTC, said or not; Date.parse would take it for local time.
  const date = Date.parse(ZONE.test(value) ? value : `${value} GMT`);
  return Number.isNaN(date) ? null : Math.max(0, date - now);
}
