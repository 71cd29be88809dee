/**
 * A web without surprises: some hosts, each with a front page that links to all its pages, or several such pages where they are
 * more than one may link to. No robots.txt.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface PlainWeb {
  seeds: string[];
  /** `name:address`, as --resolve takes it. */
  resolve: string[];
  /** Arrival times in ms by host, of every request. */
  arrivals: Map<string, number[]>;
  stop(): void;
}

/** `pagesOf[i]` is the number of pages of host i, its front page included. `name` keeps the hosts of two webs apart. */
export async function startPlainWeb(name: string, pagesOf: readonly number[]): Promise<PlainWeb> {
  const hosts = new Map(pagesOf.map((pages, i) => [`h${i}.${name}.test`, pages]));
  const arrivals = new Map<string, number[]>();
  const server = createServer((request, response) => {
    const { hostname, pathname } = new URL(request.url ?? '/', `http://${request.headers.host}`);
    const pages = hosts.get(hostname) ?? 0;
    const times = arrivals.get(hostname) ?? [];
    arrivals.set(hostname, times);
    times.push(performance.timeOrigin + performance.now());
    if (pathname === '/robots.txt' || pages === 0) {
      response.writeHead(404).end();
      return;
    }
    response.setHeader('content-type', 'text/html; charset=utf-8');
    const number = pathname === '/' ? 0 : Number(pathname.slice(2));
    response.end(
      `<title>${pathname}</title><p>A page. <a href="/">Home</a><ul>${linksOf(number, pages)}</ul>`,
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const names = [...hosts.keys()];
  return {
    seeds: [...hosts].flatMap(([name, pages]) =>
      hubsOf(pages).map((path) => `http://${name}:${port}${path}`),
    ),
    resolve: names.map((name) => `${name}:127.0.0.1`),
    arrivals,
    stop: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** Fewer than the crawler takes from a page. */
const LINKS_A_PAGE = 5_000;

/** Those that lead to all others: seeds, so that a huge host is known as a whole from the beginning. */
function hubsOf(pages: number): string[] {
  const lots = Math.max(1, Math.ceil((pages - 1) / LINKS_A_PAGE));
  return Array.from({ length: lots }, (_, n) => (n === 0 ? '/' : `/p${n}`));
}

/** Page n leads to the n-th lot of them. */
function linksOf(number: number, pages: number): string {
  const first = number * LINKS_A_PAGE + 1;
  const count = Math.max(0, Math.min(LINKS_A_PAGE, pages - first));
  return Array.from({ length: count }, (_, i) => `<li><a href="/p${first + i}">Page ${first + i}</a>`).join(
    '',
  );
}
