/** The statements that the steps of a page send. Each costs a round trip, and CPU in the worker and in Postgres. */
import { beforeEach, expect, test } from 'vitest';
import { readFetchContext } from '../../src/storage/pages/fetch-context.ts';
import { linksTo, numbered, startCrawl, type TestCrawl, useDatabase } from './support.ts';

const sent: string[] = [];
const db = useDatabase(({ text }) => sent.push(firstWord(text)));

const firstWord = (text: string): string => /\w+/.exec(text)?.[0] ?? '';

async function statementsOf(act: () => Promise<unknown>): Promise<string[]> {
  sent.length = 0;
  await act();
  return [...sent];
}

const RECORD = ['BEGIN', 'SELECT', 'WITH', 'WITH', 'COMMIT'];
const FIND_ROOM = ['SELECT'];
const ADMIT = ['SELECT', 'WITH'];
const FILL = ['BEGIN', ...ADMIT, 'COMMIT'];
const READ_ADMITTED = ['SELECT'];

const limits = { maxPathDepth: 20, maxPerDirectory: 1_000, maxHostsPerSite: 10, maxPortsPerHost: 3 };
const traps = { maxRepeats: 3, maxPerQuery: 100, maxPerCalendar: 100, ...limits };

let crawl: TestCrawl;
beforeEach(async () => {
  crawl = await startCrawl(db(), { seeds: ['http://a.test/'], window: 4, traps });
});

/** A crawl that knows 20 pages, of which 4 are queued. */
async function withQueuedPages() {
  const [seed] = await crawl.admit();
  await crawl.record(seed, { parsed: linksTo(...numbered(20)) });
  return crawl.admit(crawl.id);
}

const knownLinks = { parsed: linksTo('http://a.test/', ...numbered(20)) };

test('what a fetch has to know is one statement', async () => {
  const reader = { domain: 'a.test', agent: 'Amble' };
  const [page] = await crawl.admit();
  const context = { crawlId: crawl.id, pageId: page?.pageId ?? '', url: 'http://a.test/', reader };
  const read = () => readFetchContext(db(), context);
  expect(await statementsOf(read)).toEqual(['SELECT']);
});

test('a page that links to known pages is recorded with five statements', async () => {
  const [page] = await withQueuedPages();
  expect(await statementsOf(() => crawl.record(page, knownLinks))).toEqual(RECORD);
});

test('new pages cost two statements more: to count and to insert them', async () => {
  const [page] = await withQueuedPages();
  const record = () => crawl.record(page, { parsed: linksTo(...numbered(30)) });
  expect(await statementsOf(record)).toHaveLength(RECORD.length + 2);
});

test('a window is refilled with two statements more, if nothing else is to be admitted', async () => {
  const [first, second, third] = await withQueuedPages();
  const refill = { admissionId: 'refill', plan: () => ({ refillAt: 2, size: 3 }) };
  expect(await statementsOf(() => crawl.record(first, { ...knownLinks, refill }))).toEqual([
    ...RECORD.slice(0, -1),
    'COMMIT',
  ]);
  const [begin, lock, ...rest] = RECORD;
  expect(await statementsOf(() => crawl.record(second, { ...knownLinks, refill }))).toEqual([
    begin,
    lock,
    ...rest.slice(0, -1),
    ...ADMIT,
    'COMMIT',
  ]);
  expect(third).toBeDefined();
});

test('a crawl with a budget does not look for room either while its window is full', async () => {
  crawl = await startCrawl(db(), { seeds: ['http://a.test/'], window: 4, traps, maxPages: 100 });
  const [first] = await withQueuedPages();
  const refill = { admissionId: 'refill', plan: () => ({ refillAt: 2, size: 3 }) };
  expect((await crawl.record(first, { ...knownLinks, refill })).refilled).toEqual([]);
});

test('an admission without room is one statement, and with room in a domain it is five', async () => {
  const [first, second] = await withQueuedPages();
  await crawl.record(first, knownLinks);
  expect(await statementsOf(() => crawl.admit(undefined, ['a.test']))).toEqual(FIND_ROOM);
  await crawl.record(second, knownLinks);
  expect(await statementsOf(() => crawl.admit(undefined, ['a.test']))).toEqual([...FIND_ROOM, ...FILL]);
});

test('a budget costs an admission one statement more', async () => {
  crawl = await startCrawl(db(), { window: 4, maxPages: 100 });
  await crawl.add(...numbered(20));
  const [begin, lock, ...rest] = FILL;
  const admitTwo = () => crawl.admit(undefined, ['a.test'], 2);
  expect(await statementsOf(admitTwo)).toEqual([...FIND_ROOM, begin, lock, 'WITH', ...rest]);
});

test('a repeated admission without room reads what it admitted before', async () => {
  await withQueuedPages();
  expect(await statementsOf(() => crawl.admit(crawl.id, ['a.test']))).toEqual([
    ...FIND_ROOM,
    ...READ_ADMITTED,
  ]);
});
