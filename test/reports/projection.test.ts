import { expect, test } from 'vitest';
import { project, recentSince, thinOut, timeLeftMs } from '../../src/reports/projection.ts';

const sample = (second: number, found: number, done: number) => ({
  at: new Date(second * 1_000),
  found,
  done,
});

test('a frontier that is worked off ends when done reaches found', () => {
  const projection = project([sample(0, 0, 0), sample(800, 900, 100), sample(1_000, 1_000, 400)]);
  expect(projection).toMatchObject({ foundRate: 0.5, doneRate: 1.5, isGrowing: false });
  expect(projection?.endsInMs).toBe(600_000);
});

test('a crawl does not end sooner than its slowest domain can, however fast it was lately', () => {
  const samples = [sample(0, 0, 0), sample(800, 900, 100), sample(1_000, 1_000, 400)];
  expect(project(samples, 7_200_000)?.endsInMs).toBe(7_200_000);
  expect(project(samples, 1_000)?.endsInMs).toBe(600_000);
});

test('a frontier that grows faster than it is worked off has no end', () => {
  expect(project([sample(0, 0, 0), sample(1_000, 1_000, 50)])).toMatchObject({
    endsInMs: null,
    isGrowing: true,
  });
});

test('only the recent past counts', () => {
  const projection = project([sample(0, 0, 0), sample(8_000, 10_000, 8_000), sample(10_000, 10_000, 8_200)]);
  expect(projection?.doneRate).toBe(0.1);
});

test('the burst of links with which a crawl begins projects nothing', () => {
  const young = [sample(0, 0, 0), sample(10, 300, 1), sample(100, 301, 10)];
  expect(project(young)).toBeNull();
  expect(project([...young, sample(130, 301, 13)])).toMatchObject({ isGrowing: false });
});

test('one sample projects nothing', () => {
  expect(project([sample(0, 1, 0)])).toBeNull();
  expect(project([])).toBeNull();
});

test('samples are thinned out evenly in time, with the first and the last', () => {
  const dense = Array.from({ length: 1_000 }, (_, n) => sample(n, n, n));
  const sparse = Array.from({ length: 100 }, (_, n) => sample(1_000 + n * 100, n, n));
  const kept = thinOut([...dense, ...sparse], 51);
  expect(kept.length).toBeLessThanOrEqual(51);
  expect(kept[0]).toBe(dense[0]);
  expect(kept.at(-1)).toBe(sparse.at(-1));
  expect(kept.filter(({ at }) => at.getTime() < 1_000_000).length).toBeLessThan(10);
});

test('one earlier sample is enough to project the same as all of them', () => {
  const samples = [0, 400, 700, 790, 900, 1_000].map((seconds) => sample(seconds, seconds, seconds / 2));
  const [first, last] = [samples[0], samples.at(-1)];
  if (!first || !last) throw new Error('There are no samples.');
  const earlier = samples.findLast(({ at }) => at <= recentSince(first.at, last.at));
  expect(earlier).toEqual(samples[3]);
  expect(project([first, ...(earlier ? [earlier] : []), last])).toEqual(project(samples));
});

test('a crawl that is too young for a projection ends when its known pages are done', () => {
  expect(timeLeftMs(null, { open: 10, pagesPerSecond: 0.5, atLeastMs: 1_000 })).toBe(20_000);
  expect(timeLeftMs(null, { open: 10, pagesPerSecond: 0.5, atLeastMs: 60_000 })).toBe(60_000);
  expect(timeLeftMs(null, { open: 10, pagesPerSecond: 0, atLeastMs: 0 })).toBeNull();
});
