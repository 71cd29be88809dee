/**
 * The family a URL belongs to, for limits that need counting: the pages of one directory, the pages that one script makes
 * of the same parameters, the leaves of one calendar. Every URL belongs to exactly one, so one counter tells all.
 */
import { createHash } from 'node:crypto';
import type { TrapLimits } from '../core/settings.ts';

export type ShapeKind = 'directory' | 'query' | 'calendar';

export type QuotaReason = 'directory full' | 'query full' | 'calendar full' | 'domain full';

export interface Shape {
  kind: ShapeKind;
  /** What all its members have in common, to be read by people: `example.org/shop/?colour&page`. */
  name: string;
}

/** A date that ends a path: /2031/05, /2031/05/12/, /2031-05-12. What follows a slug is an article, not a calendar. */
const DATE_AT_END =
  /\/(?:1[89]|20|21)\d\d(?:[/-](?:0?[1-9]|1[0-2])(?:[/-](?:0?[1-9]|[12]\d|3[01]))?|-?W\d\d?)\/?$/;

/** Parameters by which calendars are leafed through, where their values are numbers or dates. */
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

/** At least one of these, or `from` and `start` of any list would make a calendar of it. */
const CALENDAR_PARAMETERS = /^(?:cal|caldate|calendar|date|day|eventdate|mm|month|tribe-bar-date|week)$/;

/** `url` is a normalised URL. */
export function shapeOf(url: string): Shape {
  const { host, pathname, search } = new URL(url);
  const parameters = search === '' ? [] : search.slice(1).split('&').map(split);
  const names = [...new Set(parameters.map(([name]) => name))].sort();
  if (DATE_AT_END.test(pathname) || isDated(parameters)) {
    return { kind: 'calendar', name: named(host, pathname.replaceAll(/\d+/g, '0'), names) };
  }
  if (names.length > 0) return { kind: 'query', name: named(host, pathname, names) };
  return { kind: 'directory', name: host + directoryOf(pathname) };
}

export interface UrlQuota {
  /** Of the shape's name: fixed in size, as an index wants it. */
  hash: Buffer;
  name: string;
  limit: number;
  /** What is said of a page for which there is no room. */
  reason: QuotaReason;
}

/** The counter that a URL falls under; null: its kind is not limited. */
export function quotaOf(url: string, limits: TrapLimits): UrlQuota | null {
  const { kind, name } = shapeOf(url);
  const most = mostOf(kind, limits);
  if (most === null) return null;
  return { hash: hashOf(kind, name), name, limit: most, reason: `${kind} full` };
}

/** The counter of a whole domain. */
export function domainQuota(domain: string, most: number): UrlQuota {
  return { hash: hashOf('domain', domain), name: domain, limit: most, reason: 'domain full' };
}

function hashOf(kind: string, name: string): Buffer {
  return createHash('sha256').update(`${kind} ${name}`).digest();
}

function mostOf(kind: ShapeKind, limits: TrapLimits): number | null {
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

function isDated(parameters: readonly [name: string, value: string][]): boolean {
  return (
    parameters.some(([name, value]) => CALENDAR_PARAMETERS.test(name) && DATE_VALUE.test(value)) &&
    parameters.every(([name, value]) => !DATE_PARAMETERS.has(name) || DATE_VALUE.test(value))
  );
}

function named(host: string, path: string, names: readonly string[]): string {
  return names.length === 0 ? host + path : `${host}${path}?${names.join('&')}`;
}

/** Where the page lies: /a/ for /a/b.html and for /a/b/, which is how many sites write a page. */
function directoryOf(pathname: string): string {
  const path = pathname.endsWith('/') ? pathname.slice(0, -1) : pathname;
  return path.slice(0, path.lastIndexOf('/') + 1);
}
