/** Pages without a worker and while everything is stopped: they say so to operators, and to nobody else. */
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { loadConfig } from '../../src/config/index.ts';
import { createApp } from '../../src/server/app.tsx';
import { type Database, openDatabase } from '../../src/storage/database.ts';
import { claimPolitenessKey } from '../../src/storage/installation.ts';
import { stopEverything } from '../../src/storage/stop.ts';
import { createInterceptors } from '../../src/temporal/connection.ts';
import { freshDatabase, type TestDatabase } from '../support/engines.ts';
import { type Dashboard, openDashboard } from './support.ts';

const REASON = 'the network is being repaired';
const OPERATOR = 'Anna Keller';

let database: TestDatabase;
let db: Database;
let connection: Connection;
let dashboard: Dashboard;

beforeAll(async () => {
  database = await freshDatabase();
  db = openDatabase(database.url, { forReports: true });
  connection = Connection.lazy({ address: '127.0.0.1:1', interceptors: createInterceptors() });
  const config = loadConfig({ env: {}, cwd: '/', flags: {} });
  dashboard = openDashboard({ config, db, client: new Client({ connection }) });
  await claimPolitenessKey(db, 'host');
  const origin = { channel: 'cli', by: OPERATOR, reason: REASON } as const;
  await stopEverything(db, { id: 'stop', kind: 'stop', origin });
});
afterAll(async () => {
  await Promise.all([db?.$disconnect(), connection?.close()]);
  await database?.drop();
});

test.each(['/now', '/domains', '/name', '/nothing'])('%s says so, and by whom', async (path) => {
  // Each page reads who stopped everything; one that does not exist repeats what the last one has read.
  await dashboard.get('/now');
  const html = await (await dashboard.get(path)).text();
  for (const shown of [REASON, OPERATOR, 'Lift the stop']) expect(html).toContain(shown);
});

describe('a server for owners of sites alone', () => {
  test.each(['/bot', '/bot.json', '/bot/x', '/nothing', '/now', '/bot?host=a/b'])(
    'says at %s nothing of it, and has no form for operators',
    async (path) => {
      const { services } = dashboard;
      const app = createApp({ services, hosts: null, token: null, botOnly: true, log: () => {} });
      const get = (path: string) => app.request(path, { headers: { Host: 'crawler.example' } });
      expect((await get('/bot')).status).toBe(200);
      const text = await (await get(path)).text();
      for (const ofOperators of [
        REASON,
        OPERATOR,
        'Lift the stop',
        'method="post"',
        'You give orders',
        '<nav',
      ])
        expect(text).not.toContain(ofOperators);
    },
  );
});

test('an unexpected error is problem details for programs, and a page for people', async () => {
  const logged: string[] = [];
  const { services } = openDashboard({ ...dashboard.services });
  const broken = new Proxy(services, {
    get: (target, key) => {
      if (key === 'throttles') throw new Error('out of order');
      return Reflect.get(target, key);
    },
  });
  const app = createApp({ services: broken, hosts: [], token: null, log: (line) => logged.push(line) });
  const get = (path: string) => app.request(path, { headers: { Host: 'localhost' } });
  const twin = await get('/domains.json');
  expect([twin.status, twin.headers.get('Content-Type')]).toEqual([500, 'application/problem+json']);
  expect(await twin.json()).toMatchObject({ status: 500, detail: expect.stringContaining('the log') });
  const page = await get('/domains');
  expect([page.status, page.headers.get('Content-Type')]).toEqual([
    500,
    expect.stringContaining('text/html'),
  ]);
  expect(logged).toEqual([expect.stringContaining('out of order'), expect.stringContaining('out of order')]);
});

test('Health shows the free space of a content store that is not made yet', async () => {
  const Store = z.object({ contentStore: z.object({ freeBytes: z.number().nullable() }) });
  const contentStore = { kind: 'directory', path: join(tmpdir(), 'amble-none', 'content') } as const;
  const missing = openDashboard({
    ...dashboard.services,
    config: { ...dashboard.services.config, contentStore },
  });
  expect(
    Store.parse(await (await missing.get('/health.json')).json()).contentStore.freeBytes,
  ).toBeGreaterThan(0);
});
