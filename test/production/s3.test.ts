/** The content store on a real S3 server, and its faults. test/crawl/s3-outage.test.ts has a crawl whose pages wait meanwhile. */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
// As in a worker: it replaces the agent of the global fetch.
import 'undici';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { toContentLocation } from '../../src/config/content-store.ts';
import { messageOf } from '../../src/core/errors.ts';
import {
  type ContentStore,
  ContentStoreUnavailable,
  objectName,
  zip,
} from '../../src/worker/content-store.ts';
import { openS3Store } from '../../src/worker/s3-store.ts';
import { S3_KEYS, type S3Gateway, startS3Gateway } from './s3-gateway.ts';

const BUCKET = 'bodies';
const PREFIX = '2026';
const SHORT_TIMEOUT_MS = 1_000;
const BODY = randomBytes(100_000);

let directory: string;
let s3: S3Gateway;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'amble-s3-'));
  s3 = await startS3Gateway(directory, BUCKET);
});
afterEach(async () => {
  await s3.kill();
  await rm(directory, { recursive: true, force: true });
});

/** As another worker would, which knows nothing of what was stored. */
function open(
  env: Record<string, string> = {},
  written = `s3://${BUCKET}/${PREFIX}`,
  timeoutMs?: number,
): ContentStore {
  const settings = { AWS_ENDPOINT_URL: s3.url, ...S3_KEYS, ...env };
  const location = toContentLocation(written, { home: '/', cwd: '/', env: settings });
  if (location.kind !== 's3') throw new Error('not a bucket');
  return openS3Store(location, timeoutMs);
}

function fileOf(key: string): string {
  return join(directory, BUCKET, PREFIX, objectName(key));
}

async function expectUnavailable(store: ContentStore, key: string): Promise<void> {
  await Promise.all(
    [store.put(randomBytes(50_000)), store.get(key), store.probe()].map((asking) =>
      expect(asking).rejects.toBeInstanceOf(ContentStoreUnavailable),
    ),
  );
}

test('what one worker stores, another reads, under the name that it has in a directory', async () => {
  const key = await open().put(BODY);
  expect((await stat(fileOf(key))).size).toBeGreaterThan(0);
  expect(await open().get(key)).toEqual(BODY);
  expect(await open().has(key)).toBe(true);
  expect(await open().has('0'.repeat(64))).toBe(false);
});

test('a server that is away, or does not answer, makes the store unavailable until it is back', async () => {
  const store = open();
  const key = await store.put(BODY);
  await s3.kill();
  await expectUnavailable(store, key);
  await s3.start();
  expect(await store.get(key)).toEqual(BODY);
  s3.signal('SIGSTOP');
  await expectUnavailable(open({}, undefined, SHORT_TIMEOUT_MS), key);
  s3.signal('SIGCONT');
  await store.probe();
  expect(await store.get(key)).toEqual(BODY);
});

test.each([
  ['a key that the server refuses', { AWS_SECRET_ACCESS_KEY: 'wrong' }, undefined],
  ['a bucket that does not exist', {}, 's3://nowhere/x'],
])('%s makes the store unavailable', async (_, env, written) => {
  const key = await open().put(BODY);
  await expectUnavailable(open(env, written), key);
});

test('an object that was damaged or lost fails alone', async () => {
  const store = open();
  const [damaged, cut, lost] = [
    await store.put(BODY),
    await store.put(Buffer.from(`cut ${BODY.toString('hex')}`)),
    await store.put(Buffer.from('lost')),
  ];
  await writeFile(fileOf(damaged), await zip(Buffer.from('something else')));
  await truncate(fileOf(cut), 1_000);
  await rm(fileOf(lost));
  for (const [key, sentence] of [
    [damaged, /is damaged/],
    [cut, /could not be read/],
    [lost, /there is no such object/],
  ] as const) {
    const failed: unknown = await open()
      .get(key)
      .catch((error: unknown) => error);
    expect(messageOf(failed)).toMatch(sentence);
    expect(failed).not.toBeInstanceOf(ContentStoreUnavailable);
  }
});

test('a disk that is full makes the store unavailable until there is room again', async (context) => {
  const bucket = join(directory, BUCKET);
  const mount = promisify(execFile);
  try {
    await mount('mount', ['-t', 'tmpfs', '-o', 'size=256k', 'tmpfs', bucket]);
  } catch (error) {
    return context.skip(`This machine allows no mounts (${messageOf(error)}).`);
  }
  try {
    const store = open();
    const key = await store.put(BODY);
    await mkdir(join(bucket, 'other'));
    await writeFile(join(bucket, 'other', 'filler'), randomBytes(1_000_000)).catch(() => {});
    await expect(store.put(randomBytes(50_000))).rejects.toBeInstanceOf(ContentStoreUnavailable);
    await expect(store.probe()).rejects.toBeInstanceOf(ContentStoreUnavailable);
    expect(await store.get(key)).toEqual(BODY);
    await rm(join(bucket, 'other'), { recursive: true });
    await store.probe();
    await store.put(randomBytes(50_000));
  } finally {
    await s3.kill();
    await mount('umount', [bucket]);
  }
});
