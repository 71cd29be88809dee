/** The dashboard in a real browser, on real crawls. */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { VIEWS } from '../../src/server/views/index.ts';
import { flatSite } from '../support/web.ts';
import { HOSTILE_PATH, hostileSite } from './hostile-site.ts';
import { type BrowserTest, serveTest, startBrowserTest } from './support.ts';
import { DESKTOP, overflow, PHONE, seriousViolations, visit } from './visit.ts';

let run: BrowserTest;

beforeAll(async () => {
  const sites = { site: flatSite(300), hostile: hostileSite, patient: flatSite(5) };
  run = await startBrowserTest(sites);
  const { amble, web } = run;
  await amble.crawl({ seeds: [web.url('hostile', '/')], ...web.network }, 'browser-hostile');
  await amble.start({ seeds: [web.url('site', '/')], ...web.network, delay: '500ms' }, 'browser-slow');
  await amble.start({ seeds: [web.url('patient', '/')], ...web.network, delay: '40s' }, 'browser-patient');
});
afterAll(() => run?.stop());

/** A view's address, filled in with what the crawls have. */
function addressOf(path: string): string {
  const filled = path.replace(':crawl', 'browser-hostile').replace(':domain', run.web.name('hostile'));
  return path === '/page' ? `/page?url=${encodeURIComponent(run.web.url('hostile', HOSTILE_PATH))}` : filled;
}

const SCREENS = { 'a desktop': DESKTOP, 'a phone': PHONE };

test.each(
  VIEWS.flatMap(({ path }) => Object.entries(SCREENS).map(([name, options]) => ({ path, name, options }))),
)('$path on $name, light and dark, is usable by everybody and harmless', async ({ path, options }) => {
  await run.open(addressOf(path), options, async (page) => {
    expect(await page.locator('h1').count()).toBe(1);
    await expectUsable(page);
    expect(await page.locator('main script, main img[src=x]').count()).toBe(0);
  });
});

/** In both colours, with all that can be unfolded. */
async function expectUsable(page: Page): Promise<void> {
  expect(await overflow(page)).toBe(0);
  await page.evaluate('for (const one of document.querySelectorAll("details")) one.open = true');
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    expect(await seriousViolations(page)).toEqual([]);
  }
  expect(await overflow(page)).toBe(0);
}

test.each<[string, () => string | Promise<string>, RegExp]>([
  ['how a site is treated', () => `/bot?host=${run.web.name('hostile')}`, /The last requests/],
  ['a host without requests', () => '/bot?host=nobody.example', /has sent no request/],
  ['a page in progress', () => queuedPage(), /slot of/],
  ['a form with a mistake', () => '/start?seeds=http%3A%2F%2Fa.test%2F&delay=soon', /"soon"/],
  ['an address without a page', () => '/nothing', /There is nothing at this address/],
  ['a crawl that does not exist', () => '/crawls/nobody', /There is nothing at this address/],
  [
    'the preview of an exclusion',
    () => '/crawls/browser-slow/exclude?pattern=/1*',
    /Removes \d+ of \d+ pending/,
  ],
  ['the preview of a retry', () => '/crawls/browser-hostile/retry?cause=status%2F404', /1 failed page would/],
])('%s is usable by everybody', async (_, address, shown) => {
  await run.open(await address(), PHONE, async (page) => {
    await page.getByText(shown).first().waitFor();
    await expectUsable(page);
  });
});

async function queuedPage(): Promise<string> {
  const where = { crawlId: 'browser-patient', status: 'Queued' } as const;
  await expect.poll(() => run.amble.db.page.count({ where }), { timeout: 20_000 }).toBeGreaterThan(0);
  const { url } = await run.amble.db.page.findFirstOrThrow({ where });
  return `/page?url=${encodeURIComponent(url)}`;
}

test('Health with findings is usable by everybody', async () => {
  const { db } = run.amble;
  const { settings } = await db.crawl.findUniqueOrThrow({ where: { id: 'browser-hostile' } });
  const createdAt = new Date(Date.now() - 25 * 60_000);
  const silent = { id: 'browser-silent', seeds: [], settings: settings ?? {}, scopeHosts: [], createdAt };
  await db.crawl.create({ data: silent });
  const url = 'http://silent.test/';
  const page = { crawlId: silent.id, url, urlHash: Buffer.from(url), domain: 'silent.test' };
  await db.page.create({ data: page });
  try {
    await run.open('/health', PHONE, async (health) => {
      await health.getByText('browser-silent is stalled').waitFor();
      await expectUsable(health);
    });
  } finally {
    await db.crawl.delete({ where: { id: silent.id } });
  }
});

