/**
 * The oddities of the network layer, one row each: what a server does, and how the page must end. They are raw bytes, because no
 * library would send most of them.
 */
import type { Socket } from 'node:net';
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import type { FinalStatus, Outcome } from '../../../src/core/outcome.ts';

export interface Expected {
  status: FinalStatus;
  outcome: Outcome;
  errorKind: string | null;
  reason: RegExp | null;
}

export interface Oddity {
  name: string;
  /** Responds to one request. The connection stays open unless this closes it. */
  serve: (socket: Socket, path: string) => void;
  expected: Expected;
}

/** Limits of the crawl, small enough to be reached in a test. */
export const LIMITS = {
  connectTimeout: '1s',
  headersTimeout: '1s',
  totalTimeout: '2s',
  maxBodySize: '100KiB',
};
const MAX_BODY_BYTES = 100 * 1024;

export const KEEP_TYPES = 'image/*';

const fetched: Expected = { status: 'Fetched', outcome: 'Success', errorKind: null, reason: null };

export function rejected(errorKind: string, reason: RegExp): Expected {
  return { status: 'Rejected', outcome: 'Rejected', errorKind, reason };
}

export function failed(errorKind: string, reason: RegExp): Expected {
  return { status: 'Failed', outcome: 'Failed', errorKind, reason };
}

export function timedOut(errorKind: string, reason: RegExp): Expected {
  return { status: 'Failed', outcome: 'Timeout', errorKind, reason };
}

const HTML = '<!DOCTYPE html><title>Found</title><p>Text';

/** Parsed as HTML it would be a single script, without title and links. */
const XHTML = `<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><head><script src="a.js"/>
  <title>Found</title></head><body><a href="/linked">x</a></body></html>`;

const PNG = Buffer.from('\x89PNG\r\n\x1a\n\0\0\0\rIHDR', 'latin1');

