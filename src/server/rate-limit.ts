/** Limits how often one client may ask for something that costs a few queries and is open to everybody. */
import { getConnInfo } from '@hono/node-server/conninfo';
import type { Context, MiddlewareHandler } from 'hono';
import { LRUCache } from 'lru-cache';
import { addressBlockOf } from '../http/index.ts';
import type { Env } from './env.ts';

export interface RateLimit {
  /** Requests of one address in a window. */
  perClient: number;
  /** Requests of all together. */
  inAll: number;
  windowMs: number;
}

/** Refused requests count for nobody: whoever asks too often must not use up what is meant for the others. */
export function rateLimit({ perClient, inAll, windowMs }: RateLimit): MiddlewareHandler<Env> {
  const clients = new LRUCache<string, { count: number }>({ max: inAll, ttl: windowMs });
  let window = { since: 0, count: 0 };
  return async (c, next) => {
    const now = Date.now();
    if (now - window.since >= windowMs) window = { since: now, count: 0 };
    const address = clientOf(c);
    const client = clients.get(address) ?? { count: 0 };
    if (client.count < perClient && window.count < inAll) {
      if (client.count === 0) clients.set(address, client);
      client.count += 1;
      window.count += 1;
      return next();
    }
    c.header('Retry-After', String(Math.ceil(windowMs / 1_000)));
    return c.text('Too many requests; try again in a minute.', 429);
  };
}

/** An IPv4 address or the network of one IPv6 customer. Without a socket, in tests, all clients are one. */
function clientOf(c: Context<Env>): string {
  const address = c.env ? getConnInfo(c).remote.address : undefined;
  // A link-local address may have a zone.
  return address === undefined ? '' : addressBlockOf(address.replace(/%.*/, ''));
}
