/** A Postgres that neither answers nor refuses, as one that is frozen. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { Client, Connection } from '@temporalio/client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { loadConfig } from '../../src/config/index.ts';
import { type Database, openDatabase } from '../../src/storage/database.ts';
import { createInterceptors } from '../../src/temporal/connection.ts';
import { freshDatabase, type TestDatabase } from '../support/engines.ts';
import { type Dashboard, openDashboard } from './support.ts';

/** Without a deadline of its own, a page would wait for that of a connection: 10 s. */
const PATIENCE_MS = 9_000;

let database: TestDatabase;
let db: Database;
let connection: Connection;
let dashboard: Dashboard;
let wire: Server;
const sockets = new Set<Socket>();
let isFrozen = false;

/** Connections are accepted, as the kernel does for a frozen process. */
function freeze(frozen: boolean): void {
  isFrozen = frozen;
  for (const socket of sockets)
    if (frozen) socket.pause();
    else socket.resume();
}

beforeAll(async () => {
  database = await freshDatabase();
  const url = new URL(database.url);
  const target = { host: url.hostname, port: Number(url.port) };
  // What stands still on the way is, for the server, a database that stands still.
  wire = createServer((inner) => {
    const outer = connect(target);
    for (const socket of [inner, outer]) {
      sockets.add(socket);
      socket.on('error', () => socket.destroy());
    }
    inner.pipe(outer).pipe(inner);
    if (isFrozen) freeze(true);
  });
  wire.listen(0, '127.0.0.1');
  await once(wire, 'listening');
  const { port } = wire.address() as AddressInfo;
  url.hostname = '127.0.0.1';
  url.port = String(port);
  db = openDatabase(url.href, { forReports: true });
  connection = Connection.lazy({ address: '127.0.0.1:1', interceptors: createInterceptors() });
  const config = loadConfig({ env: {}, cwd: '/', flags: {} });
  dashboard = openDashboard({ config, db, client: new Client({ connection }) });
});
afterAll(async () => {
  for (const socket of sockets) socket.destroy();
  await Promise.all([db?.$disconnect(), connection?.close()]);
  wire?.close();
  await database?.drop();
});

test(
  'a page shows what was known, others say what is missing, and all recover',
  async () => {
    const read = async (path: string) => {
      const response = await dashboard.get(path);
      return { status: response.status, text: await response.text() };
    };
    expect((await read('/now')).status).toBe(200);
    freeze(true);
    const stale = await read('/now');
    expect(stale.status).toBe(200);
    expect(stale.text).toContain('Postgres has been unavailable since');
    expect(stale.text).toContain('This page shows what was known at');
    expect((await read('/domains')).status).toBe(503);
    expect((await read('/start')).status).toBe(200);
    expect((await read('/health')).text).toContain('Postgres is unavailable: it does not answer');
    expect((await read('/api/v1/orders')).status).toBe(503);
    expect((await read('/readyz')).text).toContain('Postgres unavailable');
    freeze(false);
    await expect.poll(async () => (await read('/domains')).status, { timeout: 20_000 }).toBe(200);
    expect((await read('/now')).text).not.toContain('Postgres has been unavailable');
  },
  PATIENCE_MS + 20_000,
);
