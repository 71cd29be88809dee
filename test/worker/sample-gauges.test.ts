import { tmpdir } from 'node:os';
import { type MetricMeter, noopMetricMeter } from '@temporalio/common';
import { expect, test } from 'vitest';
import type { ContentLocation } from '../../src/core/content-location.ts';
import { WorkerMetrics } from '../../src/worker/metrics.ts';
import { sampleGauges } from '../../src/worker/sample-gauges.ts';

const BUCKET: ContentLocation = {
  ...{ kind: 's3', bucket: 'crawls', prefix: '', endpoint: 'http://127.0.0.1:1', region: 'auto' },
  ...{ accessKeyId: 'key', secretAccessKey: 'secret' },
};
const SPACE = ['amble_content_store_free_bytes', 'amble_content_store_size_bytes'];

/** The names of the gauges that have been set so far. */
function sampleWith(contentStore: ContentLocation): { names: Set<string>; stop: () => void } {
  const names = new Set<string>();
  const meter: MetricMeter = {
    createCounter: (...args) => noopMetricMeter.createCounter(...args),
    createHistogram: (...args) => noopMetricMeter.createHistogram(...args),
    createGauge: (name, ...args) => ({
      ...noopMetricMeter.createGauge(name, ...args),
      set: () => void names.add(name),
    }),
    withTags: () => meter,
  };
  const dependencies = { states: () => [{ name: 'Content store', unavailable: false }] };
  const fetchSlots = { open: 0, waiting: 0 };
  return {
    names,
    stop: sampleGauges(new WorkerMetrics(meter), { fetchSlots, dependencies, contentStore }),
  };
}

test('the space of a disk is measured, and that of a bucket is not', async () => {
  const disk = sampleWith({ kind: 'directory', path: tmpdir() });
  const bucket = sampleWith(BUCKET);
  await expect.poll(() => SPACE.filter((name) => disk.names.has(name))).toEqual(SPACE);
  expect(bucket.names).toContain('amble_dependency_up');
  expect(SPACE.filter((name) => bucket.names.has(name))).toEqual([]);
  disk.stop();
  bucket.stop();
});
