/** Lists that are read a part at a time. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { type Amble, startAmble } from '../support/amble.ts';
import { flatSite, startWeb, type TestWeb } from '../support/web.ts';
import { type Dashboard, openDashboard } from './support.ts';

/** More than a page of them, of which the last ones have ended. */
const CRAWLS = 55;

let amble: Amble;
let dashboard: Dashboard;
let web: TestWeb;

beforeAll(async () => {
  amble = await startAmble();
  dashboard = openDashboard(amble);
  web = await startWeb({ site: flatSite(1), more: flatSite(1) });
  await amble.crawl({ seeds: [web.url('site', '/'), web.url('more', '/')], ...web.network }, 'lists-real');
  const { settings } = await amble.db.crawl.findUniqueOrThrow({ where: { id: 'lists-real' } });
  // Two at a time, and half of them have ended.
  const at = (n: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, Math.floor(n / 2)));
  await amble.db.crawl.createMany({
    data: Array.from({ length: CRAWLS }, (_, n) => ({
      ...{ id: `lists-${n}`, seeds: [], settings: settings ?? {}, scopeHosts: [], createdAt: at(n) },
      ...(n % 4 < 2 && { status: 'Completed' as const, finishedAt: at(n) }),
    })),
  });
});
afterAll(async () => {
  await amble?.stop();
  await web?.stop();
});

const get = (path: string) => dashboard.get(`/api/v1${path}`);

test.each([
  ['crawls', 'id', 7],
  ['domains', 'domain', 1],
])('%s come in parts, each once', async (list, name, size) => {
  const Part = z.looseObject({ next: z.string().nullable() });
  const namesIn = (part: Record<string, unknown>) =>
    z
      .array(z.record(z.string(), z.unknown()))
      .parse(part[list])
      .map((one) => one[name]);
  const all = namesIn(Part.parse(await (await get(`/${list}?limit=200`)).json()));
  const found: unknown[] = [];
  for (let next: string | null = ''; next !== null; ) {
    const after: string = next === '' ? '' : `&after=${encodeURIComponent(next)}`;
    const part = Part.parse(await (await get(`/${list}?limit=${size}${after}`)).json());
    found.push(...namesIn(part));
    next = part.next;
  }
  expect(all.length).toBeGreaterThan(1);
  expect(found).toEqual(all);
});

test('a part of a name means the characters themselves', async () => {
  expect(await (await get('/domains?find=_')).json()).toMatchObject({ domains: [] });
  const { domains } = z
    .object({ domains: z.array(z.unknown()) })
    .parse(await (await get(`/domains?find=${web.name('site')}`)).json());
  expect(domains).toHaveLength(1);
});

test('Now links to the crawls that it has no room for', async () => {
  const Now = z.object({ crawls: z.array(z.object({ id: z.string() })), next: z.string().nullable() });
  const first = Now.parse(await (await dashboard.get('/now.json')).json());
  expect(first.crawls).toHaveLength(50);
  const [, link = ''] =
    /<a href="(\/now\?after=[^"]+)">More crawls/.exec(await (await dashboard.get('/now')).text()) ?? [];
  const second = Now.parse(await (await dashboard.get(link.replace('/now', '/now.json'))).json());
  expect(second.next).toBeNull();
  const ids = [...first.crawls, ...second.crawls].map(({ id }) => id);
  expect(new Set(ids).size).toBe(CRAWLS + 1);
});
