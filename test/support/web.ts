/** A web for one test: real sockets on loopback, hosts distinguished by name, every request recorded. */
import { randomBytes } from 'node:crypto';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Arrival {
  /** The name the test gave the host. */
  host: string;
  path: string;
  atMs: number;
}

export interface TestWeb {
  arrivals: Arrival[];
  url(host: string, path?: string): string;
  /** Host name as the crawler knows it, which is unique to this web, so that tests share no throttles. */
  name(host: string): string;
  /** To be spread into a crawl's input: how to reach this web. */
  network: { resolve: string[]; allowNetwork: string[] };
  arrivalsAt(host: string, path?: string): Arrival[];
  /** Refuses connections from now on ... */
  refuseConnections(): Promise<void>;
  /** ... until this, at the same port. */
  acceptConnections(): Promise<void>;
  stop(): Promise<void>;
}

export type Answer = {
  status?: number;
  headers?: Record<string, string | string[]>;
  body?: string | Buffer;
  afterMs?: number;
};
export type Site = (
  path: string,
  visit: { count: number; headers: IncomingHttpHeaders },
) => Answer | undefined;

/**
 * If a site returns nothing for a path, including robots.txt, the response is a 404. Under `test`, which is not a public suffix,
 * names have two labels and every host is a site of its own; under `home.arpa`, which is one and is never resolved, all hosts are
 * one site.
 */
export async function startWeb(sites: Record<string, Site>, topLevel = 'test'): Promise<TestWeb> {
  const suffix = `${topLevel === 'test' ? '-' : '.'}${randomBytes(4).toString('hex')}.${topLevel}`;
  const name = (host: string): string => host + suffix;
  const arrivals: Arrival[] = [];
  const serve = (request: IncomingMessage, response: ServerResponse): void => {
    const { hostname, pathname, search } = new URL(request.url ?? '/', `http://${request.headers.host}`);
    const host = hostname.slice(0, -suffix.length);
    const path = pathname + search;
    arrivals.push({ host, path, atMs: performance.timeOrigin + performance.now() });
    const count = arrivals.filter((arrival) => arrival.host === host && arrival.path === path).length;
    const {
      status = 200,
      headers = {},
      body = '',
      afterMs = 0,
    } = sites[host]?.(path, { count, headers: request.headers }) ?? { status: 404 };
    const answer = (): void => {
      response.writeHead(status, { 'content-type': 'text/html; charset=utf-8', ...headers }).end(body);
    };
    if (afterMs > 0) setTimeout(answer, afterMs);
    else answer();
  };
  const server = createServer(serve);
  const listen = (at: number) => new Promise<void>((resolve) => server.listen(at, '127.0.0.1', resolve));
  await listen(0);
  const { port } = server.address() as AddressInfo;
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return {
    arrivals,
    name,
    url: (host, path = '/') => `http://${name(host)}:${port}${path}`,
    network: {
      resolve: Object.keys(sites).map((host) => `${name(host)}:127.0.0.1`),
      allowNetwork: ['127.0.0.0/8'],
    },
    arrivalsAt: (host, path) =>
      arrivals.filter((arrival) => arrival.host === host && (path === undefined || arrival.path === path)),
    refuseConnections: close,
    acceptConnections: () => listen(port),
    stop: close,
  };
}

export function links(...targets: string[]): string {
  return targets.map((target) => `<a href="${target}">${target}</a>`).join('\n');
}

/** A front page that links to /1 ... /n, and those pages. */
export function flatSite(pages: number, more: Site = () => undefined): Site {
  return (path, visit) => {
    const special = more(path, visit);
    if (special !== undefined) return special;
    if (path === '/') return { body: links(...Array.from({ length: pages }, (_, i) => `/${i + 1}`)) };
    const number = Number(path.slice(1));
    return number >= 1 && number <= pages ? { body: `<title>Page ${number}</title>` } : undefined;
  };
}
