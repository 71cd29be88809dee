/** How many SQL statements a page costs, transactions included, as its activities send them. */
import { Context } from '@temporalio/activity';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Database } from '../../src/storage/database.ts';
import type { Queries } from '../../src/storage/raw-sql.ts';
import { type Amble, startAmble } from '../support/amble.ts';
import { links, startWeb, type TestWeb } from '../support/web.ts';

const PAGES = 20;
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

test('a page that links to known pages costs about eleven statements', async () => {
  const seeds = [web.url('site')];
  const { pages } = await amble.crawl({ seeds, ...web.network, delay: DELAY });
  expect(pages).toEqual({ Fetched: PAGES + 1 });
  const countsOf = (activity: string): number[] => [...(sent.get(activity)?.values() ?? [])].toSorted();
  const usual = (activity: string) => countsOf(activity)[Math.floor(PAGES / 2)];
  expect(usual('acquireSlot')).toBe(1);
  // One before the fetch, one to pass the gate and one to leave it.
  expect(usual('fetchPage')).toBe(3);
  // Five to record it, and with every second page one to find room and five to fill half a window.
  const perPage = countsOf('processPage').reduce((sum, statements) => sum + statements) / (PAGES + 1);
  expect(perPage).toBeGreaterThanOrEqual(5);
  expect(perPage).toBeLessThan(8.5);
});
