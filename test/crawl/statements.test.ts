/** How many SQL statements a page costs, transactions included, as its activities send them. */
import { Context } from '@temporalio/activity';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Database } from '../../src/storage/database.ts';
import type { Queries } from '../../src/storage/raw-sql.ts';
import { type Amble, startAmble } from '../support/amble.ts';
import { links, startWeb, type TestWeb } from '../support/web.ts';

const PAGES = 40;

/** By activity. */
const sent: Record<string, number> = {};

function count(statements: number): void {
  const { activityType } = Context.current().info;
  sent[activityType] = (sent[activityType] ?? 0) + statements;
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

let amble: Amble;
let web: TestWeb;
beforeAll(async () => {
  const countAll = <T extends { db: Database }>(deps: T): T => ({ ...deps, db: countingDatabase(deps.db) });
  amble = await startAmble({}, undefined, undefined, countAll);
  const all = Array.from({ length: PAGES }, (_, n) => `/${n}`);
  web = await startWeb({
    site: (path) => (path === '/robots.txt' ? undefined : { body: `${path} ${links(...all)}` }),
  });
});
afterAll(async () => {
  await amble?.stop();
  await web?.stop();
});

test('a page that links to known pages costs about fifteen statements', async () => {
  const seeds = [web.url('site')];
  const { pages } = await amble.crawl({ seeds, ...web.network, delay: '0ms' });
  expect(pages).toEqual({ Fetched: PAGES + 1 });
  const perPage = (activity: string): number => (sent[activity] ?? 0) / (PAGES + 1);
  // A page that has to ask again needs more than one.
  expect(perPage('acquireSlot')).toBeGreaterThanOrEqual(1);
  expect(perPage('acquireSlot')).toBeLessThan(1.5);
  // One before the fetch, two to pass the gate and two to leave it. With no delay, some meet a request that is still open.
  expect(perPage('fetchPage')).toBeGreaterThanOrEqual(5);
  expect(perPage('fetchPage')).toBeLessThan(7);
  // Five to record it, one to find room, and five to fill half a window with every second page.
  expect(perPage('processPage')).toBeGreaterThanOrEqual(6);
  expect(perPage('processPage')).toBeLessThan(10);
});
