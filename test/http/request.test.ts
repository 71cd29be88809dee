import { once } from 'node:events';
import { setImmediate as nextTurn } from 'node:timers/promises';
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
    expect(response.durationMs).toBeGreaterThanOrEqual(response.latencyMs);
  });

  test('keeps the lines of X-Robots-Tag separate, so that a name in one does not apply to the next', async () => {
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

  test('encoded twice is decoded in reverse order', async () => {
    const port = await httpServer((_, response) => {
      response.setHeader('content-encoding', 'gzip, br');
      response.end(brotliCompressSync(gzipSync('twice')));
    });
    const response = await sendForResponse(`http://127.0.0.1:${port}/`);
    expect(response.body?.toString()).toBe('twice');
  });

  test('without a body has an empty one, whatever encoding it announces', async () => {
    const port = await httpServer((_, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip', 'content-length': '0' });
      response.end();
    });
    expect((await sendForResponse(`http://127.0.0.1:${port}/`)).body).toEqual(Buffer.alloc(0));
  });

  test('that redirects is reported, not followed', async () => {
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

  test('after 103 Early Hints is the final one', async () => {
    const port = await httpServer((_, response) => {
      response.writeEarlyHints({ link: '</style.css>; rel=preload' });
      response.end('page');
    });
    expect(await sendForResponse(`http://127.0.0.1:${port}/`)).toMatchObject({ status: 200, bodyBytes: 4 });
  });

  test('with an unwanted body is cut as soon as its headers arrive', async () => {
    const port = await httpServer((_, response) => {
      response.setHeader('content-type', 'video/mp4');
      response.write('never ending');
    });
    const response = await sendForResponse(`http://127.0.0.1:${port}/`, {
      acceptBody: (status, headers) => status === 200 && headers['content-type'] === 'text/html',
    });
    expect(response).toMatchObject({ status: 200, body: null, bodyBytes: 0, cut: 'unwanted' });
  });

  test('that is cut does not make undici open another, unused connection', async () => {
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
    // undici would connect again in the turn of the event loop in which the connection closes.
    await nextTurn();
    expect([lookups, server.connections()]).toEqual([1, 1]);
    await sendForResponse(`http://named.test:${server.port}/next`, { agent, acceptBody: () => false });
    expect([lookups, server.connections()]).toEqual([2, 2]);
  });

  test('is read no further if its first bytes are unwanted', async () => {
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

  test('shorter than that is checked as a whole, decoded', async () => {
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

  test('leaves its connection open for the next request', async () => {
    const server = await rawServer((socket) => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx'));
    const agent = loopbackAgent();
    await sendForResponse(`http://127.0.0.1:${server.port}/1`, { agent });
    await untilFree(agent);
    await sendForResponse(`http://127.0.0.1:${server.port}/2`, { agent });
    expect(server.connections()).toBe(1);
  });
});

describe('a request times out', () => {
  test('if the headers do not arrive', async () => {
    const server = await rawServer(() => {});
    const failed = await sendForError(`http://127.0.0.1:${server.port}/`, {
      limits: { ...LIMITS, headersTimeoutMs: 50 },
    });
    expect(failed).toMatchObject({ errorKind: 'first-byte-timeout', startedAt: STARTED_AT });
    expect(failed.message).toBe(`127.0.0.1:${server.port} did not answer within 0.05 s.`);
  });

  test('if the body never ends', async () => {
    const port = await httpServer((_, response) => {
      const drip = setInterval(() => response.write('.'), 5);
      response.on('close', () => clearInterval(drip));
    });
    const failed = await sendForError(`http://127.0.0.1:${port}/`, {
      limits: { ...LIMITS, totalTimeoutMs: 1_000 },
    });
    expect(failed).toMatchObject({ errorKind: 'timeout', status: 200 });
  });

  test('if the name is never resolved', async () => {
    const agent = loopbackAgent({ connectTimeoutMs: 50, lookup: () => new Promise(() => {}) });
    const failed = await sendForError('http://slow.test/', { agent });
    expect(failed).toMatchObject({ errorKind: 'connect-timeout', startedAt: null });
    expect(failed.message).toBe('Connecting to slow.test timed out.');
  });
});

describe('a request that is aborted', () => {
  test('before it starts does not connect', async () => {
    const server = await rawServer(() => {});
    const failed = await sendForError(`http://127.0.0.1:${server.port}/`, { signal: AbortSignal.abort() });
    expect(failed).toMatchObject({ errorKind: 'aborted', startedAt: null });
    expect(server.connections()).toBe(0);
  });

  test('while connecting writes nothing, even if the connection succeeds later', async () => {
    const server = await rawServer(() => {});
    const controller = new AbortController();
    let finishLookup = (): void => {};
    const agent = loopbackAgent({
      lookup: () => {
        controller.abort();
        return new Promise((resolve) => {
          finishLookup = () => resolve([{ address: '127.0.0.1', family: 4 }]);
        });
      },
    });
    const connected = new Promise<void>((resolve) => void agent.once('connect', () => resolve()));
    const failed = await sendForError(`http://late.test:${server.port}/`, {
      agent,
      signal: controller.signal,
    });
    expect(failed).toMatchObject({ errorKind: 'aborted', startedAt: null });
    finishLookup();
    await connected;
    await agent.close();
    expect(server.received()).toBe('');
  });

  test('in the middle of the body counts as started', async () => {
    const controller = new AbortController();
    const port = await httpServer((_, response) => response.write('half'));
    const failed = await sendForError(`http://127.0.0.1:${port}/`, {
      signal: controller.signal,
      acceptBody: () => {
        setImmediate(() => controller.abort());
        return true;
      },
    });
    expect(failed).toMatchObject({ errorKind: 'aborted', startedAt: STARTED_AT, status: 200 });
  });
});
