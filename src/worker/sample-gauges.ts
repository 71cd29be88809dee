/** Sets the gauges of a worker at intervals: a request that ends sooner than the next scrape would not be seen in any case. */
import { statfs } from 'node:fs/promises';
import type { ContentLocation } from '../core/content-location.ts';
import type { DependencyHealth } from './dependency-health.ts';
import type { FetchSlots } from './fetch-slots.ts';
import type { WorkerMetrics } from './metrics.ts';

/** Shorter than any usual scrape interval. */
const INTERVAL_MS = 5_000;

export interface Sampled {
  fetchSlots: Pick<FetchSlots, 'open' | 'waiting'>;
  dependencies: Pick<DependencyHealth, 'states'>;
  contentStore: ContentLocation;
}

/** Returns a function that stops it. */
export function sampleGauges(
  metrics: WorkerMetrics,
  { fetchSlots, dependencies, contentStore }: Sampled,
): () => void {
  const sample = async (): Promise<void> => {
    metrics.setRequests({ open: fetchSlots.open, waiting: fetchSlots.waiting });
    for (const { name, unavailable } of dependencies.states()) metrics.setDependency(name, !unavailable);
    // Missing before the first body, and while its volume is: `amble_dependency_up` says so then.
    const space =
      contentStore.kind === 'directory' ? await statfs(contentStore.path).catch(() => null) : null;
    if (space !== null)
      metrics.setStoreSpace({ freeBytes: space.bavail * space.bsize, sizeBytes: space.blocks * space.bsize });
  };
  void sample();
  const timer = setInterval(() => void sample(), INTERVAL_MS);
  timer.unref();
  return () => clearInterval(timer);
}
