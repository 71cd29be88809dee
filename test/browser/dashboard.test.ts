/** The dashboard in a real browser, on real crawls. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type RunningServer, startServer } from '../../src/server/listen.ts';
import { createServices } from '../../src/server/services.ts';
import { VIEWS } from '../../src/server/views/index.ts';
import { type Amble, startAmble } from '../support/amble.ts';
import { flatSite, startWeb, type TestWeb } from '../support/web.ts';
import { type RunningBrowser, startBrowser } from './chromium.ts';
import { HOSTILE_PATH, hostileSite } from './hostile-site.ts';
import { DESKTOP, overflow, PHONE, seriousViolations, visit } from './visit.ts';

let amble: Amble;
let web: TestWeb;
let server: RunningServer;
let chromium: RunningBrowser;

beforeAll(async () => {
  web = await startWeb({ site: flatSite(300), hostile: hostileSite, other: flatSite(50) });
  // The form to start a crawl has no fields for the network.
  [amble, chromium] = await Promise.all([startAmble({ ...web.network }), startBrowser()]);
  const { config, db, client } = amble;
  const services = createServices({ config, db, client, temporalUi: null });
  server = await startServer(services, { host: 'localhost', port: 0 }, (line) => {
    throw new Error(line);
  });
  await amble.crawl({ seeds: [web.url('hostile', '/')], ...web.network }, 'browser-hostile');
  await amble.start({ seeds: [web.url('site', '/')], ...web.network, delay: '500ms' }, 'browser-slow');
});
afterAll(async () => {
  await chromium?.stop();
  await server?.stop();
  await amble?.stop();
  await web?.stop();
});

function open<T>(path: string, options: typeof DESKTOP, act: Parameters<typeof visit<T>>[4]): Promise<T> {
  return visit(chromium.browser, server.url, path, options, act);
}

/** A view's address, filled in with what the crawls have. */
function addressOf(path: string): string {
  const filled = path.replace(':crawl', 'browser-hostile').replace(':domain', web.name('hostile'));
  return path === '/page' ? `/page?url=${encodeURIComponent(web.url('hostile', HOSTILE_PATH))}` : filled;
}

const SCREENS = { 'a desktop': DESKTOP, 'a phone': PHONE };

test.each(
  VIEWS.flatMap(({ path }) => Object.entries(SCREENS).map(([name, options]) => ({ path, name, options }))),
)('$path on $name, light and dark, is usable by everybody and harmless', async ({ path, options }) => {
  await open(addressOf(path), options, async (page) => {
    expect(await page.locator('h1').count()).toBe(1);
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      expect(await seriousViolations(page)).toEqual([]);
    }
    expect(await overflow(page)).toBe(0);
    expect(await page.locator('main script, main img[src=x]').count()).toBe(0);
  });
});

test.each(VIEWS)('$path is readable without JavaScript', async ({ path, isPublic }) => {
  await open(addressOf(path), { ...DESKTOP, javaScriptEnabled: false }, async (page) => {
    expect(await page.locator('h1').count()).toBe(1);
    expect(await page.getByRole('link', { name: 'Domains' }).count()).toBe(isPublic ? 0 : 1);
  });
});

test('on a phone, the buttons of a table are on the screen', async () => {
  await open('/domains', PHONE, async (page) => {
    const box = await page.getByRole('button', { name: `Pause ${web.name('site')}` }).boundingBox();
    expect((box?.x ?? 0) + (box?.width ?? 0)).toBeLessThan(390);
    expect(box?.x).toBeGreaterThan(0);
  });
});

test('a server with a token asks for it on localhost too, once, and for a name for the record', async () => {
  const { db, client } = amble;
  const config = { ...amble.config, serverToken: 'correct-horse-battery-staple' };
  const services = createServices({ config, db, client, temporalUi: null });
  const closed = await startServer(services, { host: 'localhost', port: 0 }, (line) => {
    throw new Error(line);
  });
  try {
    await visit(chromium.browser, closed.url, '/now', PHONE, async (page) => {
      expect(new URL(page.url()).pathname).toBe('/login');
      expect(await seriousViolations(page)).toEqual([]);
      await page.getByLabel('Token of this server').fill(config.serverToken);
      await page.getByLabel('Your name').fill('Anna Müller');
      await page.getByRole('button', { name: 'Log in' }).click();
      await page.getByRole('button', { name: 'Pause browser-slow' }).click();
      await page.getByText('Paused by Anna Müller (dashboard).').waitFor();
      await page.getByRole('button', { name: 'Resume browser-slow' }).click();
      await page.getByRole('button', { name: 'Pause browser-slow' }).waitFor();
      expect(await overflow(page)).toBe(0);
      await page.getByRole('button', { name: 'Log out' }).click();
      await page.getByLabel('Token of this server').waitFor();
      await page.goto(`${closed.url}now`);
      expect(new URL(page.url()).pathname).toBe('/login');
    });
  } finally {
    await closed.stop();
  }
});

