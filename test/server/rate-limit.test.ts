/** The limit on a real socket: its address is the client's. */
import { createServer, type RequestListener, request } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import { Hono } from 'hono';
import { expect, test } from 'vitest';
import type { Env } from '../../src/server/env.ts';
import { type RateLimit, rateLimit } from '../../src/server/rate-limit.ts';

const LIMIT = { perClient: 30, inAll: 300, windowMs: 60_000 };

/** Requests from the given address of this machine, one after the other; their statuses. */
type Ask = (from: string, times: number) => Promise<number[]>;

async function withLimit(limit: RateLimit, work: (ask: Ask) => Promise<void>): Promise<void> {
  const app = new Hono<Env>();
  app.get('/bot', rateLimit(limit), (c) => c.text('hello'));
  const listener: RequestListener = getRequestListener(app.fetch);
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const askOnce = (from: string) =>
    new Promise<number>((resolve, reject) => {
      const sent = request(
        { port, path: '/bot', host: '127.0.0.1', localAddress: from, agent: false },
        (response) => {
          response.resume();
          resolve(response.statusCode ?? 0);
        },
      );
      sent.once('error', reject);
      sent.end();
    });
  try {
    await work(async (from, times) => {
      const statuses: number[] = [];
      for (let at = 0; at < times; at += 1) statuses.push(await askOnce(from));
      return statuses;
    });
  } finally {
    await new Promise((resolve) => server.close(resolve));
  }
}

test('a client that asks far too often locks out nobody else', async () => {
  await withLimit(LIMIT, async (ask) => {
    const statuses = await ask('127.0.0.1', 400);
    expect(statuses.filter((status) => status === 200)).toHaveLength(LIMIT.perClient);
    expect(await ask('127.0.0.2', 1)).toEqual([200]);
  });
});

test('many clients together are limited too', async () => {
  await withLimit({ ...LIMIT, perClient: 2, inAll: 3 }, async (ask) => {
    expect(await ask('127.0.0.1', 2)).toEqual([200, 200]);
    expect(await ask('127.0.0.2', 2)).toEqual([200, 429]);
  });
});
