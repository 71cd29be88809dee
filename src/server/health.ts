/** Whether the server is alive, and whether it can do its work: for containers and load balancers. */
import type { Hono } from 'hono';
import { LRUCache } from 'lru-cache';
import { type HealthReport, readHealth } from '../operator/health.ts';
import { DATABASE_TIMEOUT_MS, withinMs } from './database-deadline.ts';
import type { Env } from './env.ts';
import { askTemporal, type Services } from './services.ts';

/** Everybody may ask, however often: shorter than the usual interval of a probe. */
const FRESH_MS = 1_000;

export function serveHealth(app: Hono<Env>, services: Services, stopping: AbortSignal): void {
  const reasons = new LRUCache<'all', string[]>({
    max: 1,
    ttl: FRESH_MS,
    fetchMethod: () => whyNotReady(services),
  });
  app.get('/healthz', (c) => c.text('ok\n'));
  app.get('/readyz', async (c) => {
    const why = stopping.aborted ? ['stopping'] : await reasons.forceFetch('all');
    return why.length === 0 ? c.text('ready\n') : c.text(`${why.join('\n')}\n`, 503);
  });
}

/** Does not wait for what is known to be silent. */
export function readHealthNow({ config, db, client, outages }: Services, now: Date): Promise<HealthReport> {
  const noDatabase = 'it does not answer';
  return readHealth({ config, client, noDatabase, db: outages.isSilent('Postgres') ? null : db }, now);
}

async function whyNotReady(services: Services): Promise<string[]> {
  const { db, outages } = services;
  const asked = db.$queryRaw`SELECT 1`;
  const hasDatabase = await withinMs(asked, outages.isSilent('Postgres') ? 0 : DATABASE_TIMEOUT_MS).then(
    () => true,
    () => false,
  );
  const temporal = await askTemporal(services, ({ workflowService }) => workflowService.getSystemInfo({}));
  return [...(hasDatabase ? [] : ['Postgres unavailable']), ...(temporal ? [] : ['Temporal unavailable'])];
}
