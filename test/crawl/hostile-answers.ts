/** What a hostile server may send, each as bytes on a socket, and a web that serves all of it. */
import { randomBytes } from 'node:crypto';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { brotliCompressSync, gzipSync, constants as zlib } from 'node:zlib';
import { SOAK } from '../support/size.ts';

const MIB = 2 ** 20;

/** Under the limit on bodies, so that it is read and parsed. */
const MOST = 10 * MIB - 4_096;

export interface Hostile {
  /** Pages of this kind in a soak; `npm test` has one of each kind. */
  times: number;
  /** `n`: makes the pages of one kind differ. */
  answer(socket: Socket, n: number): void;
}

const head = (...headers: string[]): string =>
  ['HTTP/1.1 200 OK', 'Content-Type: text/html', 'Connection: close', ...headers, '', ''].join('\r\n');

function packed(times: number, encoding: string, body: Buffer): Hostile {
  return {
    times,
    answer(socket) {
      socket.write(head(`Content-Encoding: ${encoding}`));
      socket.end(body);
    },
  };
}

function html(times: number, text: string): Hostile {
  const body = Buffer.from(text);
  return {
    times,
    answer(socket, n) {
      socket.write(head());
      socket.write(body);
      socket.end(`<p>${n}`);
    },
  };
}

function bytes(times: number, make: (n: number) => string, then: (socket: Socket) => void): Hostile {
  return {
    times,
    answer(socket, n) {
      socket.write(make(n), () => then(socket));
    },
  };
}

/** Writes for as long as the client reads. */
function endless(times: number, first: string | Buffer, more: Buffer): Hostile {
  return {
    times,
    answer(socket) {
      const pour = (): void => {
        while (!socket.destroyed && socket.write(more));
      };
      socket.on('drain', pour);
      socket.write(first);
      pour();
    },
  };
}

/** Writes a little, again and again. */
function drip(times: number, first: string, drop: string): Hostile {
  return {
    times,
    answer(socket) {
      socket.write(first);
      const timer = setInterval(() => socket.write(drop), 50);
      socket.once('close', () => clearInterval(timer));
    },
  };
}

const filled = (unit: string, size = MOST): string => unit.repeat(Math.floor(size / unit.length));
const numbered = (count: number, unit: (i: number) => string): string =>
  Array.from({ length: count }, (_, i) => unit(i)).join('');
const quick = { params: { [zlib.BROTLI_PARAM_QUALITY]: 4 } };
const close = (socket: Socket): void => void socket.end();
const reset = (socket: Socket): void => void socket.resetAndDestroy();

