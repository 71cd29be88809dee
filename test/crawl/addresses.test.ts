/** Many host names on one address: anybody with wildcard DNS can point names at somebody else's server. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Amble, startAmble } from '../support/amble.ts';
import { expectPolite } from '../support/expect-polite.ts';
import { flatSite, type Site, startWeb, type TestWeb } from '../support/web.ts';

const GAP_MS = 200;
/** Between the dispatch of a request and its arrival at the server, on a busy machine. */
const JITTER_MS = 40;
const NAMES = Array.from({ length: 6 }, (_, n) => `name${n}`);

let amble: Amble;
let web: TestWeb;
/** At an address that is not exempt. */
let turns = 0;

beforeAll(async () => {
  amble = await startAmble(
    { address: { gap: `${GAP_MS}ms`, maxOpen: 3, exempt: [] } },
    undefined,
    undefined,
    (deps) => {
      const { addresses } = deps;
      const takeTurn = addresses.takeTurn.bind(addresses);
      addresses.takeTurn = async (...args) => {
        const isTurn = await takeTurn(...args);
        if (isTurn) turns += 1;
        return isTurn;
      };
      return deps;
    },
  );
  const site = flatSite(2, (path) => (path === '/2' ? { body: 'slow', afterMs: 1_500 } : undefined));
  web = await startWeb(Object.fromEntries(NAMES.map((name): [string, Site] => [name, site])));
});
afterAll(async () => {
  await amble?.stop();
  await web?.stop();
});

describe('six host names on one address', () => {
  it('share its gap and its places over two crawls, and every page is fetched', async () => {
    const crawls = [NAMES.slice(0, 3), NAMES.slice(3)].map((names) =>
      amble.crawl({ seeds: names.map((name) => web.url(name)), ...web.network, delay: '50ms' }),
    );
    for (const { pages } of await Promise.all(crawls)) expect(pages).toEqual({ Fetched: 9 });

    const arrivals = web.arrivals.map(({ atMs }) => atMs).sort((one, other) => one - other);
    expect(arrivals).toHaveLength(6 * 4);
    const gaps = arrivals.slice(1).map((at, i) => at - (arrivals[i] ?? 0));
    expect(Math.min(...gaps)).toBeGreaterThan(GAP_MS - JITTER_MS);

    const requests = await amble.db.request.findMany();
    expect(new Set(requests.map(({ address }) => address))).toEqual(new Set(['127.0.0.1']));
    expect(
      requests.every(({ addressGapMs, addressMaxOpen }) => addressGapMs === GAP_MS && addressMaxOpen === 3),
    ).toBe(true);
    await expectPolite(amble.db);
  });

  it('leave no place taken', async () => {
    const open = async () => (await amble.db.addressBlock.findFirstOrThrow()).openRequests;
    await expect.poll(open, { timeout: 10_000 }).toEqual({});
  });
});

it('every request takes a turn at its address, also for a robots.txt that is redirected, and for a sitemap', async () => {
  const before = turns;
  const text = (body: string) => ({ body, headers: { 'content-type': 'text/plain' } });
  const other = await startWeb({
    moved: (path) =>
      ({
        '/robots.txt': { status: 302, headers: { location: other.url('target', '/robots.txt') } },
        '/sitemap.xml': text(other.url('moved', '/listed')),
        '/': { body: 'front page' },
        '/listed': { body: 'listed' },
      })[path],
    target: () => text(`Sitemap: ${other.url('moved', '/sitemap.xml')}`),
  });
  try {
    const { pages } = await amble.crawl({ seeds: [other.url('moved')], ...other.network, sitemaps: true });
    expect(pages).toMatchObject({ Fetched: expect.any(Number) });
    const asked = other.arrivals.map(({ host, path }) => host + path);
    expect(asked).toEqual(
      expect.arrayContaining([
        'moved/robots.txt',
        'target/robots.txt',
        'moved/sitemap.xml',
        'moved/',
        'moved/listed',
      ]),
    );
    expect(turns - before).toBe(asked.length);
  } finally {
    await other.stop();
  }
});
