import { describe, expect, test } from 'vitest';
import { politeEnd } from '../../src/reports/remaining-time.ts';
import type { DomainRemaining } from '../../src/storage/reports/remaining.ts';

const NOW = new Date('2026-01-01T12:00:00Z');
const HOUR_MS = 3_600_000;

function domain(
  name: string,
  open: number,
  gapMs: number,
  more: Partial<DomainRemaining> = {},
): DomainRemaining {
  return {
    ...{ domain: name, found: open, open, gapMs, siteGapMs: 0 },
    ...{ paused: false, down: false, blockedUntil: null, ...more },
  };
}

test('the domain with the most pages times its gap sets the end', () => {
  const { domains, remainingMs } = politeEnd(
    [domain('fast', 9_000, 1_000), domain('slow', 1_200, 10_000)],
    NOW,
  );
  expect(domains.map(({ domain }) => domain)).toEqual(['slow', 'fast']);
  expect(remainingMs).toBe(12_000_000);
});

test('a Retry-After is waited for first', () => {
  const blockedUntil = new Date(NOW.getTime() + HOUR_MS);
  expect(politeEnd([domain('a', 10, 1_000, { blockedUntil })], NOW).remainingMs).toBe(HOUR_MS + 10_000);
});

test('a paused domain has no end and comes last', () => {
  const { domains, remainingMs } = politeEnd(
    [domain('a', 9, 1_000, { paused: true }), domain('b', 1, 1_000)],
    NOW,
  );
  expect(domains.map(({ remainingMs }) => remainingMs)).toEqual([1_000, null]);
  expect(remainingMs).toBe(1_000);
});

describe('half the delay on the slowest domain', () => {
  test('saves half of its time', () => {
    expect(politeEnd([domain('a', 720, 10_000)], NOW).saving).toEqual({
      ...{ domain: 'a', fromMs: 10_000, toMs: 5_000, savedMs: HOUR_MS, next: 'a' },
    });
  });

  test('is shown for each of them, as far as its site allows it', () => {
    const { domains } = politeEnd(
      [
        domain('a', 10, 10_000),
        domain('b', 10, 8_000, { siteGapMs: 6_000 }),
        domain('c', 10, 5_000, { siteGapMs: 5_000 }),
        domain('d', 1, 1_000, { paused: true }),
      ],
      NOW,
    );
    expect(domains.map(({ atHalfMs }) => atHalfMs)).toEqual([50_000, 60_000, 50_000, null]);
  });

  test('saves no more than the next domain takes', () => {
    const { saving } = politeEnd([domain('a', 720, 10_000), domain('b', 600, 10_000)], NOW);
    expect(saving).toMatchObject({ savedMs: 1_200_000, next: 'b' });
  });

  test('saves nothing if the site itself asks for the gap', () => {
    expect(politeEnd([domain('a', 720, 10_000, { siteGapMs: 10_000 })], NOW).saving).toBeNull();
  });
});
