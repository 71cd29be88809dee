/** URLs are excluded from a crawl while it runs. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { excludePattern, parsePattern } from '../../src/operator/exclude-orders.ts';
import { type Amble, startAmble } from '../support/amble.ts';
import { links, startWeb, type TestWeb } from '../support/web.ts';

const ANNA = { channel: 'api', by: 'Anna', reason: 'an endless calendar' } as const;
const DAYS = 30;
const WINDOW = 4;

let amble: Amble;
let web: TestWeb;
beforeAll(async () => {
  amble = await startAmble({ tuning: { crawl: { window: WINDOW } } });
  const days = Array.from({ length: DAYS }, (_, day) => `/calendar/${day}`);
  web = await startWeb({
    site: (path) => {
      if (path === '/') return { body: links(...days, '/about') };
      return path === '/robots.txt' ? undefined : { body: links('/calendar/next', '/contact') };
    },
  });
});
afterAll(async () => {
  await amble?.stop();
  await web?.stop();
});

it('excluded pages are not requested any more, and all others are', async () => {
  const crawl = await amble.start({ seeds: [web.url('site')], ...web.network, delay: '300ms' });
  const crawlId = crawl.workflowId;
  const calendar = () => web.arrivals.filter(({ path }) => path.startsWith('/calendar/')).length;
  await expect.poll(calendar, { timeout: 20_000 }).toBeGreaterThan(0);
  const rejected = await excludePattern(amble, crawlId, parsePattern('/calendar/*'), ANNA);
  // As many as are in progress may be about to be sent: a fetch begins a second before its slot.
  const atMost = calendar() + WINDOW;
  expect(rejected).toBeGreaterThan(DAYS / 2);
  const { pages, found } = await crawl.result();
  expect(calendar()).toBeLessThanOrEqual(atMost);
  expect(Object.keys(pages).sort()).toEqual(['Fetched', 'Rejected']);
  expect(pages.Fetched + pages.Rejected).toBe(found);
  expect(web.arrivalsAt('site', '/about')).toHaveLength(1);
  expect(web.arrivalsAt('site', '/contact')).toHaveLength(1);
});

it.each(['calendar', '', 'ftp://a/*', '/a\0', `/${'x'.repeat(2_000)}`])(
  'refuses %j as a pattern',
  (typed) => {
    expect(() => parsePattern(typed)).toThrow(/^Invalid pattern ".*": give a path such as /);
  },
);
