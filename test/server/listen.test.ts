/** The server on a socket, without Postgres and Temporal. */
import { once } from 'node:events';
import { request } from 'node:http';
import { Client, Connection } from '@temporalio/client';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { loadConfig } from '../../src/config/index.ts';
import { type RunningServer, startServer } from '../../src/server/listen.ts';
import { createServices } from '../../src/server/services.ts';
import { type Database, openDatabase } from '../../src/storage/database.ts';
import { createInterceptors } from '../../src/temporal/connection.ts';

const TOKEN = 'correct-horse-battery-staple';

let db: Database;
let connection: Connection;
let server: RunningServer;

beforeEach(async () => {
  db = openDatabase('postgresql://nobody@127.0.0.1:1/none');
  connection = Connection.lazy({ address: '127.0.0.1:1', interceptors: createInterceptors() });
  const config = loadConfig({ env: {}, cwd: '/', flags: { serverToken: TOKEN } });
  const services = createServices({ config, db, client: new Client({ connection }), temporalUi: null });
  server = await startServer(services, { host: '127.0.0.1', port: 0 }, (line) => {
    throw new Error(line);
  });
});
afterEach(async () => {
  await server.stop(AbortSignal.abort());
  await Promise.all([db.$disconnect(), connection.close()]);
});

/** By name: `fetch` sets the header itself. */
function statusFor(url: string, host: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { headers: { Host: host } }, (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    sent.once('error', reject);
    sent.end();
  });
}

test.each([
  [[], 'anything.example', 200],
  [['crawl.example'], 'crawl.example', 200],
  [['crawl.example'], 'anything.example', 421],
])('open to others, with the host names %o it answers %s with %i', async (serverHosts, host, status) => {
  const config = loadConfig({ env: {}, cwd: '/', flags: { serverToken: TOKEN, serverHosts } });
  const services = createServices({ config, db, client: new Client({ connection }), temporalUi: null });
  // This machine, written so that it counts as another address.
  const open = await startServer(services, { host: '127.1', port: 0 }, () => {});
  try {
    expect(await statusFor(`${open.url}login`, host)).toBe(status);
  } finally {
    await open.stop();
  }
});

const AUTHORIZED = { Authorization: `Bearer ${TOKEN}` };

test('a request in progress is answered when the server stops, and streams end', async () => {
  const stream = await fetch(`${server.url}health`, {
    headers: { ...AUTHORIZED, Accept: 'text/event-stream' },
  });
  const reader = stream.body?.pipeThrough(new TextDecoderStream()).getReader();
  expect((await reader?.read())?.value).toContain('Postgres is unavailable');
  // The answer to a wrong guess takes half a second.
  const guess = request(`${server.url}login`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
  });
  const answered = once(guess, 'response');
  guess.end('token=wrong');
  await once(guess, 'finish');
  // Until the server has read it: what only the kernel has is refused.
  await fetch(`${server.url}healthz`);
  await server.stop();
  const [response] = await answered;
  expect(response.statusCode).toBe(401);
  expect((await reader?.read())?.done).toBe(true);
  await expect(fetch(`${server.url}healthz`)).rejects.toThrow('fetch failed');
});

test('a request that takes too long does not keep a server that must stop at once', async () => {
  const guess = fetch(`${server.url}login`, {
    method: 'POST',
    body: new URLSearchParams({ token: 'wrong' }),
  });
  const failed = expect(guess).rejects.toThrow('fetch failed');
  await fetch(`${server.url}healthz`);
  await server.stop(AbortSignal.abort());
  await failed;
});