test('without a token, a browser may give a name for the record', async () => {
  await open('/now', PHONE, async (page) => {
    await page.getByRole('link', { name: 'Add your name' }).click();
    expect(await seriousViolations(page)).toEqual([]);
    await page.getByLabel('Your name').fill('Anna Müller');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('You give orders as Anna Müller.').waitFor();
    await page.getByRole('button', { name: 'Pause browser-slow' }).click();
    await page.getByText('Paused by Anna Müller (dashboard).').waitFor();
    await page.getByRole('button', { name: 'Resume browser-slow' }).click();
    await page.getByRole('button', { name: 'Pause browser-slow' }).waitFor();
  });
});

test('an open page follows the crawl without being loaded again', async () => {
  await open('/now', DESKTOP, async (page) => {
    await page.evaluate('window.loadedOnce = true');
    const done = page.locator('article', { hasText: 'browser-slow' }).locator('dd').nth(1);
    const before = Number(await done.textContent());
    await expect
      .poll(async () => Number(await done.textContent()), { timeout: 15_000 })
      .toBeGreaterThan(before);
    expect(await page.evaluate('window.loadedOnce')).toBe(true);
  });
});

test('a live update keeps buttons, open details, focus and what is being typed', async () => {
  await open('/crawls/browser-slow', DESKTOP, async (page) => {
    const reason = page.getByLabel('Reason: Pause browser-slow');
    await page.locator('#cancel summary').click();
    await reason.pressSequentially('half a ');
    await page.evaluate('window.button = document.querySelector("[aria-label=\'Pause browser-slow\']")');
    const done = page.locator('dd').nth(1);
    for (let updates = 0; updates < 2; updates += 1) {
      const before = await done.textContent();
      await expect.poll(() => done.textContent(), { timeout: 15_000 }).not.toBe(before);
    }
    expect(await page.evaluate('window.button.isConnected')).toBe(true);
    expect(await page.getByRole('button', { name: 'Cancel crawl browser-slow' }).isVisible()).toBe(true);
    await page.keyboard.type('reason');
    expect(await reason.inputValue()).toBe('half a reason');
  });
});

test.each([
  ['with JavaScript', DESKTOP],
  ['without JavaScript', { ...PHONE, javaScriptEnabled: false }],
])('a crawl is paused and resumed by its buttons %s', async (_, options) => {
  await open('/now', options, async (page) => {
    const statusOf = async () => (await amble.db.crawl.findUnique({ where: { id: 'browser-slow' } }))?.status;
    await page.getByLabel('Give a reason: Pause browser-slow').click();
    await page.getByRole('textbox', { name: 'Reason: Pause browser-slow' }).fill('a test');
    await page.getByRole('button', { name: 'Pause browser-slow' }).click();
    await page.getByRole('button', { name: 'Resume browser-slow' }).waitFor();
    expect(await statusOf()).toBe('Paused');
    expect(await page.getByText('Paused by an operator (dashboard): a test.').count()).toBe(1);
    await page.getByRole('button', { name: 'Resume browser-slow' }).click();
    await page.getByRole('button', { name: 'Pause browser-slow' }).waitFor();
    expect(await statusOf()).toBe('Running');
  });
});

test('failed pages are retried by their cause, and URLs excluded, after a preview', async () => {
  await open('/crawls/browser-hostile', DESKTOP, async (page) => {
    await page.getByRole('row', { name: 'status 404' }).getByText('Retry these').click();
    await page.waitForURL('**/retry?cause=status%2F404');
    await page.getByRole('button', { name: 'Retry these 1 of browser-hostile' }).click();
    await page.getByText('1 of 1 retried page').waitFor({ timeout: 20_000 });
  });
  await open('/crawls/browser-slow/exclude', PHONE, async (page) => {
    await page.getByLabel('Pattern').fill('/2*');
    await page.getByRole('button', { name: 'Preview' }).click();
    await page.getByText(/^Removes \d+ of \d+ pending pages$/).waitFor();
    await page.getByRole('button', { name: 'Exclude /2* from browser-slow' }).click();
    await page.waitForURL('**/crawls/browser-slow');
  });
  const rejected = { crawlId: 'browser-slow', status: 'Rejected', url: { contains: '/2' } } as const;
  await expect.poll(() => amble.db.page.count({ where: rejected })).toBeGreaterThan(0);
});

test('a crawl is paused on its own page, with a reason', async () => {
  await open('/crawls/browser-slow', PHONE, async (page) => {
    await page.getByLabel('Reason: Pause browser-slow').fill('on its own page');
    await page.getByRole('button', { name: 'Pause browser-slow' }).click();
    await page.getByText('Paused by an operator (dashboard): on its own page.').waitFor();
    await page.getByRole('button', { name: 'Resume browser-slow' }).click();
    await page.getByRole('button', { name: 'Pause browser-slow' }).waitFor();
  });
});

