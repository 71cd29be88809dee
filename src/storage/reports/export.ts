/** A crawl's pages with their attempts, one batch at a time, so that an export never holds more than that in memory. */
import type { Database } from '../database.ts';

const BATCH = 500;

export interface ExportedPage {
  url: string;
  kind: string;
  status: string;
  reason: string | null;
  title: string | null;
  description: string | null;
  canonical_url: string | null;
  language: string | null;
  detected_language: string | null;
  depth: number;
  /** By the crawl's `types`, from its URL. */
  type: string | null;
  /** 1 is the highest. */
  priority: number;
  /** Inherited from its seed. */
  keyword: string | null;
  /** The next page in its chain of redirects. */
  redirect_to: string | null;
  /** The pages that redirect to it. */
  redirected_from: string[];
  content_type: string | null;
  content_hash: string | null;
  /** The first page of the crawl with the same content. */
  duplicate_of: string | null;
  /** The page asks not to be shown in search results. */
  noindex: boolean;
  /** From a sitemap. */
  lastmod: Date | null;
  /** Key of the parsed document (headings, text, links) in the content store. */
  parsed_hash: string | null;
  links_found: number;
  /** Links that did not become pages, by reason. */
  links_skipped: unknown;
  fetched_at: Date | null;
  attempts: ExportedAttempt[];
}

export interface ExportedAttempt {
  attempt: number;
  outcome: string;
  status_code: number | null;
  error_kind: string | null;
  error: string | null;
  started_at: Date | null;
  finished_at: Date;
  slot_wait_ms: number;
  latency_ms: number | null;
  next_attempt_at: Date | null;
}

/** In the order in which the pages were found. */
export async function* exportPages(db: Database, crawlId: string): AsyncGenerator<ExportedPage> {
  let after = 0n;
  for (;;) {
    const batch = await readBatch(db, crawlId, after);
    const last = batch.at(-1);
    if (!last) return;
    const around = await readNeighbours(db, crawlId, batch);
    for (const page of batch) yield toExported(page, around);
    after = last.id;
  }
}

/** JSON Lines: one object a line, dates in ISO 8601. */
export async function* exportJsonl(db: Database, crawlId: string): AsyncGenerator<string> {
  for await (const page of exportPages(db, crawlId)) yield JSON.stringify(page);
}

type Batch = Awaited<ReturnType<typeof readBatch>>[number];

/** By id instead of by offset, so that a later batch costs the same as the first. */
function readBatch(db: Database, crawlId: string, after: bigint) {
  return db.page.findMany({
    where: { crawlId, id: { gt: after } },
    orderBy: { id: 'asc' },
    take: BATCH,
    include: { attempted: { orderBy: { attempt: 'asc' } } },
  });
}

interface Neighbours {
  /** By the URL they redirect to. */
  redirectedFrom: ReadonlyMap<string, string[]>;
  urlOf: ReadonlyMap<bigint, string>;
}

/** Some sites redirect all their old URLs to one page, whose line must stay readable. */
const MAX_REDIRECTED_FROM = 100;

async function readNeighbours(db: Database, crawlId: string, batch: readonly Batch[]): Promise<Neighbours> {
  const urls = batch.map((page) => page.url);
  const originals = batch.flatMap((page) => (page.duplicateOfId === null ? [] : [page.duplicateOfId]));
  const [redirects, originalPages] = await Promise.all([
    db.$queryRaw<{ redirect_to: string; urls: string[] }[]>`
      SELECT target AS redirect_to, array_agg(source.url ORDER BY source.id) AS urls
      FROM unnest(${urls}::text[]) AS target, LATERAL (
        SELECT id, url FROM pages WHERE redirect_to = target AND crawl_id = ${crawlId} ORDER BY id LIMIT ${MAX_REDIRECTED_FROM}::int
      ) AS source
      GROUP BY target`,
    db.page.findMany({ where: { id: { in: originals } }, select: { id: true, url: true } }),
  ]);
  return {
    redirectedFrom: new Map(redirects.map((row) => [row.redirect_to, row.urls])),
    urlOf: new Map(originalPages.map((page) => [page.id, page.url])),
  };
}

function toExported({ attempted, ...page }: Batch, around: Neighbours): ExportedPage {
  return {
    url: page.url,
    kind: page.kind,
    status: page.status,
    reason: page.reason,
    title: page.title,
    description: page.description,
    canonical_url: page.canonicalUrl,
    language: page.language,
    detected_language: page.detectedLanguage,
    depth: page.depth,
    type: page.type,
    priority: page.priority,
    keyword: page.keyword,
    redirect_to: page.redirectTo,
    redirected_from: around.redirectedFrom.get(page.url) ?? [],
    content_type: page.contentType,
    content_hash: page.contentHash,
    duplicate_of: page.duplicateOfId === null ? null : (around.urlOf.get(page.duplicateOfId) ?? null),
    noindex: page.noindex,
    lastmod: page.lastmod,
    parsed_hash: page.parsedHash,
    links_found: page.linksFound,
    links_skipped: page.linksSkipped,
    fetched_at: page.fetchedAt,
    attempts: attempted.map((attempt) => ({
      attempt: attempt.attempt,
      outcome: attempt.outcome,
      status_code: attempt.statusCode,
      error_kind: attempt.errorKind,
      error: attempt.error,
      started_at: attempt.startedAt,
      finished_at: attempt.finishedAt,
      slot_wait_ms: attempt.slotWaitMs,
      latency_ms: attempt.latencyMs,
      next_attempt_at: attempt.nextAttemptAt,
    })),
  };
}
