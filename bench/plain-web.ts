/**
 * A simple web of hosts without robots.txt. The front page of each links to all its pages; a host with more pages than one
 * page may link to has several such hubs.
 */
import { createServer, type ServerResponse } from 'node:http';
import { listenOnLoopback } from './loopback.ts';

export interface PlainWeb {
  seeds: string[];
  /** `name:address`, as --resolve takes it. */
  resolve: string[];
  /** Arrival time in ms of every request, by host. */
  arrivals: Map<string, number[]>;
  stop(): void;
}

/**
 * `pagesOf[i]` is the number of pages of host i, including its front page; `addressOf(i)` its address on loopback. `name`
 * distinguishes the hosts of two webs. Each host is a site of its own.
 */
export async function startPlainWeb(
  name: string,
  pagesOf: readonly number[],
  addressOf: (host: number) => string = () => '127.0.0.1',
): Promise<PlainWeb> {
  const hosts = new Map(pagesOf.map((pages, i) => [`${name}-${i}.test`, pages]));
  const arrivals = new Map<string, number[]>();
  const server = createServer((request, response) => {
    const { hostname, pathname } = new URL(request.url ?? '/', `http://${request.headers.host}`);
    const pages = hosts.get(hostname) ?? 0;
    const times = arrivals.get(hostname) ?? [];
    arrivals.set(hostname, times);
    times.push(performance.timeOrigin + performance.now());
    // Later, so that requests to other hosts that came at the same time are not logged after the response to this one.
    setImmediate(() => respond(response, pathname, pages));
  });
  const port = await listenOnLoopback(server);
  const names = [...hosts.keys()];
  return {
    seeds: [...hosts].flatMap(([name, pages]) =>
      hubsOf(pages).map((path) => `http://${name}:${port}${path}`),
    ),
    resolve: names.map((name, i) => `${name}:${addressOf(i)}`),
    arrivals,
    stop: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

function respond(response: ServerResponse, pathname: string, pages: number): void {
  if (pathname === '/robots.txt' || pages === 0) {
    response.writeHead(404).end();
    return;
  }
  response.setHeader('content-type', 'text/html; charset=utf-8');
  const number = pathname === '/' ? 0 : Number(pathname.slice(2));
  response.end(`<title>${pathname}</title><p>A page. <a href="/">Home</a><ul>${linksOf(number, pages)}</ul>`);
}

/** Below the crawler's limit. */
const LINKS_PER_PAGE = 5_000;

/** The pages that link to all others. They are seeds, so that a huge host is known completely from the start. */
function hubsOf(pages: number): string[] {
  const hubs = Math.max(1, Math.ceil((pages - 1) / LINKS_PER_PAGE));
  return Array.from({ length: hubs }, (_, n) => (n === 0 ? '/' : `/p${n}`));
}

/** Page n links to the n-th batch of pages. */
function linksOf(number: number, pages: number): string {
  const first = number * LINKS_PER_PAGE + 1;
  const count = Math.max(0, Math.min(LINKS_PER_PAGE, pages - first));
  return Array.from({ length: count }, (_, i) => `<li><a href="/p${first + i}">Page ${first + i}</a>`).join(
    '',
  );
}
