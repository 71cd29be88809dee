/** The state of the installation for Prometheus. Workers serve what they count themselves: see src/worker/metrics.ts. */
import type { Hono } from 'hono';
import { LRUCache } from 'lru-cache';
import { countWorkers } from '../operator/has-worker.ts';
import { readInstallationGauges } from '../storage/reports/installation-gauges.ts';
import type { Env } from './env.ts';
import { askTemporal, type Services } from './services.ts';

export interface InstallationMetric {
  name: string;
  help: string;
  /** `value`: of the only label, if there is one. */
  samples: Array<{ label?: [name: string, value: string]; value: number }>;
}

/** However many ask: shorter than any usual scrape interval. */
const FRESH_MS = 5_000;

const TEXT_FORMAT = 'text/plain; version=0.0.4; charset=utf-8';

export function serveMetrics(app: Hono<Env>, services: Services): void {
  const metrics = new LRUCache<'all', InstallationMetric[]>({
    max: 1,
    ttl: FRESH_MS,
    fetchMethod: () => readMetrics(services),
  });
  app.get('/metrics', async (c) => {
    const text = renderExposition(await metrics.forceFetch('all'));
    return c.text(text, 200, { 'Content-Type': TEXT_FORMAT });
  });
}

async function readMetrics(services: Services): Promise<InstallationMetric[]> {
  const gauges = await readInstallationGauges(services.db);
  const workers = await askTemporal(services, (client) => countWorkers(client, services.config));
  return [
    metric('amble_crawls', 'Crawls that have not ended.', by('status', gauges.crawls)),
    metric('amble_frontier_pages', 'Pages without a final status.', by('status', gauges.frontier)),
    metric('amble_oldest_due_page_seconds', 'How long the page has been due that is overdue most.', [
      { value: gauges.oldestDueSeconds },
    ]),
    metric(
      'amble_domains',
      'Domains by what holds them back; one may be in several states.',
      by('state', gauges.domains),
    ),
    metric('amble_database_bytes', 'Size of the database.', [{ value: gauges.databaseBytes }]),
    // Unknown while Temporal is unavailable.
    metric('amble_workers', 'Workers that poll for work.', workers === null ? [] : [{ value: workers }]),
  ];
}

function metric(name: string, help: string, samples: InstallationMetric['samples']): InstallationMetric {
  return { name, help, samples };
}

function by(label: string, values: Record<string, number>): InstallationMetric['samples'] {
  return Object.entries(values).map(([name, value]) => ({ label: [label, name], value }));
}

/** https://prometheus.io/docs/instrumenting/exposition_formats/ */
export function renderExposition(metrics: readonly InstallationMetric[]): string {
  return metrics
    .flatMap(({ name, help, samples }) => [
      `# HELP ${name} ${help}`,
      `# TYPE ${name} gauge`,
      ...samples.map(({ label, value }) => `${name}${label ? `{${label[0]}="${label[1]}"}` : ''} ${value}`),
    ])
    .map((line) => `${line}\n`)
    .join('');
}
