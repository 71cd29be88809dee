/** Limits how often one client may ask for something that costs a few queries and is open to everybody. */
import { getConnInfo } from '@hono/node-server/conninfo';
import type { Context, MiddlewareHandler } from 'hono';
import { LRUCache } from 'lru-cache';
import type { Env } from './env.ts';

export interface RateLimit {
  /** Requests of one address in a window. */
  perClient: number;
  /** Requests of all together. */
  inAll: number;
  windowMs: number;
}

/** Addresses that are remembered; without that bound, a flood of addresses would fill the memory. */
const MAX_CLIENTS = 10_000;

export function rateLimit({ perClient, inAll, windowMs }: RateLimit): MiddlewareHandler<Env> {
  const clients = new LRUCache<string, { count: number }>({ max: MAX_CLIENTS, ttl: windowMs });
  let window = { since: 0, count: 0 };
  return async (c, next) => {
    const now = Date.now();
    if (now - window.since >= windowMs) window = { since: now, count: 0 };
    const address = addressOf(c);
    const client = clients.get(address) ?? { count: 0 };
    if (client.count === 0) clients.set(address, client);
    client.count += 1;
    window.count += 1;
    if (client.count <= perClient && window.count <= inAll) return next();
    c.header('Retry-After', String(Math.ceil(windowMs / 1_000)));
    return c.text('Too many requests; try again in a minute.', 429);
  };
}

/** Without a socket, in tests, all clients are one. */
function addressOf(c: Context<Env>): string {
  return c.env ? (getConnInfo(c).remote.address ?? '') : '';
}
