/** Whether the server is alive, and whether it can do its work: for containers and load balancers. */
import type { Hono } from 'hono';
import { LRUCache } from 'lru-cache';
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

async function whyNotReady(services: Services): Promise<string[]> {
  const hasDatabase = await services.db.$queryRaw`SELECT 1`.then(
    () => true,
    () => false,
  );
  const temporal = await askTemporal(services, ({ workflowService }) => workflowService.getSystemInfo({}));
  return [...(hasDatabase ? [] : ['Postgres unavailable']), ...(temporal ? [] : ['Temporal unavailable'])];
}
