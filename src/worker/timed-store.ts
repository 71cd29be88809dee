/** Measures the operations of a content store that pages wait for. */
import type { ContentStore } from './content-store.ts';
import type { WorkerMetrics } from './metrics.ts';

export function withTimes(store: ContentStore, metrics: Pick<WorkerMetrics, 'storeUsed'>): ContentStore {
  const timed = async <T>(operation: 'put' | 'get' | 'has', work: () => Promise<T>): Promise<T> => {
    const beganAt = performance.now();
    try {
      return await work();
    } finally {
      metrics.storeUsed(operation, performance.now() - beganAt);
    }
  };
  return {
    ...store,
    put: (bytes, options) => timed('put', () => store.put(bytes, options)),
    get: (key) => timed('get', () => store.get(key)),
    has: (key) => timed('has', () => store.has(key)),
  };
}
