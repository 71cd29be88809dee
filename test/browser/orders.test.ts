/** The buttons of the dashboard in a real browser, and what each does to the requests that sites get. */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { VIEWS } from '../../src/server/views/index.ts';
import { shortGapsOnArrival } from '../support/gaps.ts';
import { flatSite, links, type Site } from '../support/web.ts';
import { type BrowserTest, startBrowserTest } from './support.ts';
import { DESKTOP, PHONE, seriousViolations } from './visit.ts';

/** Between two requests to the site that most tests are about. */
const GAP_MS = 300;
/** As a site sees it: so many gaps without a request. */
const SILENCE_MS = 8 * GAP_MS;
const LONG_GAP_MS = 1_500;
const NO_SCRIPTS = { ...PHONE, javaScriptEnabled: false };

let run: BrowserTest;

/** One of its pages has failed. */
const faulty: Site = (path) => {
  if (path === '/') return { body: links('/1', '/missing') };
  return path === '/1' ? { body: 'a page' } : undefined;
};

beforeAll(async () => {
  run = await startBrowserTest({ site: flatSite(1_000), faulty, other: flatSite(50) });
  const { amble, web } = run;
  await amble.crawl({ seeds: [web.url('faulty', '/')], ...web.network }, 'orders-faulty');
  const delay = `${GAP_MS}ms`;
  await amble.start({ seeds: [web.url('site', '/')], ...web.network, delay }, 'orders-slow');
  await vi.waitUntil(() => web.arrivalsAt('site').length > 2, { timeout: 20_000 });
});
afterAll(() => run?.stop());

async function expectRequests(host = 'site'): Promise<void> {
  const before = run.web.arrivalsAt(host).length;
  const since = () => run.web.arrivalsAt(host).length - before;
  await expect.poll(since, { timeout: 20_000 }).toBeGreaterThan(2);
}

/** One that had passed the gate before the order may still arrive. */
async function expectNoRequests(host = 'site'): Promise<void> {
  const ordered = performance.timeOrigin + performance.now();
  const silentMs = () => {
    const last = run.web.arrivalsAt(host).at(-1)?.atMs ?? 0;
    return performance.timeOrigin + performance.now() - Math.max(last, ordered);
  };
  await expect.poll(silentMs, { timeout: 20_000 }).toBeGreaterThan(SILENCE_MS);
}

async function pressAndWaitFor(page: Page, button: string, next: string): Promise<void> {
  await page.getByRole('button', { name: button }).click();
  await page.getByRole('button', { name: next }).waitFor();
}

const statusOf = async (id: string) => (await run.amble.db.crawl.findUnique({ where: { id } }))?.status;

test.each([
  ['in the list', '/now', DESKTOP],
  ['in the list without JavaScript', '/now', NO_SCRIPTS],
  ['on its own page', '/crawls/orders-slow', PHONE],
])(
  'a crawl sends no requests once it is paused %s, and goes on once it is resumed',
  async (_, path, options) => {
    await run.open(path, options, async (page) => {
      // In lists, the field is behind a button.
      const more = page.getByLabel('Give a reason: Pause orders-slow');
      if ((await more.count()) > 0) await more.click();
      await page.getByRole('textbox', { name: 'Reason: Pause orders-slow' }).fill('a test');
      await pressAndWaitFor(page, 'Pause orders-slow', 'Resume orders-slow');
      expect(await statusOf('orders-slow')).toBe('Paused');
      expect(await page.getByText('Paused by an operator (dashboard): a test.').count()).toBe(1);
      await expectNoRequests();
      await pressAndWaitFor(page, 'Resume orders-slow', 'Pause orders-slow');
      expect(await statusOf('orders-slow')).toBe('Running');
      await expectRequests();
    });
  },
);

test.each([
  ['in the list', () => '/domains', DESKTOP],
  ['on its own page', () => `/domains/${run.web.name('site')}`, DESKTOP],
  ['on its own page without JavaScript', () => `/domains/${run.web.name('site')}`, NO_SCRIPTS],
])('a domain gets no requests once it is paused %s, and gets them again', async (_, path, options) => {
  const domain = run.web.name('site');
  await run.open(path(), options, async (page) => {
    await pressAndWaitFor(page, `Pause ${domain}`, `Resume ${domain}`);
    expect((await run.amble.db.domain.findUnique({ where: { name: domain } }))?.paused).toBe(true);
    await expectNoRequests();
    await pressAndWaitFor(page, `Resume ${domain}`, `Pause ${domain}`);
    await expectRequests();
  });
});

test.each([
  ['with JavaScript', PHONE],
  ['without JavaScript', NO_SCRIPTS],
])('a domain is slowed down by its buttons %s, and reset', async (_, options) => {
  const domain = run.web.name('site');
  await run.open(`/domains/${domain}`, options, async (page) => {
    await page.locator('#delay summary').click();
    await page.getByRole('textbox', { name: `Delay of ${domain};` }).fill(`${LONG_GAP_MS}ms`);
    await page.getByLabel(`Reason: Set delay of ${domain}`).fill('asked by its owner');
    await page.getByRole('button', { name: `Set delay of ${domain}` }).click();
    await page.getByText('1.5 s (the delay set for the domain)').waitFor();
    const before = run.web.arrivalsAt('site').length;
    await expectRequests();
    const slowed = run.web.arrivalsAt('site').slice(before);
    expect(shortGapsOnArrival(slowed, () => LONG_GAP_MS)).toEqual([]);
    await page.locator('#reset summary').click();
    await page.getByRole('button', { name: `Forget delay, backoff and statistics of ${domain}` }).click();
    const delayOf = async () =>
      (await run.amble.db.domain.findUnique({ where: { name: domain } }))?.delayMaxMs;
    await expect.poll(delayOf).toBeNull();
    await page.getByText('(the delay set for the domain)').waitFor({ state: 'detached' });
    await expectRequests();
  });
  const order = await run.amble.db.order.findFirst({ where: { domain, kind: 'delay' } });
  expect(order).toMatchObject({ channel: 'dashboard', reason: 'asked by its owner' });
});

