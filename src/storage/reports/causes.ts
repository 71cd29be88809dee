/** Why pages of a crawl ended without content: by kind of error, status code and domain. */
import type { Database } from '../database.ts';
import { Prisma } from '../generated/client.ts';

export type CauseStatus = 'Failed' | 'Rejected' | 'Blocked';

export interface Cause {
  status: CauseStatus;
  /** See docs/architecture.md. null: none is on record. */
  errorKind: string | null;
  /** null: there was no response. */
  statusCode: number | null;
  pages: number;
  firstAt: Date;
  lastAt: Date;
  /** Those with the most pages. */
  domains: { domain: string; pages: number }[];
  /** Some of the pages, with their own reasons. */
  samples: { url: string; reason: string | null }[];
}

export interface Causes {
  causes: Cause[];
  /** Pages of rarer causes, which are not listed. */
  others: number;
}

/** Rows that are read: those with the most pages. A crawl of many broken sites may have a hundred thousand. */
const MAX_ROWS = 2_000;
const MAX_CAUSES = 50;
const MAX_DOMAINS = 5;
const MAX_SAMPLES = 3;

interface CauseRow {
  domain: string;
  status: CauseStatus;
  error_kind: string;
  status_code: number;
  pages: number;
  first_at: Date;
  last_at: Date;
}

/** The causes with the most pages first. As of the crawl's last sweep, at most some seconds ago. */
export async function readCauses(db: Database, crawlId: string): Promise<Causes> {
  const rows = await db.$queryRaw<CauseRow[]>`
    SELECT domain, status::text, error_kind, status_code, pages, first_at, last_at
    FROM crawl_causes WHERE crawl_id = ${crawlId} AND pages > 0 ORDER BY pages DESC LIMIT ${MAX_ROWS}`;
  const [counted] = await db.$queryRaw<{ pages: number }[]>`
    SELECT coalesce(sum(pages), 0)::int AS pages FROM crawl_page_counts
    WHERE crawl_id = ${crawlId} AND kind = 'page' AND status IN ('Failed', 'Rejected', 'Blocked')`;
  const groups = new Map<string, CauseRow[]>();
  for (const row of rows) {
    const key = `${row.status} ${row.error_kind} ${row.status_code}`;
    const group = groups.get(key);
    if (group) group.push(row);
    else groups.set(key, [row]);
  }
  const largest = [...groups.values()]
    .map(toCause)
    .sort((one, other) => other.pages - one.pages)
    .slice(0, MAX_CAUSES);
  const causes = await Promise.all(
    largest.map(async (cause) => ({ ...cause, samples: await readSamples(db, crawlId, cause) })),
  );
  const listed = causes.reduce((sum, { pages }) => sum + pages, 0);
  return { causes, others: Math.max(0, (counted?.pages ?? 0) - listed) };
}

type CountedCause = Omit<Cause, 'samples'>;

function toCause(rows: readonly CauseRow[]): CountedCause {
  const [
    { status, error_kind, status_code } = { status: 'Failed' as const, error_kind: '', status_code: 0 },
  ] = rows;
  return {
    status,
    errorKind: error_kind === '' ? null : error_kind,
    statusCode: status_code === 0 ? null : status_code,
    pages: rows.reduce((sum, { pages }) => sum + pages, 0),
    firstAt: new Date(Math.min(...rows.map(({ first_at }) => first_at.getTime()))),
    lastAt: new Date(Math.max(...rows.map(({ last_at }) => last_at.getTime()))),
    domains: rows.slice(0, MAX_DOMAINS).map(({ domain, pages }) => ({ domain, pages })),
  };
}

/**
 * From its largest domain. The condition of the index of failed pages is spelt out: Postgres cannot tell that a parameter meets it,
 * and would read all pages of the crawl.
 */
async function readSamples(
  db: Database,
  crawlId: string,
  { status, errorKind, statusCode, domains: [largest] }: CountedCause,
): Promise<Cause['samples']> {
  return db.$queryRaw<Cause['samples']>`
    SELECT url, reason FROM pages
    WHERE crawl_id = ${crawlId} AND domain = ${largest?.domain ?? ''} AND kind = 'page' AND status = ${status}::page_status
      AND (status = 'Failed' OR status = 'Rejected' OR status = 'Blocked')
      AND error_kind ${errorKind === null ? Prisma.sql`IS NULL` : Prisma.sql`= ${errorKind}`}
      AND status_code ${statusCode === null ? Prisma.sql`IS NULL` : Prisma.sql`= ${statusCode}`}
    ORDER BY error_kind, status_code, domain, id LIMIT ${MAX_SAMPLES}`;
}
