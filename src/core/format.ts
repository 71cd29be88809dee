/** Numbers as people read them in the Web UI. */

export function ordinal(n: number): string {
  const rest = n % 100;
  const ending = rest >= 11 && rest <= 13 ? 'th' : (['th', 'st', 'nd', 'rd'][n % 10] ?? 'th');
  return `${n}${ending}`;
}

const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1_000],
] as const;

/** 3_600_000 is "1 h", 90_000 is "1.5 min". */
export function inWords(ms: number): string {
  for (const [unit, length] of UNITS) {
    // 3,599,990 ms is an hour to a person.
    if (ms >= 0.999 * length) return `${Number((ms / length).toFixed(1))} ${unit}`;
  }
  return `${Math.max(0, Math.round(ms))} ms`;
}

/** The server refuses summaries of more than 400 bytes. */
const SUMMARY_BYTES = 400;
const MOST_BYTES_A_CHARACTER = 4;

/** A text cut to what a summary may hold: most are ASCII, where a character is a byte. */
export function brief(text: string): string {
  const isAscii = /^[\x20-\x7e]*$/.test(text);
  return text.slice(0, isAscii ? SUMMARY_BYTES : SUMMARY_BYTES / MOST_BYTES_A_CHARACTER);
}
