import { expect, test } from 'vitest';
import { endCrawl, findCrawl, openCrawl, readCrawl } from '../../src/storage/crawls.ts';
import { atOnce, giveOrder, plainSeed, SETTINGS, useDatabase } from './support.ts';

const db = useDatabase();

type Changes = Omit<Partial<Parameters<typeof openCrawl>[1]>, 'seeds'> & { seeds?: string[] };

const open = (id: string, { seeds = ['http://a.test/'], ...changes }: Changes = {}) =>
  openCrawl(db(), { id, seeds: seeds.map(plainSeed), settings: SETTINGS, unit: 'host', ...changes });

test('a crawl that is opened again keeps its settings and seeds', async () => {
  const opened = await open('once');
  expect(opened).toEqual({
    id: 'once',
    status: 'Running',
    seeds: ['http://a.test/'],
    settings: SETTINGS,
  });
  const again = await open('once', {
    seeds: ['http://b.test/'],
    settings: { ...SETTINGS, maxPages: 3 },
  });
  expect(again).toEqual(opened);
  expect(await db().page.count({ where: { crawlId: 'once' } })).toBe(1);
});

test('a crawl that is opened many times at once has its seeds once', async () => {
  await atOnce(10, () => open('raced', { seeds: ['http://a.test/', 'http://b.test/'] }));
  const pages = await db().page.findMany({ where: { crawlId: 'raced' } });
  expect(pages).toHaveLength(2);
  expect(pages).toMatchObject([
    { isSeed: true, depth: 0, status: 'Pending' },
    { isSeed: true, depth: 0, status: 'Pending' },
  ]);
});

test('with one gap per site, the hosts of a site are one domain', async () => {
  await open('by-site', { seeds: ['http://www.a.com/', 'http://blog.a.com/'], unit: 'site' });
  expect(await db().crawlDomain.findMany({ where: { crawlId: 'by-site' } })).toMatchObject([
    { domain: 'a.com' },
  ]);
});

test('a trailing dot in the host name does not put a seed out of scope', async () => {
  await open('dotted', { seeds: ['http://a.test./'] });
  const { scopeHosts } = await db().crawl.findUniqueOrThrow({ where: { id: 'dotted' } });
  expect(scopeHosts).toEqual(['a.test']);
});

test('a crawl ends once, with its first reason', async () => {
  await open('ended');
  await endCrawl(db(), 'ended', 'Completed', null);
  await endCrawl(db(), 'ended', 'Failed', 'too late');
  await giveOrder(db(), 'ended', 'cancel');
  const row = await db().crawl.findUniqueOrThrow({ where: { id: 'ended' } });
  expect(row).toMatchObject({ status: 'Completed', reason: null, finishedAt: expect.any(Date) });
});

test('an unknown crawl is distinguished from one that ended', async () => {
  expect(await findCrawl(db(), 'nobody')).toBeNull();
  await expect(readCrawl(db(), 'nobody')).rejects.toThrow('There is no crawl "nobody" in the database.');
});