export const ODDITIES: readonly Oddity[] = [
  // Framing
  answers('http-1-0', head('HTTP/1.0 200 OK', 'Content-Type: text/html'), HTML, fetched, 'close'),
  answers('no-reason-phrase', head('HTTP/1.1 200', ...length(HTML)), HTML, fetched),
  answers(
    'headers-in-odd-case',
    head('HTTP/1.1 200 OK', 'cOnTeNt-TyPe:TEXT/html', `CONTENT-LENGTH:   ${HTML.length}`),
    HTML,
    fetched,
  ),
  answers('early-hints-first', `HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\n${ok()}`, HTML, fetched),
  answers('more-than-content-length', ok(), `${HTML} and some more`, fetched),
  answers(
    'less-than-content-length',
    head('HTTP/1.1 200 OK', 'Content-Type: text/html', 'Content-Length: 1000'),
    HTML,
    failed('truncated', /closed the connection in the middle|not as long as its Content-Length/),
    'close',
  ),
  answers(
    'chunks-that-stop',
    head('HTTP/1.1 200 OK', 'Content-Type: text/html', 'Transfer-Encoding: chunked'),
    '100\r\nhalf a chunk',
    failed('truncated', /closed the connection in the middle of the body/),
    'close',
  ),
  answers(
    'chunks-without-a-length',
    head('HTTP/1.1 200 OK', 'Content-Type: text/html', 'Transfer-Encoding: chunked'),
    'nonsense\r\n',
    failed('bad-response', /is not valid HTTP/),
  ),
  answers(
    'two-content-lengths',
    head('HTTP/1.1 200 OK', 'Content-Length: 5', 'Content-Length: 6'),
    '123456',
    failed('truncated', /not as long as its Content-Length says/),
  ),
  answers('not-http', '220 mail.test ESMTP\r\n', '', failed('bad-response', /is not valid HTTP/)),
  does(
    'endless-headers',
    (socket) => pour(socket, 'HTTP/1.1 200 OK\r\n', `X-More: ${'y'.repeat(1_000)}\r\n`),
    failed('headers-too-large', /headers .* are too large/),
  ),
  does(
    'endless-early-hints',
    (socket) => drip(socket, '', 'HTTP/1.1 103 Early Hints\r\n\r\n'),
    timedOut('first-byte-timeout', /did not answer within 1 s/),
  ),

  // Connections
  does(
    'closes-without-an-answer',
    (socket) => socket.end(),
    failed('reset', /closed the connection without an answer/),
  ),
  does('resets', (socket) => socket.resetAndDestroy(), failed('reset', /reset the connection before/)),
  does(
    'resets-in-the-body',
    (socket) => {
      socket.write(
        head('HTTP/1.1 200 OK', 'Content-Type: text/html', 'Content-Length: 5000') + 'x'.repeat(2_000),
      );
      setTimeout(() => socket.resetAndDestroy(), 100);
    },
    failed('reset', /reset the connection in the middle of the body/),
  ),
  does('silent', () => {}, timedOut('first-byte-timeout', /did not answer within 1 s/)),
  does(
    'drips',
    (socket) =>
      drip(socket, head('HTTP/1.1 200 OK', 'Content-Type: text/html', 'Content-Length: 90000'), '.'),
    timedOut('timeout', /did not finish within 2 s/),
  ),

  // Size
  answers(
    'announces-too-much',
    head('HTTP/1.1 200 OK', 'Content-Type: text/html', `Content-Length: ${MAX_BODY_BYTES + 1}`),
    '',
    rejected('too-large', /Larger than 100KiB/),
  ),
  does(
    'endless-body',
    (socket) => pour(socket, head('HTTP/1.1 200 OK', 'Content-Type: text/html'), '<p>more</p>'.repeat(1_000)),
    rejected('too-large', /Larger than 100KiB/),
  ),
  encoded(
    'gzip-bomb',
    'gzip',
    gzipSync(Buffer.alloc(50_000_000, ' ')),
    rejected('too-large', /Larger than 100KiB/),
  ),
  encoded(
    'brotli-bomb',
    'br',
    brotliCompressSync(Buffer.alloc(50_000_000, ' ')),
    rejected('too-large', /Larger than 100KiB/),
  ),

  // Encodings
  encoded('gzip', 'gzip', gzipSync(HTML), fetched),
  encoded('x-gzip', 'X-GZIP', gzipSync(HTML), fetched),
  encoded('brotli', 'br', brotliCompressSync(HTML), fetched),
  encoded('deflate', 'deflate', deflateSync(HTML), fetched),
  encoded('deflate-without-its-header', 'deflate', deflateRawSync(HTML), fetched),
  encoded('gzip-then-brotli', 'gzip, br', brotliCompressSync(gzipSync(HTML)), fetched),
  encoded('identity', 'identity', Buffer.from(HTML), fetched),
  encoded(
    'truncated-gzip',
    'gzip',
    gzipSync(HTML).subarray(0, -12),
    failed('truncated', /compressed body .* ends too early/),
  ),
  encoded('not-gzip', 'gzip', Buffer.from(HTML), failed('bad-encoding', /is damaged/)),
  encoded(
    'unrequested-zstd',
    'zstd',
    Buffer.from('?'),
    failed('bad-encoding', /"zstd", which was not asked for/),
  ),
  encoded('three-encodings', 'gzip, gzip, gzip', Buffer.from('?'), failed('bad-encoding', /not asked for/)),

  // Types
  typed('xhtml', 'application/xhtml+xml', XHTML, fetched),
  typed('html-without-a-type', null, HTML, fetched),
  typed('html-as-octet-stream', 'application/octet-stream', HTML, fetched),
  typed('html-as-plain-text', 'text/plain', HTML, fetched),
  typed('plain-text', 'text/plain', 'only words', rejected('type', /Not a page but text\/plain/)),
  typed('a-picture-as-html', 'text/html', PNG, fetched),
  typed('a-picture', 'image/png', PNG, fetched),
  answers(
    'a-very-long-type',
    head('HTTP/1.1 200 OK', `Content-Type: x/${'y'.repeat(10_000)}`, 'Content-Length: 1'),
    '?',
    rejected('type', /^.{1,200}$/),
  ),
  typed('a-pdf-as-html', 'text/html', '%PDF-1.7', rejected('type', /application\/pdf, sent as text\/html/)),
  typed(
    'bytes-as-html',
    'text/html',
    Buffer.from([1, 2, 3]),
    rejected('type', /application\/octet-stream, sent as/),
  ),
  does(
    'an-endless-video',
    (socket) => socket.write(head('HTTP/1.1 200 OK', 'Content-Type: video/mp4')),
    rejected('type', /Not a page but video\/mp4/),
  ),

  // Statuses
  answers('no-content', head('HTTP/1.1 204 No Content'), '', rejected('status', /204 is not a page/)),
  answers(
    'unrequested-partial-content',
    head('HTTP/1.1 206 Part', ...length(HTML)),
    HTML,
    rejected('status', /206 is not a page/),
  ),
  answers('unrequested-not-modified', head('HTTP/1.1 304 Same'), '', rejected('status', /304 is not a page/)),
  answers('gone', head('HTTP/1.1 410 Gone', 'Content-Length: 0'), '', {
    status: 'Failed',
    outcome: 'Blocked4xx',
    errorKind: 'status',
    reason: /Status 410/,
  }),
  answers('overloaded', head('HTTP/1.1 503 Busy', 'Content-Length: 0'), '', {
    status: 'Failed',
    outcome: 'Blocked5xx',
    errorKind: 'status',
    reason: /Status 503/,
  }),

  // Redirects that lead nowhere good
  redirects('redirect-without-location', null, rejected('redirect', /without a Location/)),
  redirects('redirect-to-itself', '/', rejected('redirect', /Redirected to itself/)),
  redirects('redirect-to-a-file', 'file:///etc/passwd', rejected('redirect', /only http and https/)),
  redirects('redirect-to-metadata', 'http://169.254.169.254/by-redirect', {
    status: 'Redirected',
    outcome: 'Success',
    errorKind: null,
    reason: null,
  }),
  redirects('redirect-in-utf-8', '/schön', {
    status: 'Redirected',
    outcome: 'Success',
    errorKind: null,
    reason: null,
  }),
  redirects('redirect-to-nonsense', 'http://[', rejected('redirect', /not a valid URL/)),
];