/** `leaves` is the address of a page that links lead to. */
export function hostileAnswers(leaves: string): Record<string, Hostile> {
  const plenty = Buffer.alloc(100 * MIB, '<p>more</p>\n');
  const bomb = gzipSync(plenty, { level: 9 });
  return {
    'gzip-bomb': packed(12, 'gzip', bomb),
    'brotli-bomb': packed(12, 'br', brotliCompressSync(plenty, quick)),
    'bomb-in-a-bomb': packed(12, 'gzip, gzip', gzipSync(bomb)),
    'nothing-for-ever': endless(
      2,
      // The start of a gzip file, then empty stored blocks.
      Buffer.concat([
        Buffer.from(head('Content-Encoding: gzip')),
        Buffer.from('1f8b0800000000000003', 'hex'),
      ]),
      Buffer.alloc(64_000, '000000ffff', 'hex'),
    ),
    'endless-body': endless(12, head(), Buffer.alloc(65_536, '<p>more')),
    'endless-chunks': endless(
      1,
      head('Transfer-Encoding: chunked'),
      Buffer.from(filled('3\r\n<b>\r\n', 65_536)),
    ),
    'endless-headers': endless(
      12,
      'HTTP/1.1 200 OK\r\n',
      Buffer.from(filled('X-More: of the same\r\n', 65_536)),
    ),
    'endless-header': endless(12, 'HTTP/1.1 200 OK\r\nX-More: ', Buffer.alloc(65_536, 'x')),
    // Only a timeout ends these two; written at full speed they would keep both sides busy until then.
    'endless-hints': drip(2, '', filled('HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n', 65_536)),
    'endless-chunk-extension': drip(2, `${head('Transfer-Encoding: chunked')}1;`, filled('x', 524_288)),
    'endless-trailers': endless(
      4,
      `${head('Transfer-Encoding: chunked')}1\r\nx\r\n0\r\n`,
      Buffer.from(filled('X-More: of the same\r\n', 65_536)),
    ),
    'one-byte-chunks': bytes(
      2,
      () => `${head('Transfer-Encoding: chunked')}${filled('1\r\nx\r\n', 6 * MOST)}0\r\n\r\n`,
      close,
    ),
    'dripping-body': drip(4, head(), '.'),
    'dripping-headers': drip(4, 'HTTP/1.1 200 OK\r\n', 'X-More: 1\r\n'),
    silence: drip(4, '', ''),
    nested: html(1, filled('<div>')),
    'nested-tables': html(1, filled('<table><tr><td>', MIB / 8)),
    dense: html(1, filled('<i>')),
    'dense-attributes': html(1, `<p ${numbered(5_000, (i) => `a${i}=1 `)}>`),
    'many-links': html(
      1,
      numbered(100_000, (i) => `<a href="${leaves}?${i}">${i}</a>`),
    ),
    // Each <p> reopens all of them: 1.5 million elements from 23 KB.
    'many-formatting-elements': html(1, `<p>${numbered(300, (i) => `<b id=${i}>`)}${'<p>x'.repeat(5_000)}`),
    'huge-title': html(1, `<title>${filled('Title ')}`),
    'huge-comment': html(1, `<!--${filled('no end ')}`),
    'huge-address': html(1, `<a href="${leaves}/${filled('a', MIB)}">far</a>`),
    'huge-location': bytes(8, () => `HTTP/1.1 302 Found\r\nLocation: /${filled('a', 60_000)}\r\n\r\n`, close),
    'endless-redirects': bytes(
      2,
      (n) => `HTTP/1.1 302 Found\r\nLocation: /endless-redirects/${n + 1_000}\r\nContent-Length: 0\r\n\r\n`,
      close,
    ),
    'to-itself': bytes(
      13,
      (n) => `HTTP/1.1 302 Found\r\nLocation: /to-itself/${n}\r\nContent-Length: 0\r\n\r\n`,
      close,
    ),
    'too-short': bytes(9, () => `${head('Content-Length: 1000')}short`, close),
    'too-long': bytes(9, () => `${head('Content-Length: 5')}${filled('long', 10_000)}`, close),
    'length-of-nonsense': bytes(9, () => `${head('Content-Length: -1')}what`, close),
    'two-lengths': bytes(9, () => `${head('Content-Length: 4', 'Content-Length: 5')}what?`, close),
    'broken-gzip': bytes(9, () => `${head('Content-Encoding: gzip')}not at all`, close),
    'no-http': bytes(9, () => '\0\0\0 SSH-2.0-what\r\n\r\n', close),
    'reset-at-once': bytes(9, () => '', reset),
    'reset-in-the-headers': bytes(9, () => 'HTTP/1.1 200 OK\r\nX-', reset),
    'reset-in-the-body': bytes(8, () => `${head('Content-Length: 1000')}half`, reset),
  };
}

export interface HostileWeb {
  /** Of all pages. */
  seeds: string[];
  /** The paths that were requested. */
  asked: ReadonlySet<string>;
  network: { resolve: string[]; allowNetwork: string[] };
  stop(): Promise<void>;
}

/** All hosts are one server; the first part of the path selects what it does. */
export async function startHostileWeb(hosts: number): Promise<HostileWeb> {
  const suffix = `${randomBytes(4).toString('hex')}.test`;
  const names = Array.from({ length: hosts }, (_, i) => `h${i}.${suffix}`);
  const leafHost = `leaves.${suffix}`;
  const sockets = new Set<Socket>();
  const asked = new Set<string>();
  let answers: Record<string, Hostile> = {};
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket)).on('error', () => socket.destroy());
    let request = '';
    socket.on('data', (data) => {
      request += data.toString('latin1');
      if (!request.includes('\r\n\r\n')) return;
      const [, path = '', kind = '', n] = /^GET (\/([a-z-]+)(?:\/(\d+))?)[? ]/.exec(request) ?? [];
      asked.add(path);
      request = '';
      const hostile = answers[kind];
      if (hostile !== undefined) hostile.answer(socket, Number(n));
      else socket.write('HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  answers = hostileAnswers(`http://${leafHost}:${port}/leaf`);
  const paths = Object.entries(answers).flatMap(([kind, { times }]) =>
    Array.from({ length: SOAK ? times : 1 }, (_, n) => `/${kind}/${n}`),
  );
  return {
    asked,
    seeds: paths.map((path, i) => `http://${names[i % hosts]}:${port}${path}`),
    network: {
      resolve: [...names, leafHost].map((name) => `${name}:127.0.0.1`),
      allowNetwork: ['127.0.0.0/8'],
    },
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}
