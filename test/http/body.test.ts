import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { gzipSync } from 'node:zlib';
import { describe, expect, test, vi } from 'vitest';
import { BodyMemory } from '../../src/http/index.ts';
import { LIMITS, sendForError, sendForResponse } from './support/fetching.ts';
import { httpServer, rawServer } from './support/servers.ts';

describe('a body over its limit', () => {
  const limits = { ...LIMITS, maxBodyBytes: 50_000 };

  test('is dropped unread if Content-Length reveals it', async () => {
    const server = await rawServer((socket) =>
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 50001\r\n\r\n'),
    );
    const response = await sendForResponse(`http://127.0.0.1:${server.port}/`, { limits });
    expect(response).toMatchObject({ body: null, bodyBytes: 0, cut: 'too-large' });
  });

  test('is cut while it streams if it never ends', async () => {
    const port = await httpServer((_, response) => {
      const more = (): void => {
        while (response.write('x'.repeat(10_000)) && !response.destroyed);
      };
      response.on('drain', more);
      more();
    });
    const response = await sendForResponse(`http://127.0.0.1:${port}/`, { limits });
    expect(response).toMatchObject({ body: null, cut: 'too-large' });
    expect(response.bodyBytes).toBeGreaterThan(limits.maxBodyBytes);
  });

  test('is cut before a gzip bomb unfolds', async () => {
    const bomb = gzipSync(Buffer.alloc(200_000_000));
    const port = await httpServer((_, response) => {
      response.setHeader('content-encoding', 'gzip');
      response.end(bomb);
    });
    const response = await sendForResponse(`http://127.0.0.1:${port}/`, { limits });
    expect(response).toMatchObject({ body: null, cut: 'too-large' });
    expect(response.bodyBytes).toBeLessThan(1_000_000);
  });

  test('is cut if it decodes to nothing forever', async () => {
    // Stored blocks of deflate without content: endless input without any output.
    const empty = Buffer.concat(Array(20_000).fill(Buffer.from([0, 0, 0, 0xff, 0xff])));
    const port = await httpServer((_, response) => {
      response.setHeader('content-encoding', 'deflate');
      const more = (): void => {
        while (response.write(empty) && !response.destroyed);
      };
      response.on('drain', more);
      more();
    });
    const response = await sendForResponse(`http://127.0.0.1:${port}/`, { limits });
    expect(response).toMatchObject({ body: null, cut: 'too-large', bodyBytes: 0 });
  });

  test('is cut if its gzip has more members than any honest one', async () => {
    const members = Buffer.concat(Array(10_000).fill(gzipSync('')));
    const port = await httpServer((_, response) => {
      response.setHeader('content-encoding', 'gzip');
      response.end(members);
    });
    const url = `http://127.0.0.1:${port}/`;
    expect(await sendForError(url)).toMatchObject({ errorKind: 'bad-encoding' });
  });

  test('is kept up to the limit on request', async () => {
    const port = await httpServer((_, response) => response.end('ab'.repeat(40_000)));
    const response = await sendForResponse(`http://127.0.0.1:${port}/`, { limits, tooLarge: 'truncate' });
    expect(response.cut).toBe('too-large');
    expect(response.body?.toString()).toBe('ab'.repeat(25_000));
  });

  test('is not one that is exactly at the limit', async () => {
    const port = await httpServer((_, response) => response.end('a'.repeat(50_000)));
    expect(await sendForResponse(`http://127.0.0.1:${port}/`, { limits })).toMatchObject({
      cut: null,
      bodyBytes: 50_000,
    });
  });
});

describe('a body of one-byte chunks', () => {
  /** Nearly as many as are read. */
  const BYTES = 190_000;

  test('costs memory in proportion to its bytes, not to its chunks', { timeout: 60_000 }, async () => {
    setFlagsFromString('--expose-gc');
    const held = (): number => {
      runInNewContext('gc')();
      const { heapUsed, external } = process.memoryUsage();
      return heapUsed + external;
    };
    const bodies = new BodyMemory(Number.POSITIVE_INFINITY);
    const chunks = Buffer.from('1\r\nx\r\n'.repeat(BYTES));
    const before = held();
    let end = (): void => {};
    const server = await rawServer((socket) => {
      socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n');
      socket.write(chunks);
      end = () => socket.end('0\r\n\r\n');
    });
    const responded = sendForResponse(`http://127.0.0.1:${server.port}/`, {
      memory: bodies.open('site.test'),
      limits: { headersTimeoutMs: 50_000, totalTimeoutMs: 50_000, maxBodyBytes: BYTES },
    });
    // Its buffer has grown to that once more than half of the chunks have arrived.
    await vi.waitFor(() => expect(bodies.heldBytes).toBe(BYTES), { timeout: 50_000 });
    const after = held();
    end();
    expect((await responded).body?.equals(Buffer.alloc(BYTES, 'x'))).toBe(true);
    expect(after - before).toBeLessThan(25 * BYTES);
  });
});
