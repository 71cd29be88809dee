/** Numbers and texts as people read them, in the terminal and in the Web UI. */

export function ordinal(n: number): string {
  const rest = n % 100;
  const ending = rest >= 11 && rest <= 13 ? 'th' : (['th', 'st', 'nd', 'rd'][n % 10] ?? 'th');
  return `${n}${ending}`;
}

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** `250 ms`, `1.5 s`, `12 s`, `1 min 30 s`, `25 min`, `2 h 10 min`, `3 d`: two units at most, as precise as a reader needs. */
export function formatDuration(ms: number): string {
  // Rounded before the unit is chosen: 3,599,990 ms reads as an hour.
  if (ms < 999) return `${Math.max(0, Math.round(ms))} ms`;
  if (ms < 9_950) return `${Number((ms / SECOND).toFixed(1))} s`;
  const seconds = roundTo(SECOND, ms);
  if (seconds < 10 * MINUTE) return twoUnits(seconds, [MINUTE, 'min'], [SECOND, 's']);
  const minutes = roundTo(MINUTE, ms);
  if (minutes < DAY) return twoUnits(minutes, [HOUR, 'h'], [MINUTE, 'min']);
  return twoUnits(roundTo(HOUR, ms), [DAY, 'd'], [HOUR, 'h']);
}

type Unit = [ms: number, name: string];

function roundTo(unitMs: number, ms: number): number {
  return Math.round(ms / unitMs) * unitMs;
}

function twoUnits(ms: number, [largeMs, large]: Unit, [smallMs, small]: Unit): string {
  const larges = Math.floor(ms / largeMs);
  const smalls = (ms % largeMs) / smallMs;
  return [...(larges > 0 ? [`${larges} ${large}`] : []), ...(smalls > 0 ? [`${smalls} ${small}`] : [])].join(
    ' ',
  );
}

/** The server refuses summaries of more than 400 bytes. */
const MAX_SUMMARY_BYTES = 400;
const MAX_BYTES_PER_CHARACTER = 4;

/** Cuts a text to what a Temporal summary may hold. Most texts are ASCII, with one byte per character. */
export function truncateSummary(text: string): string {
  const isAscii = /^[\x20-\x7e]*$/.test(text);
  return text.slice(0, isAscii ? MAX_SUMMARY_BYTES : MAX_SUMMARY_BYTES / MAX_BYTES_PER_CHARACTER);
}

/** Cuts what a server sent to a length that fits into a sentence, a row and a workflow's history. */
export function truncateText(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length - 1)}…`;
}
