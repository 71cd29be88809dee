import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { currentLogFields, type LogFields, withLogFields } from '../../src/core/log-context.ts';
import { BodyMemory, type FetchMemory } from '../../src/http/index.ts';
import { LIMITS, loopbackAgent, send, sendForError, sendForResponse } from './support/fetching.ts';
import { httpServer } from './support/servers.ts';

const MIB = 2 ** 20;

describe('when the memory for bodies is full,', () => {
  async function holding(memory: BodyMemory, site: string, bytes: number): Promise<FetchMemory> {
    const fetch = memory.open(site);
    await fetch.take(bytes);
    return fetch;
  }

  test('the largest body of the site that holds the most is aborted', async () => {
    const memory = new BodyMemory(100);
    const large = await holding(memory, 'honest.test', 30);
    const [small, hostile] = [
      await holding(memory, 'hostile.test', 20),
      await holding(memory, 'hostile.test', 25),
    ];
    const asking = memory.open('other.test');
    await asking.take(40);
    expect([large, small, hostile, asking].map(({ signal }) => signal.aborted)).toEqual([
      false,
      false,
      true,
      false,
    ]);
    expect(memory.heldBytes).toBe(90);
  });

  test('it is reported in the log context of the aborted fetch, not of the one that asked for memory', async () => {
    const reported: LogFields[] = [];
    const memory = new BodyMemory(100, () => reported.push(currentLogFields()));
    const victim = { crawlId: 'one', pageId: '1' };
    await withLogFields(victim, () => holding(memory, 'hostile.test', 80));
    await withLogFields({ crawlId: 'two', pageId: '2' }, () => holding(memory, 'honest.test', 40));
    expect(reported).toEqual([victim]);
  });

  test('a body that grows too large is aborted itself', async () => {
    const memory = new BodyMemory(100);
    const honest = await holding(memory, 'honest.test', 30);
    const hostile = await holding(memory, 'hostile.test', 60);
    await expect(hostile.take(60)).rejects.toThrow();
    expect([honest.signal.aborted, hostile.signal.aborted, memory.heldBytes]).toEqual([false, true, 30]);
  });

  test('a body that moves to a larger buffer counts as large as it will be, not with both buffers', async () => {
    const memory = new BodyMemory(100);
    const hostile = await holding(memory, 'hostile.test', 50);
    const honest = await holding(memory, 'honest.test', 25);
    await honest.take(45, 25);
    expect([hostile.signal.aborted, honest.signal.aborted, memory.heldBytes]).toEqual([true, false, 70]);
  });

  test('memory is taken once, although an aborted fetch releases its own at once', async () => {
    const memory = new BodyMemory(100);
    const hostile = await holding(memory, 'hostile.test', 90);
    hostile.signal.addEventListener('abort', () => hostile.release());
    await holding(memory, 'honest.test', 30);
    expect(memory.heldBytes).toBe(30);
  });

  test('a fetch that holds nothing yet is spared', async () => {
    const memory = new BodyMemory(100);
    const complete = await holding(memory, 'hostile.test', 90);
    complete.complete();
    const early = memory.open('hostile.test');
    void memory.open('honest.test').take(20);
    expect(early.signal.aborted).toBe(false);
  });

  test('a body waits if the site that holds the most is about to store its bodies', async () => {
    const memory = new BodyMemory(100);
    const [first, second] = [
      await holding(memory, 'hostile.test', 40),
      await holding(memory, 'hostile.test', 40),
    ];
    for (const fetch of [first, second]) fetch.complete();
    const honest = await holding(memory, 'honest.test', 10);
    const asking = memory.open('other.test');
    const taken = vi.fn();
    const taking = asking.take(40).then(taken);
    await sleep(1);
    expect(taken).not.toHaveBeenCalled();
    expect(asking.isWaiting()).toBe(true);
    first.release();
    await taking;
    expect([asking.isWaiting(), memory.heldBytes]).toEqual([false, 90]);
    expect([first, second, honest, asking].some(({ signal }) => signal.aborted)).toBe(false);
  });

  test('a body that waits is rejected once it is released', async () => {
    const memory = new BodyMemory(100);
    (await holding(memory, 'hostile.test', 90)).complete();
    const asking = memory.open('honest.test');
    const taking = asking.take(20);
    asking.release();
    await expect(taking).rejects.toThrow();
    expect([asking.isWaiting(), memory.heldBytes]).toEqual([false, 90]);
  });

  test('a body whose own limit is larger is read nevertheless', async () => {
    const memory = new BodyMemory(100);
    await holding(memory, 'other.test', 90);
    const large = memory.open('large.test');
    large.expect(1_000);
    await large.take(900);
    expect(memory.heldBytes).toBe(990);
  });

  test('it is reported once, not for every abort', async () => {
    const onFull = vi.fn();
    const memory = new BodyMemory(100, onFull);
    for (let i = 0; i < 10; i += 1) await holding(memory, `site-${i}.test`, 60);
    expect(onFull).toHaveBeenCalledExactlyOnceWith(
      expect.objectContaining({ site: 'site-0.test', bytes: 60 }),
    );
  });
});

