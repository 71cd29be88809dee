/** Connections that die silently are detected and replaced. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Connection } from '@temporalio/client';
import { afterEach, expect, inject, test } from 'vitest';
import { type Database, openDatabase } from '../../src/storage/database.ts';
import { isDatabaseUnavailable } from '../../src/storage/database-unavailable.ts';
import { connectTemporal } from '../../src/temporal/connection.ts';
import { testEngines } from '../support/engines.ts';
import { startWire, type Wire } from './wire.ts';

/** In production these are seconds; a test can wait for these. */
const KEEPALIVE = { intervalMs: 300, timeoutMs: 300 };
const ANSWER_WITHIN_MS = 500;

let wire: Wire;
let db: Database | undefined;
let connection: Connection | undefined;

afterEach(async () => {
  await Promise.all([db?.$disconnect(), connection?.close()]);
  await wire.stop();
});

test('a Temporal client detects a silent connection and retries on a new one', async () => {
  const { temporalAddress, namespace } = testEngines();
  wire = await startWire(Number(new URL(`tcp://${temporalAddress}`).port));
  connection = await connectTemporal({ address: `127.0.0.1:${wire.port}` }, KEEPALIVE);
  const ask = () => connection?.workflowService.describeNamespace({ namespace });
  await ask();
  wire.swallow();
  const answer = ask();
  wire.heal();
  expect(await answer).toMatchObject({ namespaceInfo: { name: namespace } });
});

test('a Temporal client gives up a connection that was begun in silence, and keeps one that was not', async () => {
  const { temporalAddress, namespace } = testEngines();
  wire = await startWire(Number(new URL(`tcp://${temporalAddress}`).port));
  wire.swallow();
  const connecting = connectTemporal({ address: `127.0.0.1:${wire.port}` }, KEEPALIVE);
  await expect.poll(() => wire.accepted).toBe(1);
  wire.heal();
  connection = await connecting;
  // Longer than the limit for a first answer, and not so long that the server takes offence at so many pings.
  await sleep(KEEPALIVE.intervalMs + KEEPALIVE.timeoutMs + 100);
  expect(await connection.workflowService.describeNamespace({ namespace })).toBeDefined();
  expect(wire.accepted).toBe(2);
});

test('a query to a silent Postgres times out, and the next one uses a new connection', async () => {
  const url = new URL(inject('templateDatabaseUrl'));
  wire = await startWire(Number(url.port));
  url.port = String(wire.port);
  url.pathname = '/postgres';
  url.searchParams.set('query_timeout', String(ANSWER_WITHIN_MS));
  db = openDatabase(url.href, { connections: 1 });
  const { $queryRaw, inTransaction: atomically } = db;
  const one = [{ one: 1 }];
  expect(await $queryRaw`SELECT 1 AS one`).toEqual(one);
  wire.swallow();
  wire.heal();
  const unanswered: unknown = await $queryRaw`SELECT 1 AS one`.catch((error: unknown) => error);
  expect(isDatabaseUnavailable(unanswered), String(unanswered)).toBe(true);
  expect(await $queryRaw`SELECT 1 AS one`).toEqual(one);

  const cutOff: unknown = await atomically(async (tx) => {
    await tx.$queryRaw`SELECT 1 AS one`;
    wire.swallow();
    wire.heal();
    return tx.$queryRaw`SELECT 1 AS one`;
  }).catch((error: unknown) => error);
  expect(isDatabaseUnavailable(cutOff), String(cutOff)).toBe(true);
  expect(await atomically((tx) => tx.$queryRaw`SELECT 1 AS one`)).toEqual(one);
});
