/** The dates of sitemaps (W3C Datetime, down to a bare year) and of RSS feeds (RFC 822). */

/** A date alone, or with a time. */
const W3C = /^(\d{4})(-\d\d(-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?)?)?)?$/i;

/** Such as "Mon, 16 Nov 2026 05:05:01 GMT". The pattern keeps Date.parse from guessing. */
const RFC_822 = /^([a-z]{3},? )?\d{1,2} [a-z]{3} \d{4} \d\d:\d\d(:\d\d)? ([a-z]{1,3}|[+-]\d{4})$/i;

/** Nothing on the web is older. Most such dates are a formatted zero. */
const EARLIEST = Date.UTC(1990, 0, 1);

/** Returns null if it is not a date, or one that no page can have. */
export function parseLastmod(raw: string | null): Date | null {
  const text = raw?.trim() ?? '';
  if (!W3C.test(text) && !RFC_822.test(text)) return null;
  const date = new Date(withZone(text));
  return date.getTime() >= EARLIEST ? date : null;
}

/** Date would read a time without a zone as local time, and reject "+0100". */
function withZone(text: string): string {
  if (!/T/.test(text) || RFC_822.test(text)) return text;
  if (/(Z|[+-]\d\d:\d\d)$/i.test(text)) return text;
  return /[+-]\d{4}$/.test(text) ? `${text.slice(0, -2)}:${text.slice(-2)}` : `${text}Z`;
}
