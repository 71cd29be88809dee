import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { normaliseUrl } from '../../src/urls/index.ts';
import { isCrawlId, pageWorkflowId, throttleId } from '../../workflows/ids.ts';

/** Temporal's column for ids on Postgres. */
const MAX_ID_BYTES = 255;

/** A host name of this length. */
function hostOf(length: number): string {
  return `${'abc.'
    .repeat(70)
    .slice(0, length - 'x.test'.length)
    .replace(/\.$/, 'd')}x.test`;
}

test.each([
  ['example.org-2026', true],
  ['json', true],
  ['data.json', false],
  ['-x', false],
  ['', false],
])('%j may be the id of a crawl: %s', (id, may) => {
  expect(isCrawlId(id)).toBe(may);
});

describe('the id of a throttle', () => {
  test('names its domain', () => {
    expect(throttleId('example.org')).toBe('throttle:example.org');
  });

  test.each([245, 246, 247, 253])('fits into its column for a domain of %i characters', (length) => {
    const domain = hostOf(length);
    expect(domain).toHaveLength(length);
    expect(Buffer.byteLength(throttleId(domain))).toBeLessThanOrEqual(MAX_ID_BYTES);
  });

  test('is its own for every domain, however long', () => {
    const long = hostOf(250);
    const ids = [long, `y${long.slice(1)}`, `${long.slice(0, -1)}u`, hostOf(240)].map(throttleId);
    expect(new Set(ids).size).toBe(4);
  });
});

test.each([
  'http://x.test/a',
  `http://${hostOf(253)}/`,
  `http://x.test/${'🕸ü\u0000'.repeat(40)}?q=${'ü'.repeat(100)}`,
])('the id of a page fits into its column, with the longest name of a crawl (%#)', (raw) => {
  const normalised = normaliseUrl(raw);
  if (!normalised.ok) throw new Error(normalised.reason);
  const { url } = normalised;
  const urlHash = createHash('sha256').update(url).digest('hex');
  const id = pageWorkflowId('c'.repeat(100), { url, urlHash });
  expect(id).toMatch(/^[\x21-\x7e]+$/);
  expect(Buffer.byteLength(id)).toBeLessThanOrEqual(MAX_ID_BYTES);
});
