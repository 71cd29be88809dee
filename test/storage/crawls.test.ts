import { expect, test } from 'vitest';
import { BadInput } from '../../src/core/bad-input.ts';
import { crawlStatus, endCrawl, findCrawl, openCrawl, readCrawl } from '../../src/storage/crawls.ts';
import { startCancelling } from '../../src/storage/frontier/cancel.ts';
import { atOnce, plainSeed, SETTINGS, useDatabase } from './support.ts';

const db = useDatabase();

type Changes = Omit<Partial<Parameters<typeof openCrawl>[1]>, 'seeds'> & { seeds?: string[] };

const open = (id: string, { seeds = ['http://a.test/'], ...changes }: Changes = {}) =>
  openCrawl(db(), { id, seeds: seeds.map(plainSeed), settings: SETTINGS, keyedBy: 'host', ...changes });

test('a crawl is opened once: taken up again it keeps the settings and seeds it began with', async () => {
  const opened = await open('once');
  expect(opened).toEqual({
    id: 'once',
    status: 'Running',
    seeds: ['http://a.test/'],
    settings: SETTINGS,
    keyedBy: 'host',
  });
  const again = await open('once', {
    seeds: ['http://b.test/'],
    settings: { ...SETTINGS, maxPages: 3 },
  });
  expect(again).toEqual(opened);
  expect(await db().page.count({ where: { crawlId: 'once' } })).toBe(1);
});

test('opened many times at once it has its seeds once', async () => {
  await atOnce(10, () => open('raced', { seeds: ['http://a.test/', 'http://b.test/'] }));
  const pages = await db().page.findMany({ where: { crawlId: 'raced' } });
  expect(pages).toHaveLength(2);
  expect(pages).toMatchObject([
    { seed: true, depth: 0, status: 'Pending' },
    { seed: true, depth: 0, status: 'Pending' },
  ]);
});

test('two politeness keys at a time would be two gaps for one server: the second is refused until the first is over', async () => {
  await db().$executeRaw`UPDATE crawls SET finished_at = now()`;
  const atTheSameTime = await Promise.allSettled([
    open('by-host', { keyedBy: 'host' }),
    open('by-site', { keyedBy: 'site' }),
  ]);
  const refusals = atTheSameTime.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []));
  expect(refusals).toEqual([expect.any(BadInput)]);
  expect(String(refusals[0])).toMatch(
    /set to one gap per (host|site), but the crawl "by-\w+", which is not over, keeps one per (host|site)/,
  );
  const [{ id, keyedBy } = { id: '', keyedBy: null }] = await db().crawl.findMany({
    where: { id: { in: ['by-host', 'by-site'] } },
  });
  const another = keyedBy === 'host' ? 'site' : 'host';
  await expect(open('another', { keyedBy: another })).rejects.toThrow('a server with two would be asked');
  await endCrawl(db(), id, 'Completed', null);
  expect(await open('another', { keyedBy: another })).toMatchObject({ keyedBy: another });
  await endCrawl(db(), 'another', 'Completed', null);
});

test('politeness keyed by site puts the hosts of a site under one domain', async () => {
  await db().$executeRaw`UPDATE crawls SET finished_at = now()`;
  await open('keyed', { seeds: ['http://www.a.com/', 'http://blog.a.com/'], keyedBy: 'site' });
  expect(await db().crawlDomain.findMany({ where: { crawlId: 'keyed' } })).toMatchObject([
    { domain: 'a.com' },
  ]);
  await endCrawl(db(), 'keyed', 'Completed', null);
});

test("a root's dot does not put a seed outside its own scope", async () => {
  await open('dotted', { seeds: ['http://a.test./'] });
  const { scopeHosts } = await db().crawl.findUniqueOrThrow({ where: { id: 'dotted' } });
  expect(scopeHosts).toEqual(['a.test']);
});

test('a crawl ends once, with its first reason', async () => {
  await open('ended');
  await endCrawl(db(), 'ended', 'Completed', null);
  await endCrawl(db(), 'ended', 'Failed', 'too late');
  await startCancelling(db(), 'ended');
  expect(await crawlStatus(db(), 'ended')).toBe('Completed');
  const row = await db().crawl.findUniqueOrThrow({ where: { id: 'ended' } });
  expect(row).toMatchObject({ reason: null, finishedAt: expect.any(Date) });
});

test('a crawl nobody knows is told apart from one that ended', async () => {
  expect(await crawlStatus(db(), 'nobody')).toBe('unknown');
  expect(await findCrawl(db(), 'nobody')).toBeNull();
  await expect(readCrawl(db(), 'nobody')).rejects.toThrow('There is no crawl "nobody" in the database.');
});