const FORMS: [string, string, (page: Page) => Promise<unknown>, string, RegExp][] = [
  [
    'the search of every page',
    '/now',
    async (page) => {
      await page.getByLabel('Find a page by its URL').fill(run.web.url('hostile', '/missing'));
      await page.keyboard.press('Enter');
    },
    '**/page?url=*missing',
    /This was attempt 1/,
  ],
  [
    'Find it',
    '/page',
    async (page) => {
      await page.getByLabel('URL of a page').fill(run.web.url('hostile', '/missing'));
      await page.getByRole('button', { name: 'Find it' }).click();
    },
    '**/page?url=*missing',
    /This was attempt 1/,
  ],
  [
    'Show on Domains',
    '/domains',
    async (page) => {
      await page.getByLabel('Only domains with this in their name').fill('no-such-name');
      await page.getByRole('button', { name: 'Show' }).click();
    },
    '**/domains?find=no-such-name',
    /No domain has "no-such-name" in its name/,
  ],
  [
    'Show on Orders',
    '/orders',
    async (page) => {
      await page.getByLabel('Only orders about this crawl').fill('browser-hostile');
      await page.getByRole('button', { name: 'Show' }).click();
    },
    '**/orders?crawl=browser-hostile&domain=',
    /No orders on record/,
  ],
  [
    'Show on a proof',
    '/domains/:domain',
    async (page) => {
      await page.getByLabel('From', { exact: true }).fill('2026-01-01');
      await page.getByLabel('until', { exact: true }).fill('2026-01-02');
      await page.getByRole('button', { name: 'Show' }).click();
    },
    '**?from=2026-01-01&until=2026-01-02',
    /No request was sent in this period/,
  ],
  [
    'Preview of a retry',
    '/crawls/browser-hostile/retry',
    async (page) => {
      await page.getByLabel('Cause, such as').fill('status/404');
      await page.getByRole('button', { name: 'Preview' }).click();
    },
    '**/retry?cause=status%2F404&domain=',
    /^1 failed page would be retried/,
  ],
  [
    'Show on the page for owners of sites',
    '/bot',
    async (page) => {
      await page.getByLabel('Host name of your site').fill(run.web.name('hostile'));
      await page.getByRole('button', { name: 'Show' }).click();
    },
    '**/bot?host=*',
    /robots.txt as we understand it/,
  ],
  ...[
    ['Exclude URLs', '**/crawls/browser-slow/exclude', /while it runs/],
    ['Retry failed', '**/crawls/browser-slow/retry', /would be retried/],
    ['Orders', '**/orders?crawl=browser-slow', /Orders|orders/],
  ].map(([name, leadsTo, shown]): (typeof FORMS)[number] => [
    `the link ${name}`,
    '/crawls/browser-slow',
    (page) =>
      page
        .locator('main')
        .getByRole('link', { name: String(name), exact: true })
        .click(),
    String(leadsTo),
    new RegExp(shown ?? ''),
  ]),
];

test.each(FORMS)('%s leads to what was asked for', async (_, path, act, leadsTo, shown) => {
  await run.open(addressOf(path), DESKTOP, async (page) => {
    await act(page);
    await page.waitForURL(leadsTo);
    await page.getByText(shown).first().waitFor();
  });
});

test.each(VIEWS)('$path is readable without JavaScript', async ({ path, isPublic }) => {
  await run.open(addressOf(path), { ...DESKTOP, javaScriptEnabled: false }, async (page) => {
    expect(await page.locator('h1').count()).toBe(1);
    expect(await page.getByRole('link', { name: 'Domains' }).count()).toBe(isPublic ? 0 : 1);
  });
});

test('on a phone, the buttons of a table are on the screen', async () => {
  await run.open('/domains', PHONE, async (page) => {
    const box = await page.getByRole('button', { name: `Pause ${run.web.name('site')}` }).boundingBox();
    expect((box?.x ?? 0) + (box?.width ?? 0)).toBeLessThan(390);
    expect(box?.x).toBeGreaterThan(0);
  });
});

test('a server with a token asks for it on localhost too, once, and for a name for the record', async () => {
  const config = { ...run.amble.config, serverToken: 'correct-horse-battery-staple' };
  const closed = await serveTest({ ...run.amble, config });
  try {
    await visit(run.chromium.browser, closed.url, '/now', PHONE, async (page) => {
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
  await run.open('/now', PHONE, async (page) => {
    await page.getByRole('link', { name: 'Add your name' }).click();
    expect(await seriousViolations(page)).toEqual([]);
    await page.getByLabel('Your name').fill('Anna Müller');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('You give orders as Anna Müller.').waitFor();
    // There is no login to leave.
    expect(await page.getByRole('button', { name: 'Log out' }).count()).toBe(0);
    await page.getByRole('button', { name: 'Pause browser-slow' }).click();
    await page.getByText('Paused by Anna Müller (dashboard).').waitFor();
    await page.getByRole('button', { name: 'Resume browser-slow' }).click();
    await page.getByRole('button', { name: 'Pause browser-slow' }).waitFor();
  });
});

test('an open page follows the crawl without being loaded again', async () => {
  await run.open('/now', DESKTOP, async (page) => {
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
  await run.open('/crawls/browser-slow', DESKTOP, async (page) => {
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

test('everything can be reached with the keyboard', async () => {
  await run.open('/now', DESKTOP, async (page) => {
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Skip to content');
    const reached = new Set<unknown>();
    // Crawls that began at about the same moment may be listed in either order.
    for (let key = 0; key < 30; key += 1) {
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