describe('a crowd of bombs that unfold at once and never end', () => {
  const BOMBS = 40;
  const BOMB_BYTES = 8 * MIB;
  const BUDGET = 96 * MIB;
  /** Sockets and streams; for br also four windows that are being filled, and what the allocator keeps. */
  const SLACK = { external: 48 * MIB, rss: 80 * MIB };
  const PAGE = Buffer.alloc(3 * MIB, 'honest ');

  setFlagsFromString('--expose-gc');
  /** After a collection: what is garbage is not held. Node counts buffers, but not the windows of br. */
  const allocated = (kind: 'external' | 'rss'): number => {
    runInNewContext('gc')();
    return process.memoryUsage()[kind];
  };

  test.each([
    ['gzip', 'external', (bytes: Buffer) => gzipSync(bytes, { finishFlush: constants.Z_SYNC_FLUSH })],
    [
      'br',
      'rss',
      (bytes: Buffer) => brotliCompressSync(bytes, { finishFlush: constants.BROTLI_OPERATION_FLUSH }),
    ],
  ] as const)(
    'holds no more than its share, and an honest site is not aborted (%s)',
    { timeout: 60_000 },
    async (encoding, kind, compress) => {
      const bomb = compress(Buffer.alloc(BOMB_BYTES, 'bomb '));
      const hostile = await httpServer((_, response) => {
        response.writeHead(200, { 'content-encoding': encoding });
        response.write(bomb);
      });
      const honest = await httpServer(async (_, response) => {
        for (let at = 0; at < PAGE.length; at += 128 * 1024) {
          response.write(PAGE.subarray(at, at + 128 * 1024));
          await sleep(20);
        }
        response.end();
      });
      const memory = new BodyMemory(BUDGET);
      const agent = loopbackAgent();
      const limits = { ...LIMITS, totalTimeoutMs: 50_000, maxBodyBytes: 10 * MIB };
      const before = allocated(kind);
      const peak = { counted: 0, allocated: 0 };
      const sample = (): void => {
        peak.counted = Math.max(peak.counted, memory.heldBytes);
        peak.allocated = Math.max(peak.allocated, allocated(kind) - before);
      };
      const sampling = setInterval(sample, 250);
      onTestFinished(() => clearInterval(sampling));
      const aborted = vi.fn();
      for (let i = 0; i < BOMBS; i += 1) {
        const fetch = memory.open(`hostile-${i % 20}.test`);
        fetch.signal.addEventListener('abort', aborted);
        void send(`http://127.0.0.1:${hostile}/${i}`, { agent, limits, memory: fetch });
      }
      const page = await sendForResponse(`http://127.0.0.1:${honest}/`, {
        agent,
        limits,
        memory: memory.open('honest.test'),
      });
      expect(page.body?.equals(PAGE)).toBe(true);
      await vi.waitFor(() => expect(aborted.mock.calls.length).toBeGreaterThan(BOMBS / 2), 40_000);
      sample();
      expect(peak.counted).toBeLessThanOrEqual(BUDGET);
      expect(peak.allocated).toBeLessThan(BUDGET + SLACK[kind]);
    },
  );
});

describe('a body', () => {
  test('counts until it is released, or at once no longer if it is not kept', async () => {
    const port = await httpServer((_, response) => response.end(Buffer.alloc(5_000)));
    const memory = new BodyMemory(MIB);
    const kept = memory.open('site.test');
    await sendForResponse(`http://127.0.0.1:${port}/`, { memory: kept });
    expect(memory.heldBytes).toBe(5_000);
    kept.release();
    expect(memory.heldBytes).toBe(0);
    const limits = { ...LIMITS, maxBodyBytes: 100 };
    await sendForResponse(`http://127.0.0.1:${port}/`, { memory: memory.open('site.test'), limits });
    expect(memory.heldBytes).toBe(0);
  });

  test('that times out while it waits for memory is not blamed on its site', async () => {
    const port = await httpServer((_, response) => response.end(Buffer.alloc(5_000)));
    const memory = new BodyMemory(10_000);
    const stored = memory.open('large.test');
    await stored.take(9_000);
    stored.complete();
    const failed = await sendForError(`http://127.0.0.1:${port}/`, {
      memory: memory.open('site.test'),
      limits: { headersTimeoutMs: 5_000, totalTimeoutMs: 300, maxBodyBytes: 5_000 },
    });
    expect(failed).toMatchObject({ errorKind: 'no-memory', status: 200 });
    expect(memory.heldBytes).toBe(9_000);
  });
});
