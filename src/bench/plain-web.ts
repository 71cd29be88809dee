/** A web without surprises: some hosts, each with a front page that links to all its pages. No robots.txt. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface PlainWeb {
  seeds: string[];
  /** `name:address`, as --resolve takes it. */
  resolve: string[];
  /** Arrival times in ms by host. */
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
    if (pathname === '/robots.txt' || pages === 0) {
      response.writeHead(404).end();
      return;
    }
    arrivals.set(hostname, [...(arrivals.get(hostname) ?? []), performance.timeOrigin + performance.now()]);
    response.setHeader('content-type', 'text/html; charset=utf-8');
    response.end(
      pathname === '/' ? frontPage(pages) : `<title>${pathname}</title><p>A page. <a href="/">Home</a>`,
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const names = [...hosts.keys()];
  return {
    seeds: names.map((name) => `http://${name}:${port}/`),
    resolve: names.map((name) => `${name}:127.0.0.1`),
    arrivals,
    stop: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

function frontPage(pages: number): string {
  const links = Array.from({ length: pages - 1 }, (_, i) => `<li><a href="/p${i + 1}">Page ${i + 1}</a>`);
  return `<title>Front page</title><ul>${links.join('')}</ul>`;
}
