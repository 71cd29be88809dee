import { randomBytes } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
// As in a worker: it replaces the agent of the global fetch.
import 'undici';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { toContentLocation } from '../../src/config/content-store.ts';
import { type ContentStore, ContentStoreUnavailable } from '../../src/worker/content-store.ts';
import { openS3Store } from '../../src/worker/s3-store.ts';
import { type S3Server, startS3Server } from '../support/s3-server.ts';

/** For a server that never answers. Others get the usual time, however busy the machine is. */
const SHORT_TIMEOUT_MS = 300;
/** Enough for eight megabytes from this machine. */
const SLOW_READER_TIMEOUT_MS = 1_000;
const BODY = randomBytes(10_000);

let server: S3Server;
let store: ContentStore;

beforeEach(async () => {
  server = await startS3Server();
  store = open();
});
afterEach(() => server.stop());

function open(timeoutMs?: number): ContentStore {
  const env = {
    AWS_ENDPOINT_URL: server.endpoint,
    AWS_ACCESS_KEY_ID: 'key',
    AWS_SECRET_ACCESS_KEY: 'secret',
  };
  const location = toContentLocation('s3://crawls/2026/', { home: '/', cwd: '/', env });
  if (location.kind !== 's3') throw new Error('not a bucket');
  return openS3Store(location, timeoutMs);
}

async function read(stream: AsyncIterable<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks);
}

function nameOf(key: string): string {
  return `crawls/2026/${key.slice(0, 2)}/${key.slice(2, 4)}/${key}.gz`;
}

test('content is stored under its hash, once, and read back whole or in chunks', async () => {
  const key = await store.put(BODY);
  await store.put(BODY);
  expect(server.requests).toEqual([`PUT ${nameOf(key)}`]);
  expect(await open().get(key)).toEqual(BODY);
  expect(await read(store.stream(key))).toEqual(BODY);
  expect(await store.has(key)).toBe(true);
  expect(await store.has('0'.repeat(64))).toBe(false);
});

test('an object that is missing or damaged fails alone: the store stays available', async () => {
  const key = await store.put(BODY);
  const missing = '0'.repeat(64);
  for (const attempt of [() => store.get(missing), () => read(store.stream(missing))])
    await expect(attempt()).rejects.toThrow(
      /could not be read from s3:\/\/crawls\/2026\/00\/00\/0+\.gz: there is no such object/,
    );
  server.objects.set(nameOf(key), gzipSync('something else'));
  for (const attempt of [() => store.get(key), () => read(store.stream(key))]) {
    await expect(attempt()).rejects.toThrow(/is damaged/);
    await expect(attempt()).rejects.not.toBeInstanceOf(ContentStoreUnavailable);
  }
});

test('without the permission to list the bucket, an object that is missing fails alone too', async () => {
  server.fail('unlisted');
  const missing = '0'.repeat(64);
  expect(await store.has(missing)).toBe(false);
  await expect(store.get(missing)).rejects.not.toBeInstanceOf(ContentStoreUnavailable);
});

test('a body that is cut off is read again', async () => {
  const key = await store.put(BODY);
  server.fail('truncated', 1);
  expect(await store.get(key)).toEqual(BODY);
});

test('a reader may take longer than a request', async () => {
  // More than sockets and streams buffer.
  const large = randomBytes(8 * 1024 * 1024);
  const key = await store.put(large);
  const chunks: Buffer[] = [];
  for await (const chunk of open(SLOW_READER_TIMEOUT_MS).stream(key)) {
    if (chunks.length === 0) await setTimeout(2 * SLOW_READER_TIMEOUT_MS);
    chunks.push(chunk);
  }
  expect(Buffer.concat(chunks).equals(large)).toBe(true);
});

test('a key that may write objects but not read them makes the store unavailable for reading and the probe', async () => {
  const key = await store.put(BODY);
  server.fail('unreadable');
  for (const attempt of [
    () => store.get(key),
    () => read(store.stream(key)),
    () => store.has(key),
    store.probe,
  ])
    await expect(attempt()).rejects.toBeInstanceOf(ContentStoreUnavailable);
  server.fail('none');
  await store.probe();
  expect(await store.get(key)).toEqual(BODY);
});

describe('the store as a whole is unavailable, for reading, writing and the probe, if the server', () => {
  test.each(['forbidden', 'slow-down', 'silent', 'gone'] as const)('is %s', async (fault) => {
    const key = await store.put(BODY);
    if (fault === 'gone') await server.stop();
    else server.fail(fault);
    const { get, stream, put, probe } = fault === 'silent' ? open(SHORT_TIMEOUT_MS) : store;
    await Promise.all(
      [get(key), read(stream(key)), put(Buffer.from('more')), probe()].map((asking) =>
        expect(asking).rejects.toBeInstanceOf(ContentStoreUnavailable),
      ),
    );
    if (fault === 'gone') return;
    server.fail('none');
    await store.probe();
    expect(await store.get(key)).toEqual(BODY);
  });
});

test.each([
  ['s3://UPPER/x', {}, /must be a directory or like s3:\/\/bucket\/prefix/],
  ['s3://bucket', {}, /AWS_ACCESS_KEY_ID is not set/],
  ['s3://bucket', { AWS_ACCESS_KEY_ID: 'k' }, /AWS_SECRET_ACCESS_KEY is not set/],
  [
    's3://bucket',
    { AWS_SESSION_TOKEN: 't' },
    /AWS_SESSION_TOKEN is set: temporary credentials are not supported/,
  ],
  ['s3://bucket', { AWS_ENDPOINT_URL: 'minio:9000' }, /AWS_ENDPOINT_URL is "minio:9000", but must be a URL/],
])('%s with %o is refused in one sentence', (written, env, sentence) => {
  expect(() => toContentLocation(written, { home: '/', cwd: '/', env })).toThrow(sentence);
});
