import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import type { Database } from '../../src/storage/database.ts';
import { AddressLimiter, type AddressRequest } from '../../src/worker/address-limiter.ts';
import { useDatabase } from './support.ts';

let reservations = 0;
const db = useDatabase(({ text }) => {
  if (text.includes('INSERT INTO address_blocks')) reservations += 1;
});

const GAP_MS = 50;

/** `slowMs`: how late the database answers, for each reservation in turn. */
function limiter({ maxOpen = 8, slowMs = [] }: { maxOpen?: number; slowMs?: number[] } = {}) {
  const late = [...slowMs];
  const slowDb = new Proxy(db(), {
    get(target, key: keyof Database) {
      if (key !== '$queryRaw') return target[key];
      return async (...query: Parameters<Database['$queryRaw']>) => {
        const rows = await target.$queryRaw(...query);
        await delay(late.shift() ?? 0);
        return rows;
      };
    },
  });
  const created = new AddressLimiter(slowDb, { gapMs: GAP_MS, maxOpen, exempt: [] }, (error) => {
    throw error;
  });
  onTestFinished(() => created.stop());
  reservations = 0;
  return created;
}

/** Its lease lasts `lastsMs` from now. */
function request(lastsMs = 30_000, changed: Partial<AddressRequest> = {}): AddressRequest {
  const until = performance.now() + lastsMs;
  const leftMs = () => Math.max(0, until - performance.now());
  const signal = new AbortController().signal;
  return { leaseId: randomUUID(), leftMs, begin: () => leftMs() > 0, maxFetchMs: 1_000, signal, ...changed };
}

function limitOf(of: AddressLimiter, address: string) {
  const limit = of.limitOf(address);
  if (limit === null) throw new Error(`${address} is exempt.`);
  return limit;
}

const openAt = async (block: string) =>
  Object.keys((await db().addressBlock.findUniqueOrThrow({ where: { block } })).openRequests ?? {});

test('a turn that a slow database lets pass is reserved again, with a longer window, in the same place', async () => {
  const addresses = limiter({ slowMs: [150, 250] });
  const waiting = request();
  expect(await addresses.takeTurn(limitOf(addresses, '192.0.2.2'), waiting)).toBe(true);
  // 100 ms were too short, and so were 200.
  expect(reservations).toBeGreaterThanOrEqual(3);
  expect(await openAt('192.0.2.2')).toEqual([waiting.leaseId]);
});

test('a lease that ends while its turns pass goes unused, and its place is free', async () => {
  const addresses = limiter({ slowMs: [150, 1_000] });
  const waiting = request(600);
  const limit = limitOf(addresses, '192.0.2.3');
  expect(await addresses.takeTurn(limit, waiting)).toBe(false);
  expect(await openAt('192.0.2.3')).toEqual([waiting.leaseId]);
  addresses.end(limit, waiting.leaseId);
  const next = request();
  expect(await addresses.takeTurn(limit, next)).toBe(true);
  expect(await openAt('192.0.2.3')).toEqual([next.leaseId]);
});

test('a lease that would wait longer than it lasts goes unused, and reserves nothing', async () => {
  const addresses = limiter({ maxOpen: 1 });
  const limit = limitOf(addresses, '192.0.2.4');
  const first = request();
  expect(await addresses.takeTurn(limit, first)).toBe(true);
  expect(await addresses.takeTurn(limit, request(500))).toBe(false);
  expect(await openAt('192.0.2.4')).toEqual([first.leaseId]);
});

test('a request that is aborted while it waits gets no turn', async () => {
  const addresses = limiter({ maxOpen: 1 });
  const limit = limitOf(addresses, '192.0.2.5');
  await addresses.takeTurn(limit, request());
  const abort = new AbortController();
  const waiting = addresses.takeTurn(limit, request(30_000, { signal: abort.signal }));
  abort.abort();
  await expect(waiting).rejects.toThrow('aborted');
});
