/** The gaps between requests: as the sites saw them, and as they were recorded. */
import type { Database } from '../../src/storage/database.ts';
import { watchLateness } from './lateness.ts';

/** Between the write of a request and its arrival: the scheduler's, not the crawler's. */
const JITTER_MS = 20;

const lateness = watchLateness();

/** Pairs of arrivals at one host that are closer together than its gap; there should be none. */
export function shortGapsOnArrival(
  arrivals: readonly { host: string; path: string; atMs: number }[],
  gapMs: (host: string) => number,
): string[] {
  return shortGaps(
    arrivals.map(({ host, path, atMs }) => ({
      host,
      what: path,
      atMs,
      lateMs: lateness.at(atMs),
      gapMs: gapMs(host) - JITTER_MS,
    })),
  );
}

/** The same for the starts on record, which must keep the gap that was in force to the millisecond. */
export async function shortGapsOnRecord(
  db: Database,
  crawlId: string,
  gapMs: (host: string) => number,
): Promise<string[]> {
  const requests = await db.request.findMany({ where: { crawlId }, orderBy: { startedAt: 'asc' } });
  return shortGaps(
    requests.map(({ domain, url, startedAt, minGapMs }) => ({
      host: domain,
      what: url,
      atMs: startedAt.getTime(),
      lateMs: 0,
      gapMs: Math.max(minGapMs, gapMs(domain)),
    })),
  );
}

interface Visit {
  host: string;
  what: string;
  atMs: number;
  /** It may have been this much earlier. */
  lateMs: number;
  /** Required since the visit before. */
  gapMs: number;
}

/** `visits` in the order of time. */
function shortGaps(visits: readonly Visit[]): string[] {
  const latest = new Map<string, Visit>();
  return visits.flatMap((visit) => {
    const before = latest.get(visit.host);
    latest.set(visit.host, visit);
    const apart = visit.atMs - (before === undefined ? 0 : before.atMs - before.lateMs);
    if (before === undefined || apart >= visit.gapMs) return [];
    return [
      `${visit.host}: ${visit.what} came ${apart.toFixed(1)} ms after ${before.what}, not ${visit.gapMs} ms`,
    ];
  });
}
