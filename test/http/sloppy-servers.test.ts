/** Responses that break a rule of HTTP. Browsers accept them all; undici's parser is strict and has no option for it. */
import { brotliCompressSync, crc32, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { loopbackAgent, sendForError, sendForResponse, untilFree } from './support/fetching.ts';
import { type RawServer, rawServer } from './support/servers.ts';

async function respondWith(...parts: (string | Buffer)[]): Promise<{ url: string; server: RawServer }> {
  const server = await rawServer((socket) => {
    for (const part of parts) socket.write(part);
  });
  return { url: `http://127.0.0.1:${server.port}/`, server };
}

/** Optional fields that servers which compress files leave in: FEXTRA, FNAME, FCOMMENT and FHCRC (RFC 1952). */
function withHeaderFields(member: Buffer): Buffer {
  const header = Buffer.from(member.subarray(0, 10));
  header[3] = 0x1e;
  const fields = Buffer.concat([header, Buffer.from('\x03\x00abcpage.html\0comment\0', 'latin1')]);
  const checksum = Buffer.alloc(2);
  checksum.writeUInt16LE(crc32(fields) & 0xffff);
  return Buffer.concat([fields, checksum, member.subarray(header.length)]);
}

/** Inside the first part, right after it, and a byte later. */
function splits([first = Buffer.alloc(0), ...rest]: readonly Buffer[]): number[] {
  const { length } = first;
  return [5, length - 3, ...(rest.length === 0 ? [] : [length, length + 1])];
}

const OK = 'HTTP/1.1 200 OK\r\n';
const HI = 'Content-Length: 2\r\n\r\nhi';

describe('a response is accepted', () => {
  test.each([
    ['without a reason phrase', `HTTP/1.1 200\r\n${HI}`],
    ['with one beyond ASCII', `HTTP/1.1 200 Gr\u00fc\u00df\r\n${HI}`],
    ['after hints', `HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n${OK}${HI}`],
    ['after an empty line', `\r\n${OK}${HI}`],
    ['with more bytes than announced', `${OK}${HI} there`],
  ])('%s', async (_, raw) => {
    const { url } = await respondWith(Buffer.from(raw, 'latin1'));
    const { status, body } = await sendForResponse(url);
    expect([status, body?.toString()]).toEqual([200, 'hi']);
  });

  const garbage = Buffer.from('<!-- cached -->');
  const member = gzipSync('hi');
  test.each([
    ['zero bytes after its gzip', 'gzip', [member, Buffer.alloc(8)]],
    ['text after its gzip', 'gzip', [member, garbage]],
    ['half the magic number of gzip after it', 'gzip', [member, Buffer.from([0x1f, 0x8b])]],
    ['more text than one read after its gzip', 'gzip', [member, Buffer.alloc(300_000, 'x')]],
    ['text after its deflate', 'deflate', [deflateSync('hi'), garbage]],
    ['text after its raw deflate', 'deflate', [deflateRawSync('hi'), garbage]],
    ['text after its br', 'br', [brotliCompressSync('hi'), garbage]],
    ['more text than one read after its br', 'br', [brotliCompressSync('hi'), Buffer.alloc(300_000, 'x')]],
    ['text after a gzip within another', 'gzip, gzip', [gzipSync(Buffer.concat([member, garbage])), garbage]],
    ['a name and an extra field in its gzip', 'gzip', [withHeaderFields(member)]],
    ['its text in several gzip members', 'gzip', [gzipSync('h'), gzipSync(''), gzipSync('i'), garbage]],
  ])('with %s, however it is split', { timeout: 20_000 }, async (_, encoding, parts) => {
    const body = Buffer.concat(parts);
    const head = `${OK}Content-Encoding: ${encoding}\r\nContent-Length: ${body.length}\r\n\r\n`;
    for (const at of [body.length, ...splits(parts)]) {
      const server = await rawServer((socket) => {
        socket.setNoDelay();
        socket.write(Buffer.concat([Buffer.from(head), body.subarray(0, at)]));
        setTimeout(() => socket.write(body.subarray(at)), 20);
      });
      const { body: decoded } = await sendForResponse(`http://127.0.0.1:${server.port}/`);
      expect(decoded?.toString(), `split at ${at}`).toBe('hi');
    }
  });

  test.each([304, 204])('that has a Content-Length and, as a %d, no body', async (status) => {
    const { url } = await respondWith(`HTTP/1.1 ${status} X\r\nContent-Length: 5000\r\nETag: "a"\r\n\r\n`);
    const agent = loopbackAgent();
    for (const _ of ['first', 'second'])
      expect(await sendForResponse(url, { agent })).toMatchObject({
        status,
        body: Buffer.alloc(0),
        bodyBytes: 0,
        cut: null,
        headers: { etag: '"a"' },
      });
  });

  test('as a 304 without a length, and its connection is reused', async () => {
    const { url, server } = await respondWith('HTTP/1.1 304 X\r\nETag: "a"\r\n\r\n');
    const agent = loopbackAgent();
    expect(await sendForResponse(url, { agent })).toMatchObject({ status: 304, bodyBytes: 0 });
    await untilFree(agent);
    expect(await sendForResponse(url, { agent })).toMatchObject({ status: 304, bodyBytes: 0 });
    expect(server.connections()).toBe(1);
  });

  test.each([
    ['/a', '/a'],
    ['/a', '/b'],
  ])('with two Location headers, of which the first counts: %s and %s', async (first, second) => {
    const { url } = await respondWith(
      `HTTP/1.1 301 X\r\nLocation: ${first}\r\nLocation: ${second}\r\nContent-Length: 0\r\n\r\n`,
    );
    expect((await sendForResponse(url)).headers.location).toBe(first);
  });
});

describe('a response in more pieces than an honest one has is refused', () => {
  const chunks = (count: number) => '1\r\nx\r\n'.repeat(count);
  const CHUNKED = `${OK}Transfer-Encoding: chunked\r\n\r\n`;

  test.each([
    ['interim responses without an end', 'HTTP/1.1 102 Processing\r\n\r\n'.repeat(101), 'interim responses'],
    ['a body of single bytes', `${CHUNKED}${chunks(200_001)}`, 'pieces of a body'],
  ])('%s', async (_, raw, what) => {
    const { url, server } = await respondWith(raw);
    const { errorKind, message } = await sendForError(url);
    expect([errorKind, message]).toEqual(['bad-response', `127.0.0.1:${server.port} sent too many ${what}.`]);
  });

  test('but not one that trickles', async () => {
    const { url } = await respondWith(`${CHUNKED}${chunks(20_000)}0\r\n\r\n`);
    expect((await sendForResponse(url)).bodyBytes).toBe(20_000);
  });
});

describe('a response is refused by the parser', () => {
  test.each([
    ['with a folded header', `${OK}X-A: one\r\n two\r\n${HI}`, 'bad-response'],
    ['after an unsolicited 100 Continue', `HTTP/1.1 100 Continue\r\n\r\n${OK}${HI}`, 'reset'],
    ['with bare line feeds', `${OK}${HI}`.replaceAll('\r', ''), 'bad-response'],
    ['with the same Content-Length twice', `${OK}Content-Length: 2\r\n${HI}`, 'truncated'],
    ['with a space before a colon', `${OK}X-A : b\r\n${HI}`, 'bad-response'],
    ['with a line without a colon', `${OK}nonsense\r\n${HI}`, 'bad-response'],
    [
      'with both a length and chunks',
      `${OK}Transfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n2\r\nhi\r\n0\r\n\r\n`,
      'bad-response',
    ],
  ])('%s', async (_, raw, errorKind) => {
    const { url } = await respondWith(raw);
    expect(await sendForError(url)).toMatchObject({ errorKind });
  });
});
