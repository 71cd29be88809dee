/** A crawl's pages with their attempts, a batch at a time: an export never holds more than one batch in memory. */
import type { Database } from './database.ts';

const BATCH = 500;

export interface ExportedPage {
  url: string;
  status: string;
  reason: string | null;
  title: string | null;
  depth: number;
  redirect_to: string | null;
  content_type: string | null;
  content_hash: string | null;
  fetched_at: Date | null;
  attempts: ExportedAttempt[];
}

export interface ExportedAttempt {
  attempt: number;
  outcome: string;
  status_code: number | null;
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
    for (const { attempted, ...page } of batch) yield toExported(page, attempted);
    after = last.id;
  }
}

/** JSON Lines: one object a line, dates in ISO 8601. */
export async function* exportJsonl(db: Database, crawlId: string): AsyncGenerator<string> {
  for await (const page of exportPages(db, crawlId)) yield `${JSON.stringify(page)}\n`;
}

type Batch = Awaited<ReturnType<typeof readBatch>>[number];

/** After an id instead of by offset: a page further on costs the same as the first. */
function readBatch(db: Database, crawlId: string, after: bigint) {
  return db.page.findMany({
    where: { crawlId, id: { gt: after } },
    orderBy: { id: 'asc' },
    take: BATCH,
    include: { attempted: { orderBy: { attempt: 'asc' } } },
  });
}

function toExported(page: Omit<Batch, 'attempted'>, attempts: Batch['attempted']): ExportedPage {
  return {
    url: page.url,
    status: page.status,
    reason: page.reason,
    title: page.title,
    depth: page.depth,
    redirect_to: page.redirectTo,
    content_type: page.contentType,
    content_hash: page.contentHash,
    fetched_at: page.fetchedAt,
    attempts: attempts.map((attempt) => ({
      attempt: attempt.attempt,
      outcome: attempt.outcome,
      status_code: attempt.statusCode,
      error: attempt.error,
      started_at: attempt.startedAt,
      finished_at: attempt.finishedAt,
      slot_wait_ms: attempt.slotWaitMs,
      latency_ms: attempt.latencyMs,
      next_attempt_at: attempt.nextAttemptAt,
    })),
  };
}
