/**
 * URLs that a script generates endlessly. Some are recognised one by one. For the others there are limits on the number of pages
 * of one shape, which the database counts.
 */
import { hash } from 'node:crypto';
import type { TrapLimits } from '../core/settings.ts';

export type TrapReason = 'path too deep' | 'repeated segments';

/** Segments that are compared. Comparing takes quadratic time: the 1,000 that fit into a URL took 0.5 ms for every link. */
const MAX_COMPARED = 100;

/** `url` is a normalised URL. null: it does not look like a trap. */
export function detectTrap(url: string, limits: TrapLimits): TrapReason | null {
  const segments = segmentsOf(url);
  if (limits.maxPathDepth !== null && segments.length > limits.maxPathDepth) return 'path too deep';
  if (limits.maxRepeats !== null && repetitions(segments.slice(0, MAX_COMPARED)) > limits.maxRepeats)
    return 'repeated segments';
  return null;
}

/** Without empty segments. */
function segmentsOf(url: string): string[] {
  return new URL(url).pathname.split('/').filter((segment) => segment !== '');
}

/**
 * How often one sequence of segments is repeated in a row: 3 for /a/b/a/b/a/b. A broken relative link adds one repetition each
 * time it is followed. Legitimate paths repeat a name once or twice, and seldom in a row.
 */
function repetitions(segments: readonly string[]): number {
  let highest = 1;
  for (let run = 1; run * 2 <= segments.length; run += 1) {
    let equal = 0;
    for (let i = run; i < segments.length; i += 1) {
      equal = segments[i] === segments[i - run] ? equal + 1 : 0;
      highest = Math.max(highest, 1 + Math.floor(equal / run));
    }
  }
  return highest;
}

type ShapeKind = 'directory' | 'query' | 'calendar';

export type QuotaReason = 'directory full' | 'query full' | 'calendar full' | 'domain full';

/** The pages of one directory, of one script with the same parameters, or of one calendar. Every URL has exactly one shape. */
export interface Shape {
  kind: ShapeKind;
  /** What its URLs have in common, for people: `example.org/shop/?colour&page`. */
  name: string;
}

/** A date at the end of a path: /2031/05, /2031/05/12/, /2031-05-12. With a slug after it, it is an article, not a calendar. */
const DATE_AT_END =
  /\/(?:1[89]|20|21)\d\d(?:[/-](?:0?[1-9]|1[0-2])(?:[/-](?:0?[1-9]|[12]\d|3[01]))?|-?W\d\d?)\/?$/;

/** Parameters that select a date in a calendar, if their values are numbers or dates. */
const DATE_PARAMETERS: ReadonlySet<string> = new Set([
  'cal',
  'caldate',
  'calendar',
  'date',
  'day',
  'eventdate',
  'from',
  'mm',
  'month',
  'start',
  'start_date',
  'startdate',
  'to',
  'tribe-bar-date',
  'week',
  'year',
  'yy',
  'yyyy',
]);

const DATE_VALUE = /^(?:\d{1,4}|\d{4}[-/.]?\d\d?(?:[-/.]?\d\d?)?)$/;

/** A calendar has at least one of these. Otherwise `from` and `start` would turn any list into one. */
const CALENDAR_PARAMETERS = /^(?:cal|caldate|calendar|date|day|eventdate|mm|month|tribe-bar-date|week)$/;

/** Further ones do not count. Honest URLs have fewer, and a page may have thousands of links with a thousand each. */
const MAX_PARAMETERS = 50;

/** `url` is a normalised URL. */
export function shapeOf(url: string): Shape {
  const { host, pathname, search } = new URL(url);
  const parameters = search === '' ? [] : search.slice(1).split('&', MAX_PARAMETERS).map(split);
  const names = [...new Set(parameters.map(([name]) => name))].sort();
  if (DATE_AT_END.test(pathname) || hasDate(parameters)) {
    return { kind: 'calendar', name: named(host, pathname.replaceAll(/\d+/g, '0'), names) };
  }
  if (names.length > 0) return { kind: 'query', name: named(host, pathname, names) };
  return { kind: 'directory', name: host + directoryOf(pathname) };
}

export interface UrlQuota {
  /** Of the kind and the name. It has a fixed size, for the index. */
  hash: Buffer;
  name: string;
  limit: number;
  /** Why a page beyond the limit is skipped. */
  reason: QuotaReason;
}

/** The quota that a URL counts against. null: its kind is not limited. */
export function quotaOf(url: string, limits: TrapLimits): UrlQuota | null {
  const { kind, name } = shapeOf(url);
  const limit = limitOf(kind, limits);
  if (limit === null) return null;
  return { hash: hashOf(kind, name), name, limit, reason: `${kind} full` };
}

/** The quota of a whole domain. */
export function domainQuota(domain: string, limit: number): UrlQuota {
  return { hash: hashOf('domain', domain), name: domain, limit, reason: 'domain full' };
}

function hashOf(kind: string, name: string): Buffer {
  return hash('sha256', `${kind} ${name}`, 'buffer');
}

function limitOf(kind: ShapeKind, limits: TrapLimits): number | null {
  switch (kind) {
    case 'directory':
      return limits.maxPerDirectory;
    case 'query':
      return limits.maxPerQuery;
    case 'calendar':
      return limits.maxPerCalendar;
  }
}

function split(parameter: string): [name: string, value: string] {
  const cut = parameter.indexOf('=');
  return cut === -1
    ? [parameter.toLowerCase(), '']
    : [parameter.slice(0, cut).toLowerCase(), parameter.slice(cut + 1)];
}

function hasDate(parameters: readonly [name: string, value: string][]): boolean {
  return (
    parameters.some(([name, value]) => CALENDAR_PARAMETERS.test(name) && DATE_VALUE.test(value)) &&
    parameters.every(([name, value]) => !DATE_PARAMETERS.has(name) || DATE_VALUE.test(value))
  );
}

function named(host: string, path: string, names: readonly string[]): string {
  return names.length === 0 ? host + path : `${host}${path}?${names.join('&')}`;
}

/** /a/ for /a/b.html and for /a/b/, because many sites write a page like a directory. */
function directoryOf(pathname: string): string {
  const path = pathname.endsWith('/') ? pathname.slice(0, -1) : pathname;
  return path.slice(0, path.lastIndexOf('/') + 1);
}
