/**
 * Hosts that cost a crawler more than others: they keep its connections, its memory or its processor. Each has an address and,
 * apart from the silent ones, a site of its own.
 */
import { createServer, type ServerResponse } from 'node:http';
import { gzipSync, constants as zlib } from 'node:zlib';
import { fill, hostileDocuments, ROBOTS_OF_WILDCARDS } from './hostile-documents.ts';
import { listenOnLoopback, loopbackAddress } from './loopback.ts';

export interface HostileWeb {
  seeds: string[];
  /** `name:address`, as --resolve takes it. */
  resolve: string[];
  /** Requests so far, by kind of host. */
  requests: Map<string, number>;
  stop(): void;
}

interface Kind {
  robots?: string;
  /** Added to the path of each page. */
  suffix?: string;
  answer(response: ServerResponse, page: number): void;
}

/** A public suffix, so that names below it have sites, under which nobody on the internet can have a name (RFC 8375). */
const SUFFIX = 'home.arpa';
const NETWORK = 2;
const HOSTS_PER_KIND = 4;
/** More than a crawl at a delay of 1 s fetches while it is measured. */
const PAGES_PER_HOST = 300;

const SILENT_SITES = 60;
/** Half of the silent hosts are quick to answer for robots.txt, and silent from then on. So few sites have many hosts each. */
const TURNCOAT_SITES = 8;
/** A silent page takes its timeout of 20 s, so that these last as long. A silent robots.txt is asked for only once a minute. */
const SILENT_PAGES = 10;

const ENDLESS_SITE = `endless.${SUFFIX}`;
const ENDLESS_NAMES = 1_000;
const LINKS_TO_NAMES = 20;

/** A little less than the largest body that is read. */
const LARGE = 10 * 2 ** 20 - 4_096;
const TRICKLE_MS = 500;
/** A block of no bytes, of which a gzip file may have any number. */
const EMPTY_BLOCK = Buffer.from('000000ffff', 'hex');

export async function startHostileWeb(silent: number): Promise<HostileWeb> {
  const kinds = makeKinds();
  const requests = new Map<string, number>();
  const server = createServer((request, response) => {
    const { hostname, pathname } = new URL(request.url ?? '/', `http://${request.headers.host}`);
    const [name = '', site = ''] = hostname.split('.');
    const kind = site.replace(/\d+$/, '');
    requests.set(kind, (requests.get(kind) ?? 0) + 1);
    const asksRobots = pathname === '/robots.txt';
    if (kind === 'silent') return;
    if (kind === 'turncoat') {
      if (asksRobots) response.writeHead(404).end();
    } else if (kind === 'endless') {
      if (asksRobots) response.writeHead(404).end();
      else sendHtml(response, linksToNames(numberIn(name), request.headers.host ?? ''));
    } else {
      const { robots, suffix = '', answer } = kinds[kind] ?? {};
      if (asksRobots && robots === undefined) response.writeHead(404).end();
      else if (asksRobots) response.setHeader('content-type', 'text/plain').end(robots);
      else if (pathname === '/') sendHtml(response, linksToPages(suffix));
      else answer?.(response, numberIn(pathname));
    }
  });
  // Those that trickle are cut off by the crawler.
  server.requestTimeout = 0;
  const port = await listenOnLoopback(server);

  const silentHosts = numbered(silent, (n) =>
    n % 2 === 0
      ? `s${n}.silent${(n / 2) % SILENT_SITES}.${SUFFIX}`
      : `s${n}.turncoat${((n - 1) / 2) % TURNCOAT_SITES}.${SUFFIX}`,
  );
  // Their names come first: hosts that are due at the same time are begun in alphabetical order, and there are few of these.
  const kindHosts = Object.keys(kinds).flatMap((kind) =>
    numbered(HOSTS_PER_KIND, (n) => `a.${kind}${n}.${SUFFIX}`),
  );
  const ownAddress = [...silentHosts, ...kindHosts].map(
    (name, n) => `${name}:${loopbackAddress(NETWORK, n)}`,
  );
  const oneAddress = loopbackAddress(NETWORK, ownAddress.length);
  return {
    seeds: [
      ...silentHosts.flatMap((name) => numbered(SILENT_PAGES, (n) => `http://${name}:${port}/p${n}`)),
      ...[...kindHosts, endlessName(0)].map((name) => `http://${name}:${port}/`),
    ],
    resolve: [...ownAddress, ...numbered(ENDLESS_NAMES, (n) => `${endlessName(n)}:${oneAddress}`)],
    requests,
    stop: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

function makeKinds(): Record<string, Kind> {
  const documents = Object.values(hostileDocuments());
  const large = Buffer.from(fill('<p>x', LARGE));
  // Not finished: the trickle is a part of it.
  const bomb = gzipSync(Buffer.alloc(LARGE, '<p>more</p>\n'), { finishFlush: zlib.Z_SYNC_FLUSH });
  return {
    documents: {
      answer(response, page) {
        const { html, contentType } = documents[page % documents.length] ?? { html: '', contentType: '' };
        response.setHeader('content-type', contentType).end(html);
      },
    },
    robots: {
      robots: `user-agent: *\n${ROBOTS_OF_WILDCARDS}`,
      suffix: '~'.repeat(1_800),
      answer: (response, page) => sendHtml(response, `Page ${page}`),
    },
    large: {
      answer: (response) => void response.setHeader('content-type', 'text/html').end(large),
    },
    bombs: {
      answer(response) {
        response.setHeader('content-encoding', 'gzip');
        trickle(response, bomb, EMPTY_BLOCK);
      },
    },
    trickles: {
      answer: (response) => trickle(response, '<p>', 'x'),
    },
  };
}

/** For as long as the client reads. */
function trickle(response: ServerResponse, first: string | Buffer, more: string | Buffer): void {
  response.setHeader('content-type', 'text/html').write(first);
  const timer = setInterval(() => response.write(more), TRICKLE_MS);
  response.once('close', () => clearInterval(timer));
}

function sendHtml(response: ServerResponse, html: string): void {
  response.setHeader('content-type', 'text/html; charset=utf-8').end(html);
}

function linksToPages(suffix: string): string {
  return numbered(PAGES_PER_HOST, (n) => `<a href="/p${n}${suffix}">${n}</a>`).join('');
}

function linksToNames(from: number, host: string): string {
  const port = host.split(':')[1];
  const link = (n: number): string =>
    `<a href="http://${endlessName((from + n + 1) % ENDLESS_NAMES)}:${port}/">${n}</a>`;
  return numbered(LINKS_TO_NAMES, link).join('');
}

function endlessName(n: number): string {
  return `n${n}.${ENDLESS_SITE}`;
}

/** In `s12`, `/p12~~~`. */
function numberIn(text: string): number {
  return Number(/\d+/.exec(text)?.[0] ?? 0);
}

function numbered<T>(count: number, make: (n: number) => T): T[] {
  return Array.from({ length: count }, (_, n) => make(n));
}