test('failed pages are requested again by their cause, and its orders lead to how far they are', async () => {
  const requests = () => run.web.arrivalsAt('faulty', '/missing').length;
  const before = requests();
  await run.open('/crawls/orders-faulty', DESKTOP, async (page) => {
    await page.getByRole('row', { name: 'status 404' }).getByText('Retry these').click();
    await page.waitForURL('**/retry?cause=status%2F404');
    await page.getByRole('button', { name: 'Retry these 1 of orders-faulty' }).click();
    await page.getByText('1 of 1 retried page').waitFor({ timeout: 20_000 });
    expect(await seriousViolations(page)).toEqual([]);
    for (const path of ['crawls/orders-faulty', 'orders?crawl=orders-faulty']) {
      await page.goto(run.server.url + path);
      await page.getByRole('link', { name: 'How far they are' }).click();
      await page.getByText('1 of 1 retried page').waitFor();
    }
  });
  expect(requests()).toBe(before + 1);
});

test('URLs are excluded after a preview, and are not requested any more', async () => {
  await run.open('/crawls/orders-slow/exclude', NO_SCRIPTS, async (page) => {
    await page.getByLabel('Pattern').fill('/9*');
    await page.getByRole('button', { name: 'Preview' }).click();
    await page.getByText(/^Removes \d+ of \d+ pending pages$/).waitFor();
  });
  await run.open('/crawls/orders-slow/exclude?pattern=/9*', PHONE, async (page) => {
    expect(await seriousViolations(page)).toEqual([]);
    await page.getByRole('button', { name: 'Exclude /9* from orders-slow' }).click();
    await page.waitForURL('**/crawls/orders-slow*');
    await page.getByText(/\/9\* excluded, \d+ pending pages rejected/).waitFor();
  });
  const { db } = run.amble;
  const found = { crawlId: 'orders-slow', url: { startsWith: run.web.url('site', '/9') } };
  expect(await db.page.count({ where: { ...found, status: 'Rejected' } })).toBeGreaterThan(100);
  expect(await db.page.count({ where: { ...found, status: 'Pending' } })).toBe(0);
});

test('a crawl is started by the form, which shows the same command, and cancelled with a reason', async () => {
  await run.open('/start', DESKTOP, async (page) => {
    await page.getByLabel('URLs to start from').fill(run.web.url('other', '/'));
    await page.getByLabel('Name').fill('orders-started');
    await page.getByLabel('Preset').selectOption('broad');
    await page.getByLabel('Delay').fill('300ms');
    await page.getByRole('button', { name: 'Show the command' }).click();
    const options = '--id orders-started --preset broad --delay 300ms';
    await page.getByText(`amble crawl ${run.web.url('other', '/')} ${options}`).waitFor();
    await page.getByRole('button', { name: 'Start' }).click();
    await page.waitForURL('**/crawls/orders-started');
    await expectRequests('other');
    await page.reload();
    await page.locator('#cancel summary').click();
    await page.getByLabel('Reason: Cancel crawl orders-started').fill('a test');
    await page.getByRole('button', { name: 'Cancel crawl orders-started' }).click();
    await page.getByText('Cancelled', { exact: true }).waitFor({ timeout: 40_000 });
  });
  await expectNoRequests('other');
  const where = { crawlId: 'orders-started', kind: 'cancel' } as const;
  expect(await run.amble.db.order.findFirst({ where })).toMatchObject({
    channel: 'dashboard',
    reason: 'a test',
  });
});

test('everything is stopped with a reason, every page says so, and it is lifted again', async () => {
  const reason = 'the network is being repaired';
  await run.open('/now', DESKTOP, async (page) => {
    await page.getByText('Stop everything').click();
    await page.getByLabel('Reason: Stop all crawls and domains').fill(reason);
    await page.getByRole('button', { name: 'Stop all crawls and domains' }).click();
    await page.getByRole('alert').getByText('Everything is stopped').waitFor();
    // The crawl says the same as the banner.
    await page.getByText('Everything is stopped by an operator (dashboard): the network').nth(1).waitFor();
    await expectNoRequests();
    for (const { path, isPublic } of VIEWS) {
      const address = path.replace(':crawl', 'orders-slow').replace(':domain', run.web.name('site'));
      await page.goto(`${run.server.url.slice(0, -1)}${address}`);
      expect(await page.getByText(reason).count(), path).toBeGreaterThanOrEqual(isPublic ? 0 : 1);
      expect(await page.getByRole('button', { name: 'Lift the stop' }).count(), path).toBe(isPublic ? 0 : 1);
    }
  });
  await run.open('/domains', NO_SCRIPTS, async (page) => {
    expect(await page.getByRole('alert').first().textContent()).toContain(reason);
    await page.getByLabel('Reason: Lift the stop').fill('it works again');
    await page.getByRole('button', { name: 'Lift the stop' }).click();
    await page.waitForURL('**/now');
    expect(await page.getByText('Everything is stopped').count()).toBe(0);
    await expectRequests();
  });
});