function head(...lines: string[]): string {
  return `${lines.join('\r\n')}\r\n\r\n`;
}

function length(body: string | Buffer): string[] {
  return ['Content-Type: text/html', `Content-Length: ${Buffer.byteLength(body)}`];
}

function ok(): string {
  return head('HTTP/1.1 200 OK', ...length(HTML));
}

function does(name: string, serve: Oddity['serve'], expected: Expected): Oddity {
  return { name, serve, expected };
}

function answers(
  name: string,
  start: string,
  body: string | Buffer,
  expected: Expected,
  then?: 'close',
): Oddity {
  const bytes = Buffer.concat([Buffer.from(start), Buffer.from(body)]);
  return does(name, (socket) => (then === 'close' ? socket.end(bytes) : socket.write(bytes)), expected);
}

function encoded(name: string, encoding: string, body: Buffer, expected: Expected): Oddity {
  const start = head(
    'HTTP/1.1 200 OK',
    'Content-Type: text/html',
    `Content-Encoding: ${encoding}`,
    `Content-Length: ${body.length}`,
  );
  return answers(name, start, body, expected);
}

function typed(name: string, type: string | null, body: string | Buffer, expected: Expected): Oddity {
  const lines = [
    ...(type === null ? [] : [`Content-Type: ${type}`]),
    `Content-Length: ${Buffer.byteLength(body)}`,
  ];
  return answers(name, head('HTTP/1.1 200 OK', ...lines), body, expected);
}

function redirects(name: string, location: string | null, expected: Expected): Oddity {
  const lines = [...(location === null ? [] : [`Location: ${location}`]), 'Content-Length: 0'];
  return answers(name, head('HTTP/1.1 302 Found', ...lines), '', expected);
}

/** As fast as it is read, forever. */
function pour(socket: Socket, start: string, more: string): void {
  socket.write(start);
  const go = (): void => {
    while (!socket.destroyed && socket.write(more));
  };
  socket.on('drain', go);
  go();
}

/** Slowly, forever. */
function drip(socket: Socket, start: string, more: string): void {
  socket.write(start);
  const timer = setInterval(() => socket.write(more), 50);
  socket.on('close', () => clearInterval(timer));
}
