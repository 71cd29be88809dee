import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openDatabase } from '../../src/storage/database.ts';
import { isDatabaseAway } from '../../src/storage/database-unavailable.ts';
import { type ContentStore, ContentStoreAway, openContentStore } from '../../src/worker/content-store.ts';
import { type Outage, watchForOutage } from '../../src/worker/dependency-health.ts';

describe('an outage of the content store', () => {
  let directory: string;
  let store: ContentStore;
  let outage: Outage;
  let said: string[];

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'amble-outage-'));
    store = openContentStore(join(directory, 'content'));
    said = [];
    const sink = new PassThrough().on('data', (line) => said.push(JSON.parse(String(line)).msg));
    outage = watchForOutage({
      what: 'The content store',
      isItsError: (error) => error instanceof ContentStoreAway,
      probe: () => store.probe(),
      log: pino(sink),
      everyMs: 10,
    });
  });

  afterEach(async () => {
    outage.stop();
    await rm(directory, { recursive: true, force: true });
  });

  /** A file where the directory should be: nobody can write there, not even root. */
  const breakIt = async () => {
    await mendIt();
    await writeFile(join(directory, 'content'), '');
  };
  const mendIt = () => rm(join(directory, 'content'), { recursive: true, force: true });
  const failToPut = () => store.put(Buffer.from('x')).catch((error: unknown) => error);

  test('is told once, however many run into it, and once more when it is over', async () => {
    await breakIt();
    for (let i = 0; i < 100; i += 1) expect(outage.explains(await failToPut())).toBe(true);
    expect(outage.away).toBe(true);
    await expect.poll(() => said).toHaveLength(1);
    expect(said).toEqual(['The content store is out of reach; waiting for it, nothing is lost meanwhile']);
    await mendIt();
    await expect.poll(() => outage.away).toBe(false);
    expect(said.slice(1)).toEqual(['The content store can be reached again']);
  });

  test('is told again when it comes again', async () => {
    for (const told of [2, 4]) {
      await breakIt();
      outage.explains(await failToPut());
      await expect.poll(() => said.length).toBe(told - 1);
      await mendIt();
      await expect.poll(() => said.length).toBe(told);
    }
  });

  test('that was over before anybody could look is not worth a word', async () => {
    await breakIt();
    const error = await failToPut();
    await mendIt();
    expect(outage.explains(error)).toBe(true);
    await expect.poll(() => outage.away).toBe(false);
    expect(said).toEqual([]);
  });

  test('is met by readers too, who would find a missing file anywhere else', async () => {
    const key = await store.put(Buffer.from('x'));
    const failToGet = () => store.get(key).catch((error: unknown) => error);
    const failToStream = async () => {
      for await (const _ of store.stream(key));
    };
    await mendIt();
    expect(outage.explains(await failToGet())).toBe(false);
    await breakIt();
    expect(outage.explains(await failToGet())).toBe(true);
    expect(outage.explains(await store.probe().catch((error: unknown) => error))).toBe(true);
    expect(outage.explains(await failToStream().catch((error: unknown) => error))).toBe(true);
  });

  test('explains no other error', () => {
    expect(outage.explains(new TypeError('a bug'))).toBe(false);
    expect(outage.away).toBe(false);
  });
});

describe('an error of the database', () => {
  const withCode = (code: string) => Object.assign(new Error('said by Postgres'), { code });

  test.each([
    ...['ECONNREFUSED', 'P1000', 'P1003', 'P2024'],
    ...['08006', '25006', '28000', '28P01', '3D000', '40P01', '53300', '55006', '57P01', '57P03', '58030'],
  ])('%s is not about what was asked', (code) => {
    expect(isDatabaseAway(withCode(code))).toBe(true);
    expect(isDatabaseAway(new Error('wrapped', { cause: withCode(code) }))).toBe(true);
  });

  test.each(['22021', '23505', '25001', '3F000', '42P01', 'P0001', 'P2002', '5799'])('%s is', (code) => {
    expect(isDatabaseAway(withCode(code))).toBe(false);
  });

  test('pg says in words that a connection broke', () => {
    expect(isDatabaseAway(new Error('Connection terminated unexpectedly'))).toBe(true);
  });

  test('Prisma wraps what a Postgres says that is on its way up', async () => {
    const starting = createServer((socket) => {
      const fields = 'SFATAL\0VFATAL\0C57P03\0Mthe database system is starting up\0\0';
      const head = Buffer.from('E\0\0\0\0');
      head.writeInt32BE(fields.length + 4, 1);
      socket.once('data', () => socket.end(Buffer.concat([head, Buffer.from(fields)])));
    });
    await once(starting.listen(0, '127.0.0.1'), 'listening');
    const { port } = starting.address() as AddressInfo;
    const db = openDatabase(`postgresql://amble@127.0.0.1:${port}/amble`);
    const error: unknown = await db.crawl.findFirst().catch((thrown: unknown) => thrown);
    expect(String(error)).toContain('57P03');
    expect(isDatabaseAway(error)).toBe(true);
    await db.$disconnect();
    starting.close();
  });

  test('a bug is none', () => {
    expect(isDatabaseAway(new TypeError('undefined is not a function'))).toBe(false);
  });
});
