/** Reads a Retry-After header (RFC 9110, 10.2.3): seconds, or an HTTP date. */

/** Milliseconds from `now` (since the epoch), 0 for a date gone by; null: absent or not understood. */
export function parseRetryAfter(header: string | undefined, now: number): number | null {
  const value = header?.trim() ?? '';
  if (/^\d+(\.\d+)?$/.test(value)) return Number(value) * 1_000;
  // Date.parse alone would take "-5" or "12 monkeys" for a year: a date starts with the name of a day.
  if (!/^(mon|tues?|wed(nes)?|thu(rs)?|fri|satu?r?|sun)(day)?,? /i.test(value)) return null;
  const date = Date.parse(value);
  return Number.isNaN(date) ? null : Math.max(0, date - now);
}
