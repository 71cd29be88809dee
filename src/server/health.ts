/** Whether the server is alive, and whether it can do its work: for containers and load balancers. */
import type { Hono } from 'hono';
import type { Env } from './env.ts';
import { askTemporal, type Services } from './services.ts';

export function serveHealth(app: Hono<Env>, services: Services): void {
  app.get('/healthz', (c) => c.text('ok\n'));
  app.get('/readyz', async (c) => {
    const reasons = await whyNotReady(services);
    return reasons.length === 0 ? c.text('ready\n') : c.text(`${reasons.join('\n')}\n`, 503);
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
