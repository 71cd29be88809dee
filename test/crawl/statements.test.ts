/** How many SQL statements a page costs, transactions included, as its activities send them. */
import { Context } from '@temporalio/activity';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Deps } from '../../activities/deps.ts';
import type { Database } from '../../src/storage/database.ts';
import type { Queries } from '../../src/storage/raw-sql.ts';
import { AddressLimiter } from '../../src/worker/address-limiter.ts';
import { type Amble, startAmble } from '../support/amble.ts';
import { flatSite, links, startWeb, type TestWeb } from '../support/web.ts';

const PAGES = 12;
/** Long enough for pages to fetch within their workflow tasks. */
const DELAY = '1s';

/** By activity and page. */
const sent = new Map<string, Map<string, number>>();

function count(statements: number): void {
  const { activityType, workflowExecution } = Context.current().info;
  const byPage = sent.get(activityType) ?? new Map<string, number>();
  const page = workflowExecution?.workflowId ?? '';
  sent.set(activityType, byPage.set(page, (byPage.get(page) ?? 0) + statements));
}

function counting(queries: Queries): Queries {
  return {
    $queryRaw: (query, ...values) => {
      count(1);
      return queries.$queryRaw(query, ...values);
    },
    $executeRaw: (query, ...values) => {
      count(1);
      return queries.$executeRaw(query, ...values);
    },
  };
}

function countingDatabase(db: Database): Database {
  const inTransaction: Database['inTransaction'] = (work) => {
    // BEGIN and COMMIT.
    count(2);
    return db.inTransaction((tx) => work(counting(tx)));
  };
  const over = { ...counting(db), inTransaction };
  return new Proxy(db, { get: (target, key) => Reflect.get(key in over ? over : target, key) });
}

/** Its turns are part of a fetch; ends are written later, for many fetches together. */
function countingAddresses({ db, config }: Pick<Deps, 'db' | 'config'>): AddressLimiter {
  const { $queryRaw } = counting(db);
  const turns = new Proxy(db, {
    get: (target, key) => (key === '$queryRaw' ? $queryRaw : Reflect.get(target, key)),
  });
  return new AddressLimiter(turns, config.address, () => {});
}

describe.each([
  { limits: 'none', address: {}, most: 9 },
  { limits: 'those of the web', address: { exempt: [] }, most: 10 },
])('with limits per address on loopback: $limits', ({ address, most }) => {
  let amble: Amble;
  let web: TestWeb;
  let addresses: AddressLimiter | undefined;
  beforeAll(async () => {
    sent.clear();
    const countAll = (deps: Deps): Deps => {
      addresses = countingAddresses(deps);
      return { ...deps, db: countingDatabase(deps.db), addresses };
    };
    amble = await startAmble({ address }, undefined, undefined, countAll);
    const all = Array.from({ length: PAGES }, (_, n) => `/${n}`);
    web = await startWeb({
      site: (path) => (path === '/robots.txt' ? undefined : { body: `${path} ${links(...all)}` }),
      longest: flatSite(0),
    });
  });
  afterAll(async () => {
    await amble?.stop();
    await addresses?.stop();
    await web?.stop();
  });

  test(`a page that links to known pages costs at most ${most} statements`, async () => {
    // Most pages are of domains that do not set the end of their crawl.
    const others = Array.from({ length: 4 * PAGES }, (_, n) => web.url('longest', `/${n}`));
    const crawl = await amble.start({ seeds: [...others, web.url('site')], ...web.network, delay: DELAY });
    const domain = web.name('site');
    const fetched = () => amble.db.page.count({ where: { domain, status: 'Fetched' } });
    await expect.poll(fetched, { timeout: 50_000 }).toBe(PAGES + 1);
    await crawl.cancel();
    const statements = new Map<string, number>();
    for (const byPage of sent.values())
      for (const [page, count] of byPage) statements.set(page, (statements.get(page) ?? 0) + count);
    // The usual page: the first one begins the domain and reads its robots.txt, and every third one refills the window.
    const ofPages = [...statements].filter(([id]) => id.includes(domain)).map(([, count]) => count);
    expect(ofPages).toHaveLength(PAGES + 1);
    const usual = ofPages.toSorted((one, other) => one - other).slice(0, PAGES);
    expect(usual.reduce((sum, count) => sum + count, 0) / PAGES).toBeLessThanOrEqual(most);
  });
});
