import { expect, test } from 'vitest';
import { ratesOf, Sparkline } from '../../src/server/html/sparkline.tsx';

const sample = (second: number, done: number) => ({ at: new Date(second * 1_000), found: 1_000, done });

test('the rate between two samples is in pages per minute', () => {
  expect(ratesOf([sample(0, 0), sample(30, 10), sample(150, 10)]).map(({ perMinute }) => perMinute)).toEqual([
    20, 0,
  ]);
});

test('the picture has its numbers as text, and there is none of a crawl that has just begun', () => {
  const picture = String(Sparkline({ samples: [sample(0, 0), sample(60, 12), sample(120, 15)] }));
  expect(picture).toContain('Pages per minute in the last 2 min: 3 at the end, 12 at most.');
  expect(Sparkline({ samples: [sample(0, 0), sample(60, 12)] })).toBeNull();
});
