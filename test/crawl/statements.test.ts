/** How many SQL statements a page costs, transactions included, as its activities send them. */
import { Context } from '@temporalio/activity';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Deps } from '../../activities/deps.ts';
import type { Database } from '../../src/storage/database.ts';
import type { Queries } from '../../src/storage/raw-sql.ts';
import { AddressLimiter } from '../../src/worker/address-limiter.ts';
import { type Amble, startAmble } from '../support/amble.ts';
import { links, startWeb, type TestWeb } from '../support/web.ts';

const PAGES = 12;
/** Longer than a request takes: a page that meets an open request at the gate reads it again. */
const DELAY = '800ms';

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
  { limits: 'none', address: {}, fetch: 3 },
  { limits: 'those of the web', address: { exempt: [] }, fetch: 4 },
])('with limits per address on loopback: $limits', ({ address, fetch }) => {
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
    });
  });
  afterAll(async () => {
    await amble?.stop();
    await addresses?.stop();
    await web?.stop();
  });

  test('a page that links to known pages costs about eleven statements', async () => {
    const seeds = [web.url('site')];
    const { pages } = await amble.crawl({ seeds, ...web.network, delay: DELAY });
    expect(pages).toEqual({ Fetched: PAGES + 1 });
    const countsOf = (activity: string): number[] => [...(sent.get(activity)?.values() ?? [])].toSorted();
    const usual = (activity: string) => countsOf(activity)[Math.floor(PAGES / 2)];
    expect(usual('acquireSlot')).toBe(1);
    // One before the fetch, one to pass the gate, one to leave it, and one for a turn at the address.
    expect(usual('fetchPage')).toBe(fetch);
    // Five to record it, and with every second page one to find room and five to fill half a window.
    const perPage = countsOf('processPage').reduce((sum, statements) => sum + statements) / (PAGES + 1);
    expect(perPage).toBeGreaterThanOrEqual(5);
    expect(perPage).toBeLessThan(8.5);
  });
});