test.each([
  ['in the list', () => '/domains'],
  ['on its own page', () => `/domains/${web.name('site')}`],
])('a domain is paused and resumed by its buttons %s', async (_, path) => {
  const domain = web.name('site');
  await open(path(), DESKTOP, async (page) => {
    await page.getByRole('button', { name: `Pause ${domain}` }).click();
    await page.getByRole('button', { name: `Resume ${domain}` }).waitFor();
    expect((await amble.db.domain.findUnique({ where: { name: domain } }))?.paused).toBe(true);
    await page.getByRole('button', { name: `Resume ${domain}` }).click();
    await page.getByRole('button', { name: `Pause ${domain}` }).waitFor();
  });
});

test('a crawl is started by the form, which shows the same command, and cancelled with a reason', async () => {
  await open('/start', DESKTOP, async (page) => {
    await page.getByLabel('URLs to start from').fill(web.url('other', '/'));
    await page.getByLabel('Name').fill('browser-started');
    await page.getByLabel('Preset').selectOption('broad');
    await page.getByLabel('Delay').fill('300ms');
    await page.getByRole('button', { name: 'Show the command' }).click();
    const options = '--id browser-started --preset broad --delay 300ms';
    await page.getByText(`amble crawl ${web.url('other', '/')} ${options}`).waitFor();
    await page.getByRole('button', { name: 'Start' }).click();
    await page.waitForURL('**/crawls/browser-started');
    const fetched = { crawlId: 'browser-started', status: 'Fetched' } as const;
    await expect.poll(() => amble.db.page.count({ where: fetched }), { timeout: 20_000 }).toBeGreaterThan(0);
    await page.reload();
    await page.locator('#cancel summary').click();
    await page.getByLabel('Reason: Cancel crawl browser-started').fill('a test');
    await page.getByRole('button', { name: 'Cancel crawl browser-started' }).click();
    await page.getByText('Cancelled', { exact: true }).waitFor({ timeout: 20_000 });
  });
  const order = await amble.db.order.findFirst({ where: { crawlId: 'browser-started', kind: 'cancel' } });
  expect(order).toMatchObject({ channel: 'dashboard', reason: 'a test' });
});

test('a domain is slowed down and reset by its buttons', async () => {
  const domain = web.name('site');
  const delayOf = async () => (await amble.db.domain.findUnique({ where: { name: domain } }))?.delayMaxMs;
  await open(`/domains/${domain}`, PHONE, async (page) => {
    await page.locator('#delay summary').click();
    await page.getByRole('textbox', { name: `Delay of ${domain};` }).fill('20s-40s');
    await page.getByLabel(`Reason: Set delay of ${domain}`).fill('asked by its owner');
    await page.getByRole('button', { name: `Set delay of ${domain}` }).click();
    await page.getByText('30 s (the delay set for the domain)').waitFor();
    expect(await delayOf()).toBe(40_000);
    await page.locator('#reset summary').click();
    await page.getByRole('button', { name: `Reset ${domain}` }).click();
    await expect.poll(delayOf).toBeNull();
  });
  const order = await amble.db.order.findFirst({ where: { domain, kind: 'delay' } });
  expect(order).toMatchObject({ channel: 'dashboard', reason: 'asked by its owner' });
});

test('everything is stopped with a reason, every page says so, and it is lifted again', async () => {
  await open('/now', DESKTOP, async (page) => {
    await page.getByText('Stop everything').click();
    await page.getByLabel('Reason: Stop all crawls and domains').fill('the network is being repaired');
    await page.getByRole('button', { name: 'Stop all crawls and domains' }).click();
    await page.getByRole('alert').getByText('Everything is stopped').waitFor();
    // The crawl says the same as the banner.
    await page.getByText('Everything is stopped by an operator (dashboard): the network').nth(1).waitFor();
  });
  await open('/domains', PHONE, async (page) => {
    expect(await page.getByRole('alert').first().textContent()).toContain('the network is being repaired');
    expect(await seriousViolations(page)).toEqual([]);
    await page.getByLabel('Reason: Lift the stop').fill('it works again');
    await page.getByRole('button', { name: 'Lift the stop' }).click();
    await page.waitForURL('**/now');
    expect(await page.getByText('Everything is stopped').count()).toBe(0);
  });
});

test('everything can be reached with the keyboard', async () => {
  await open('/now', DESKTOP, async (page) => {
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Skip to content');
    const reached = new Set<unknown>();
    for (let key = 0; key < 12; key += 1) {
      await page.keyboard.press('Tab');
      reached.add(
        await page.evaluate(
          'document.activeElement.getAttribute("aria-label") ?? document.activeElement.textContent',
        ),
      );
    }
    expect([...reached]).toEqual(expect.arrayContaining(['Domains', 'browser-slow', 'Pause browser-slow']));
  });
});
