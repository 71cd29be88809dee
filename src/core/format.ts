/** Numbers, times and texts as people read them: in the terminal, on the dashboard and in the Web UI. */

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

/** To the millisecond: a gap of 9.999 s is too short if 10 s are required. */
export function formatSeconds(ms: number): string {
  return `${(ms / SECOND).toFixed(3)} s`;
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

export function formatCount(count: number): string {
  return count.toLocaleString('en');
}

/** `1 page`, `1,040 pages`. */
export function formatPlural(count: number, singular: string, plural = `${singular}s`): string {
  return `${formatCount(count)} ${count === 1 ? singular : plural}`;
}

export function formatAgo(at: number, now: Date): string {
  return `${formatDuration(now.getTime() - at)} ago`;
}

export function formatIn(at: number, now: Date): string {
  return at <= now.getTime() ? 'now' : `in ${formatDuration(at - now.getTime())}`;
}

/** `14:05:09` in local time, with the date if it is not today. */
export function formatClock(at: number | Date, now: Date): string {
  const time = new Date(at);
  return time.toDateString() === now.toDateString() ? time.toLocaleTimeString('en-GB') : formatDateTime(time);
}

/** With its date, for what is read on other days. */
export function formatDateTime(at: Date): string {
  return `${at.toLocaleDateString('sv-SE')} ${at.toLocaleTimeString('en-GB')}`;
}

/**
 * The server refuses a summary whose payload has more than 400 bytes. The payload is the text as JSON, in quotes, and 27 bytes
 * around it.
 */
const MAX_SUMMARY_BYTES = 360;

/** Cuts a text to what a Temporal summary may hold, and leaves out what a page must not write into one. */
export function truncateSummary(text: string): string {
  let summary = '';
  let bytes = 0;
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0;
    const written = isControl(code) ? ' ' : isSurrogate(code) ? '\ufffd' : character;
    bytes += bytesInJson(written.codePointAt(0) ?? 0);
    if (bytes > MAX_SUMMARY_BYTES) break;
    summary += written;
  }
  return summary;
}

function bytesInJson(code: number): number {
  const isEscaped = code === 0x22 || code === 0x5c;
  if (code < 0x80) return isEscaped ? 2 : 1;
  if (code < 0x800) return 2;
  return code < 0x10000 ? 3 : 4;
}

/** C0, DEL and C1. */
function isControl(code: number): boolean {
  return code < 0x20 || (code >= 0x7f && code < 0xa0);
}

/** A string's characters are code points, so this is half of a pair whose other half is missing. */
function isSurrogate(code: number): boolean {
  return code >= 0xd800 && code < 0xe000;
}

/** NUL and halves of surrogate pairs: Postgres stores neither, so that what holds one could never be recorded. */
const NOT_STORABLE = /[\0\p{Surrogate}]/gu;

/** Cuts what a server sent to a length that fits into a sentence, a row and a workflow's history. */
export function truncateText(text: string, length: number): string {
  const cut = text.length <= length ? text : `${text.slice(0, length - 1).replace(/[\ud800-\udbff]$/, '')}…`;
  return cut.replace(NOT_STORABLE, '\ufffd');
}

/**
 * C0, DEL, C1, line separators, and the controls of writing direction. A terminal obeys the first three, as in "write the
 * clipboard"; the others show a text in another order than it has.
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it looks for.
const CONTROLS = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** Makes a line safe to show, even if it contains text from the web. JSON stays the same JSON: there they occur within strings only. */
export function escapeControls(line: string): string {
  return line.replace(CONTROLS, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** A word of a command to copy and paste. */
export function quoteForShell(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

/** Of a clock: ahead is +. */
export function formatOffset(ms: number): string {
  return `${ms < 0 ? '−' : '+'}${formatDuration(Math.abs(ms))}`;
}

export function formatSize(bytes: number): string {
  const mebibytes = bytes / 1024 ** 2;
  return mebibytes < 10_240
    ? `${formatCount(Math.round(mebibytes))} MiB`
    : `${formatCount(Math.round(mebibytes / 1024))} GiB`;
}
