import { once } from 'node:events';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { headerLines } from '../../src/http/index.ts';
import {
  LIMITS,
  loopbackAgent,
  STARTED_AT,
  sendForError,
  sendForResponse,
  untilFree,
} from './support/fetching.ts';
import { httpServer, rawServer } from './support/servers.ts';

describe('a response', () => {
  test('comes with lower-case headers, repeated ones joined', async () => {
    const server = await rawServer((socket) =>
      socket.write(
        'HTTP/1.1 404 No\r\nX-Thing: a\r\nx-thing: b\r\nContent-Type: text/plain\r\nContent-Length: 3\r\n\r\nhey',
      ),
    );
    const response = await sendForResponse(`http://127.0.0.1:${server.port}/`);
    expect(response.status).toBe(404);
    expect(response.headers).toMatchObject({ 'x-thing': 'a, b', 'content-type': 'text/plain' });
    expect(response.body?.toString()).toBe('hey');
    expect(response.bodyBytes).toBe(3);
    expect(response.tookMs).toBeGreaterThanOrEqual(response.latencyMs);
  });

  test('keeps the lines of X-Robots-Tag apart: a name at the start of one does not hold for the next', async () => {
    const port = await httpServer((_, response) => {
      response.writeHead(200, { 'X-Robots-Tag': ['otherbot: noindex, nofollow', 'noarchive'] });
      response.end();
    });
    const { headers } = await sendForResponse(`http://127.0.0.1:${port}/`);
    expect(headerLines(headers, 'x-robots-tag')).toEqual(['otherbot: noindex, nofollow', 'noarchive']);
    expect(headerLines(headers, 'x-absent')).toEqual([]);
  });

  test.each([
    ['gzip', gzipSync],
    ['br', brotliCompressSync],
    ['deflate', deflateSync],
    ['deflate', deflateRawSync],
    ['identity', (text: string) => Buffer.from(text)],
  ])('encoded as %s is decoded', async (encoding, encode) => {
    const text = 'a long walk '.repeat(10_000);
    const port = await httpServer((_, response) => {
      response.setHeader('content-encoding', encoding);
      response.end(encode(text));
    });
    const response = await sendForResponse(`http://127.0.0.1:${port}/`);
    expect(response.body?.toString()).toBe(text);
    expect(response.bodyBytes).toBe(text.length);
  });

  test('encoded twice is decoded in the reverse order', async () => {
    const port = await httpServer((_, response) => {
      response.setHeader('content-encoding', 'gzip, br');
      response.end(brotliCompressSync(gzipSync('twice')));
    });
    const response = await sendForResponse(`http://127.0.0.1:${port}/`);
    expect(response.body?.toString()).toBe('twice');
  });

  test('without a body is an empty one, whatever encoding it announces', async () => {
    const port = await httpServer((_, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip', 'content-length': '0' });
      response.end();
    });
    expect((await sendForResponse(`http://127.0.0.1:${port}/`)).body).toEqual(Buffer.alloc(0));
  });

  test('is a redirect that is reported, not followed', async () => {
    const paths: (string | undefined)[] = [];
    const port = await httpServer((request, response) => {
      paths.push(request.url);
      response.writeHead(301, { location: '/elsewhere' });
      response.end();
    });
    const response = await sendForResponse(`http://127.0.0.1:${port}/here`);
    expect(response).toMatchObject({ status: 301, headers: { location: '/elsewhere' } });
    expect(paths).toEqual(['/here']);
  });

  test('after 103 Early Hints is the real one', async () => {
    const port = await httpServer((_, response) => {
      response.writeEarlyHints({ link: '</style.css>; rel=preload' });
      response.end('page');
    });
    expect(await sendForResponse(`http://127.0.0.1:${port}/`)).toMatchObject({ status: 200, bodyBytes: 4 });
  });

  test('whose body nobody wants is cut off as soon as its headers say so', async () => {
    const port = await httpServer((_, response) => {
      response.setHeader('content-type', 'video/mp4');
      response.write('never ending');
    });
    const response = await sendForResponse(`http://127.0.0.1:${port}/`, {
      acceptBody: (status, headers) => status === 200 && headers['content-type'] === 'text/html',
    });
    expect(response).toMatchObject({ status: 200, body: null, bodyBytes: 0, cut: 'unwanted' });
  });

  test('that is cut off has the site see no connection more, which nobody would use', async () => {
    const server = await rawServer((socket) =>
      socket.write(`HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf`),
    );
    let lookups = 0;
    const agent = loopbackAgent({
      async lookup() {
        lookups += 1;
        return [{ address: '127.0.0.1', family: 4 }];
      },
    });
    const disconnected = once(agent, 'disconnect');
    await sendForResponse(`http://named.test:${server.port}/`, { agent, acceptBody: () => false });
    await disconnected;
    // undici would connect again in the turn of the event loop in which the connection is gone.
    await nextTurn();
    expect([lookups, server.connections()]).toEqual([1, 1]);
    await sendForResponse(`http://named.test:${server.port}/next`, { agent, acceptBody: () => false });
    expect([lookups, server.connections()]).toEqual([2, 2]);
  });

  test('whose first bytes have to be seen is read no further when they are not wanted', async () => {
    const heads: Buffer[] = [];
    const port = await httpServer((_, response) => {
      const more = (): void => {
        while (response.write('x'.repeat(1_000)) && !response.destroyed);
      };
      response.on('drain', more);
      more();
    });
    const response = await sendForResponse(`http://127.0.0.1:${port}/`, {
      acceptBody: () => (head) => {
        heads.push(head);
        return false;
      },
    });
    expect(response.cut).toBe('unwanted');
    expect(response.body?.subarray(0, 1_445)).toEqual(heads[0]);
    expect(heads.map((head) => head.toString())).toEqual(['x'.repeat(1_445)]);
  });

  test('shorter than that is judged whole, decoded', async () => {
    const port = await httpServer((_, response) => {
      response.setHeader('content-encoding', 'gzip');
      response.end(gzipSync('short'));
    });
    const send = (wanted: string) =>
      sendForResponse(`http://127.0.0.1:${port}/`, {
        acceptBody: () => (head) => head.toString() === wanted,
      });
    expect(await send('short')).toMatchObject({ cut: null, bodyBytes: 5 });
    expect(await send('long')).toMatchObject({ cut: 'unwanted' });
  });

  test('leaves its connection to the next request', async () => {
    const server = await rawServer((socket) => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx'));
    const agent = loopbackAgent();
    await sendForResponse(`http://127.0.0.1:${server.port}/1`, { agent });
    await untilFree(agent);
    await sendForResponse(`http://127.0.0.1:${server.port}/2`, { agent });
    expect(server.connections()).toBe(1);
  });
});

describe('a body over its limit', () => {
  const limits = { ...LIMITS, maxBodyBytes: 50_000 };

  test('is dropped unread when Content-Length gives it away', async () => {
    const server = await rawServer((socket) =>
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 50001\r\n\r\n'),
    );
    const response = await sendForResponse(`http://127.0.0.1:${server.port}/`, { limits });
    expect(response).toMatchObject({ body: null, bodyBytes: 0, cut: 'too-large' });
  });

  test('is cut as it streams when it never ends', async () => {
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

  test('is cut when it decodes to nothing for ever', async () => {
    // Stored blocks of deflate without content: input without end that makes no output.
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

  test('is kept up to the limit where that is asked for', async () => {
    const port = await httpServer((_, response) => response.end('ab'.repeat(40_000)));
    const response = await sendForResponse(`http://127.0.0.1:${port}/`, { limits, tooLarge: 'truncate' });
    expect(response.cut).toBe('too-large');
    expect(response.body?.toString()).toBe('ab'.repeat(25_000));
  });

  test('exactly at the limit is whole', async () => {
    const port = await httpServer((_, response) => response.end('a'.repeat(50_000)));
    expect(await sendForResponse(`http://127.0.0.1:${port}/`, { limits })).toMatchObject({
      cut: null,
      bodyBytes: 50_000,
    });
  });
});

describe('a body of one-byte chunks', () => {
  // Loopback holds a few MiB that nobody has read yet; what is sent is several times that.
  const BYTES = 4 * 2 ** 20;

  test('costs memory in proportion to its bytes, not to its chunks', { timeout: 60_000 }, async () => {
    setFlagsFromString('--expose-gc');
    const held = (): number => {
      runInNewContext('gc')();
      const { heapUsed, external } = process.memoryUsage();
      return heapUsed + external;
    };
    const chunks = Buffer.from('1\r\nx\r\n'.repeat(BYTES));
    const before = held();
    let after = Number.POSITIVE_INFINITY;
    const server = await rawServer((socket) => {
      socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n');
      socket.write(chunks, () => {
        after = held();
        socket.end('0\r\n\r\n');
      });
    });
    const { body } = await sendForResponse(`http://127.0.0.1:${server.port}/`, {
      limits: { headersTimeoutMs: 50_000, totalTimeoutMs: 50_000, maxBodyBytes: BYTES },
    });
    expect(body?.equals(Buffer.alloc(BYTES, 'x'))).toBe(true);
    expect(after - before).toBeLessThan(8 * BYTES);
  });
});

describe('time runs out', () => {
  test('when the headers do not come', async () => {
    const server = await rawServer(() => {});
    const failed = await sendForError(`http://127.0.0.1:${server.port}/`, {
      limits: { ...LIMITS, headersTimeoutMs: 50 },
    });
    expect(failed).toMatchObject({ errorKind: 'first-byte-timeout', startedAt: STARTED_AT });
    expect(failed.message).toBe(`127.0.0.1:${server.port} did not answer within 0.05 s.`);
  });

  test('when the body drips for ever', async () => {
    const port = await httpServer((_, response) => {
      const drip = setInterval(() => response.write('.'), 5);
      response.on('close', () => clearInterval(drip));
    });
    const failed = await sendForError(`http://127.0.0.1:${port}/`, {
      limits: { ...LIMITS, totalTimeoutMs: 100 },
    });
    expect(failed).toMatchObject({ errorKind: 'timeout', status: 200 });
  });

  test('when the name is never looked up', async () => {
    const agent = loopbackAgent({ connectTimeoutMs: 50, lookup: () => new Promise(() => {}) });
    const failed = await sendForError('http://slow.test/', { agent });
    expect(failed).toMatchObject({ errorKind: 'connect-timeout', startedAt: null });
    expect(failed.message).toBe('No connection to slow.test in the time allowed.');
  });
});

describe('called off', () => {
  test('before it begins, nothing is contacted', async () => {
    const server = await rawServer(() => {});
    const failed = await sendForError(`http://127.0.0.1:${server.port}/`, { signal: AbortSignal.abort() });
    expect(failed).toMatchObject({ errorKind: 'aborted', startedAt: null });
    expect(server.connections()).toBe(0);
  });

  test('while connecting, nothing is written even if the connection then comes about', async () => {
    const server = await rawServer(() => {});
    const calledOff = new AbortController();
    let finishLookup = (): void => {};
    const agent = loopbackAgent({
      lookup: () => {
        calledOff.abort();
        return new Promise((resolve) => {
          finishLookup = () => resolve([{ address: '127.0.0.1', family: 4 }]);
        });
      },
    });
    const connected = new Promise<void>((resolve) => void agent.once('connect', () => resolve()));
    const failed = await sendForError(`http://late.test:${server.port}/`, {
      agent,
      signal: calledOff.signal,
    });
    expect(failed).toMatchObject({ errorKind: 'aborted', startedAt: null });
    finishLookup();
    await connected;
    await agent.close();
    expect(server.received()).toBe('');
  });

  test('in the middle of the body, the request counts as started', async () => {
    const calledOff = new AbortController();
    const port = await httpServer((_, response) => response.write('half'));
    const failed = await sendForError(`http://127.0.0.1:${port}/`, {
      signal: calledOff.signal,
      acceptBody: () => {
        setImmediate(() => calledOff.abort());
        return true;
      },
    });
    expect(failed).toMatchObject({ errorKind: 'aborted', startedAt: STARTED_AT, status: 200 });
  });
});
