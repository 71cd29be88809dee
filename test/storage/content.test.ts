import { expect, test } from 'vitest';
import type { AttemptReport } from '../../src/core/attempt.ts';
import { exportPages } from '../../src/storage/reports/export.ts';
import { inARace, numbered, startCrawl, success, useDatabase } from './support.ts';

const db = useDatabase();

function content(contentHash: string): AttemptReport {
  const found = {
    kind: 'document',
    contentHash,
    contentType: 'text/html; charset=utf-8',
    bytes: 10,
    etag: null,
    lastModified: null,
    contentLanguage: null,
    directives: { noindex: false, nofollow: false },
  } as const;
  return { ...success(), found };
}

test('of two pages with the same content, the later one refers to the first', async () => {
  const crawl = await startCrawl(db());
  for (const [path, hash] of [
    ['first', 'aa'],
    ['other', 'bb'],
    ['second', 'aa'],
    ['third', 'aa'],
  ]) {
    await crawl.record(await crawl.admitted(`http://a.test/${path}`), { report: content(hash ?? '') });
  }
  const duplicates: Record<string, string | null> = {};
  for await (const page of exportPages(db(), crawl.id)) duplicates[page.url] = page.duplicate_of;
  expect(duplicates).toEqual({
    'http://a.test/first': null,
    'http://a.test/other': null,
    'http://a.test/second': 'http://a.test/first',
    'http://a.test/third': 'http://a.test/first',
  });
});

test('the same content in another crawl is not a duplicate', async () => {
  for (const crawl of [await startCrawl(db()), await startCrawl(db())]) {
    await crawl.record(await crawl.admitted('http://a.test/'), { report: content('cc') });
    expect(await crawl.page('http://a.test/')).toMatchObject({ duplicateOfId: null });
  }
});

test('of pages with the same content recorded at the same moment, exactly one is the original', async () => {
  const crawl = await startCrawl(db(), { seeds: numbered(20) });
  const pages = await crawl.admit();
  await inARace(db(), 20, (n) => crawl.record(pages[n], { report: content('dd') }));
  const rows = await crawl.pages();
  const originals = rows.filter((row) => row.duplicateOfId === null);
  expect(originals).toHaveLength(1);
  const duplicates = rows.filter((row) => row.duplicateOfId === originals[0]?.id);
  expect(duplicates).toHaveLength(19);
  expect(await crawl.statuses()).toEqual({ Fetched: 20 });
});

test('the content of a file is recorded like that of a document', async () => {
  const crawl = await startCrawl(db());
  const report = content('ee');
  const found = { ...report.found, kind: 'file', contentType: 'application/pdf' } as AttemptReport['found'];
  await crawl.record(await crawl.admitted('http://a.test/x.pdf'), { report: { ...report, found } });
  expect(await crawl.page('http://a.test/x.pdf')).toMatchObject({
    status: 'Fetched',
    contentHash: 'ee',
    contentType: 'application/pdf',
  });
});
