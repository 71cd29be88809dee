import https from 'node:https';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { describeFailure } from '../../src/http/failure.ts';
import { CERTIFICATE, PRIVATE_KEY } from './support/certificate.ts';
import { loopbackAgent, STARTED_AT, send, sendForError } from './support/fetching.ts';
import { closedPort, httpServer, listen, rawServer } from './support/servers.ts';

describe('the error distinguishes, in a sentence for people,', () => {
  test('a refused connection', async () => {
    const port = await closedPort();
    const failed = await sendForError(`http://127.0.0.1:${port}/`);
    expect(failed).toMatchObject({ errorKind: 'refused', startedAt: null });
    expect(failed.message).toBe(`The connection to 127.0.0.1:${port} was refused.`);
  });

  test('a name whose addresses all refuse', async () => {
    const port = await closedPort();
    const addresses = ['127.0.0.1', '127.0.0.2'].map((address) => ({ address, family: 4 }));
    const agent = loopbackAgent({ lookup: async () => addresses });
    const failed = await sendForError(`http://two.test:${port}/`, { agent });
    expect(failed).toMatchObject({ errorKind: 'refused', startedAt: null });
  });

  test('a name that does not exist', async () => {
    const notFound = Object.assign(new Error('getaddrinfo ENOTFOUND nowhere.test'), { code: 'ENOTFOUND' });
    const agent = loopbackAgent({ lookup: () => Promise.reject(notFound) });
    const failed = await sendForError('http://nowhere.test/', { agent });
    expect(failed).toMatchObject({ errorKind: 'dns', startedAt: null });
    expect(failed.message).toBe('There is no host named nowhere.test (ENOTFOUND).');
  });

  test('a connection closed without an answer', async () => {
    const server = await rawServer((socket) => socket.end());
    const failed = await sendForError(`http://127.0.0.1:${server.port}/`);
    expect(failed).toMatchObject({ errorKind: 'reset', startedAt: STARTED_AT });
  });

  test('a connection reset before an answer', async () => {
    const server = await rawServer((socket) => socket.resetAndDestroy());
    const failed = await sendForError(`http://127.0.0.1:${server.port}/`);
    expect(failed).toMatchObject({ errorKind: 'reset', startedAt: STARTED_AT });
    expect(failed.message).toBe(`127.0.0.1:${server.port} reset the connection before it answered.`);
  });

  test.each([
    ['Content-Length', 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf'],
    ['chunked', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n64\r\nhalf'],
    [
      'chunked, closed',
      'HTTP/1.1 200 OK\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n64\r\nhalf',
    ],
    ['closed', 'HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 100\r\n\r\nhalf'],
  ])('a body that ends too early (%s)', async (_, answer) => {
    const server = await rawServer((socket) => socket.end(answer));
    const failed = await sendForError(`http://127.0.0.1:${server.port}/`);
    expect(failed).toMatchObject({ errorKind: 'truncated', status: 200, startedAt: STARTED_AT });
  });

  const compressed = gzipSync('something to read'.repeat(100));
  test.each([
    ['in its data', 'truncated', compressed.subarray(0, -12)],
    ['in its checksum', 'truncated', compressed.subarray(0, -1)],
    ['in its header', 'truncated', compressed.subarray(0, 7)],
    ['in a second member', 'truncated', Buffer.concat([compressed, compressed.subarray(0, -12)])],
    ['in the header of a second member', 'truncated', Buffer.concat([compressed, compressed.subarray(0, 7)])],
    ['with a wrong checksum', 'bad-encoding', Buffer.concat([compressed.subarray(0, -8), Buffer.alloc(8)])],
    ['with a wrong size', 'bad-encoding', Buffer.concat([compressed.subarray(0, -4), Buffer.alloc(4)])],
  ])('a gzip body that ends %s', async (_, errorKind, body) => {
    const port = await httpServer((_, response) => {
      response.setHeader('content-encoding', 'gzip');
      response.end(body);
    });
    expect(await sendForError(`http://127.0.0.1:${port}/`)).toMatchObject({ errorKind, status: 200 });
  });

  test.each([
    ['br', brotliCompressSync],
    ['deflate', deflateSync],
  ])('a %s body that ends too early', async (encoding, compress) => {
    const port = await httpServer((_, response) => {
      response.setHeader('content-encoding', encoding);
      response.end(compress('something to read').subarray(0, -5));
    });
    expect(await sendForError(`http://127.0.0.1:${port}/`)).toMatchObject({ errorKind: 'truncated' });
  });

  test.each(['gzip', 'br', 'deflate'])('a body that is not the %s it claims to be', async (encoding) => {
    const port = await httpServer((_, response) => {
      response.setHeader('content-encoding', encoding);
      response.end('<html>plainly not compressed</html>');
    });
    const failed = await sendForError(`http://127.0.0.1:${port}/`);
    expect(failed).toMatchObject({
      errorKind: 'bad-encoding',
      message: expect.stringContaining('is damaged'),
    });
  });

  test('more nested encodings than an honest server uses', async () => {
    const port = await httpServer((_, response) => {
      response.setHeader('content-encoding', 'gzip, gzip, gzip');
      response.end('?');
    });
    expect(await sendForError(`http://127.0.0.1:${port}/`)).toMatchObject({ errorKind: 'bad-encoding' });
  });

  test('an encoding that was not asked for', async () => {
    const port = await httpServer((_, response) => {
      response.setHeader('content-encoding', 'zstd');
      response.end('?');
    });
    const failed = await sendForError(`http://127.0.0.1:${port}/`);
    expect(failed).toMatchObject({ errorKind: 'bad-encoding', message: expect.stringContaining('"zstd"') });
  });

  test('a response that is not HTTP', async () => {
    const server = await rawServer((socket) => socket.end('220 mail.test ESMTP ready\r\n'));
    const failed = await sendForError(`http://127.0.0.1:${server.port}/`);
    expect(failed).toMatchObject({
      errorKind: 'bad-response',
      message: expect.stringContaining('not valid HTTP'),
    });
  });

  test('endless headers', async () => {
    const server = await rawServer((socket) => {
      socket.write('HTTP/1.1 200 OK\r\n');
      const more = (): void => {
        while (!socket.destroyed && socket.write(`x-more: ${'y'.repeat(1_000)}\r\n`));
      };
      socket.on('drain', more);
      more();
    });
    const failed = await sendForError(`http://127.0.0.1:${server.port}/`);
    expect(failed).toMatchObject({
      errorKind: 'headers-too-large',
      message: expect.stringContaining('too large'),
    });
  });

  test('an untrusted certificate', async () => {
    const server = https.createServer({ cert: CERTIFICATE, key: PRIVATE_KEY });
    const port = await listen(server);
    const agent = loopbackAgent({ resolve: { 'secure.test': '127.0.0.1' } });
    const failed = await sendForError(`https://secure.test:${port}/`, { agent });
    expect(failed).toMatchObject({ errorKind: 'tls', startedAt: null });
  });

  test('a certificate for another name', async () => {
    const server = https.createServer({ cert: CERTIFICATE, key: PRIVATE_KEY });
    const port = await listen(server);
    const agent = loopbackAgent({ ca: CERTIFICATE, resolve: { 'other.test': '127.0.0.1' } });
    expect(await sendForError(`https://other.test:${port}/`, { agent })).toMatchObject({ errorKind: 'tls' });
  });

  test('HTTPS on a port that only serves HTTP', async () => {
    const port = await httpServer((_, response) => response.end());
    expect(await sendForError(`https://127.0.0.1:${port}/`)).toMatchObject({
      errorKind: 'tls',
      startedAt: null,
    });
  });

  test('a connection closed during the handshake', async () => {
    const server = await rawServer((socket) => socket.end());
    expect(await sendForError(`https://127.0.0.1:${server.port}/`)).toMatchObject({
      errorKind: 'tls',
      startedAt: null,
    });
  });
});

describe('a request that we built wrongly', () => {
  test.each([
    ['user-agent', 'Amble\r\nX-Evil: 1'],
    ['user-agent', 'Amble ☃'],
    ['if-none-match', '"a\u007f"'],
    ['bad name', 'x'],
  ])('is an error of ours and not of the site: %s %j', async (name, value) => {
    let connections = 0;
    const server = await rawServer(() => {
      connections += 1;
    });
    const sent = send(`http://127.0.0.1:${server.port}/`, { headers: { [name]: value } });
    await expect(sent).rejects.toThrow(`The request to 127.0.0.1:${server.port} was malformed: invalid`);
    expect(connections).toBe(0);
  });

  test('does not count as waiting for a connection', async () => {
    const agent = loopbackAgent();
    await expect(send('http://127.0.0.1:9/', { agent, headers: { a: '\n' } })).rejects.toThrow('malformed');
    expect(agent.pending.has('http://127.0.0.1:9')).toBe(false);
  });
});

test('a message of a library is stored without what Postgres refuses', () => {
  const { message } = describeFailure(new Error('a\0b\ud800\nc'), { host: 'a.test', phase: 'waiting' });
  expect(message).toBe('The request to a.test failed: a\ufffdb\ufffd.');
});
