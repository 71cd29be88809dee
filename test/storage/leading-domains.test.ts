/** Which domains set the end of a crawl, and what that changes. */
import { expect, test } from 'vitest';
import { foldChanges } from '../../src/storage/counts.ts';
import { readLeadingDomains } from '../../src/storage/frontier/leading-domains.ts';
import { admitDue } from '../../src/storage/frontier/sweep.ts';
import { numbered, startCrawl, useDatabase } from './support.ts';

const db = useDatabase();
const DELAY_MS = 1_000;

test.each(['before', 'after'])(
  'the domain with the most open pages leads, %s the counts are brought up to date',
  async (when) => {
    const crawl = await startCrawl(db());
    await crawl.add(
      ...numbered(20, 'small.test'),
      ...numbered(60, 'z-large.test'),
      ...numbered(15, 'tiny.test'),
    );
    if (when === 'after') await foldChanges(db(), crawl.id);
    expect(await readLeadingDomains(db(), crawl.id, DELAY_MS)).toEqual(new Set(['z-large.test']));
  },
);

test('a small domain with a long gap leads', async () => {
  const crawl = await startCrawl(db());
  await crawl.add(...numbered(10, 'slow.test'), ...numbered(60, 'quick.test'));
  await db().domain.create({ data: { name: 'slow.test', minGapMs: 20_000 } });
  expect(await readLeadingDomains(db(), crawl.id, DELAY_MS)).toEqual(new Set(['slow.test']));
});

test('no domain leads if many have about as much left', async () => {
  const crawl = await startCrawl(db());
  for (const host of ['a', 'b', 'c', 'd', 'e']) await crawl.add(...numbered(10, `${host}.test`));
  expect(await readLeadingDomains(db(), crawl.id, DELAY_MS)).toEqual(new Set());
});

test('no domain leads once all pages are final', async () => {
  const crawl = await startCrawl(db());
  await crawl.add(...numbered(1));
  const [page] = await crawl.admit();
  await crawl.record(page);
  expect(await readLeadingDomains(db(), crawl.id, DELAY_MS)).toEqual(new Set());
});

test('an admission of few pages begins with the domains that lead', async () => {
  const crawl = await startCrawl(db(), { window: 1 });
  await crawl.add(...numbered(2, 'a.test'), ...numbered(9, 'z.test'), ...numbered(5, 'm.test'));
  const first = await readLeadingDomains(db(), crawl.id, DELAY_MS);
  const admitted = await admitDue(db(), crawl.id, crawl.settings, 'sweep', { maxAdmitted: 3, first });
  expect(admitted.map(({ domain }) => domain).toSorted()).toEqual(['a.test', 'm.test', 'z.test']);
  await crawl.record(admitted.find(({ domain }) => domain === 'a.test'));
  await crawl.record(admitted.find(({ domain }) => domain === 'z.test'));
  const next = await admitDue(db(), crawl.id, crawl.settings, 'next sweep', { maxAdmitted: 1, first });
  expect(next.map(({ domain }) => domain)).toEqual(['z.test']);
});
