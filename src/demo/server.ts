/** Serves the demo web on one loopback port. The Host header selects the host; every request is recorded. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ExpectedPage, expectedPages } from './expected.ts';
import { renderPage, renderProblem, renderRobots } from './render.ts';
import { absoluteLink, DEMO_HOSTS, type DemoHost, hostName, resolveEntries, seedUrls } from './site.ts';

const ADDRESS = '127.0.0.1';

export interface Arrival {
  /** Without the port. */
  host: string;
  path: string;
  /** Milliseconds since the epoch, with fractions, on a monotonic clock. */
  atMs: number;
  userAgent: string;
}

export interface DemoWeb {
  port: number;
  /** The front page of each host. */
  seeds: string[];
  /** `name:address` for each host, as `--resolve` takes it. */
  resolve: string[];
  /** Every request so far, in order. */
  arrivals: Arrival[];
  /** The pages that a crawl from all seeds must find, with their status. */
  expected: ExpectedPage[];
  stop(): Promise<void>;
}

export async function startDemoWeb({ port = 0 }: { port?: number } = {}): Promise<DemoWeb> {
  const arrivals: Arrival[] = [];
  const failed = new Map<string, number>();
  const server = createServer((request, response) => {
    const atMs = performance.timeOrigin + performance.now();
    const target = `http://${request.headers.host ?? ''}${request.url ?? '/'}`;
    if (!URL.canParse(target)) return send(response, 400, 'text/plain; charset=utf-8', 'Unknown host.\n');
    const { hostname, pathname, port: ownPort } = new URL(target);
    arrivals.push({ host: hostname, path: pathname, atMs, userAgent: request.headers['user-agent'] ?? '' });
    const host = DEMO_HOSTS.find(({ name }) => hostName(name) === hostname);
    // A client that disconnects before a slow page is ready is not an error.
    answer(request, response, { host, path: pathname, port: Number(ownPort), failed }).catch(() =>
      response.destroy(),
    );
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(port, ADDRESS, resolve);
  });
  const bound = server.address();
  if (bound === null || typeof bound === 'string') throw new Error('The demo web has no port to listen on.');
  return {
    port: bound.port,
    seeds: seedUrls(bound.port),
    resolve: resolveEntries(ADDRESS),
    arrivals,
    expected: expectedPages(bound.port),
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

interface Visit {
  host: DemoHost | undefined;
  path: string;
  port: number;
  /** How often each page has failed so far. */
  failed: Map<string, number>;
}

async function answer(request: IncomingMessage, response: ServerResponse, visit: Visit): Promise<void> {
  const { host, path, port } = visit;
  if (!host) return send(response, 421, 'text/plain; charset=utf-8', 'No such host in the demo web.\n');
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    return send(
      response,
      405,
      'text/html; charset=utf-8',
      renderProblem(host, 'Not like this', 'Only GET, please.'),
    );
  }
  const robots = path === '/robots.txt' ? renderRobots(host) : null;
  if (robots !== null) return send(response, 200, 'text/plain; charset=utf-8', robots);

  const page = host.pages.find((candidate) => candidate.path === path);
  switch (page?.kind) {
    case undefined:
      return send(
        response,
        404,
        'text/html; charset=utf-8',
        renderProblem(host, 'Not found', 'Nothing is kept here.'),
      );
    case 'redirect':
      response.setHeader('location', absoluteLink(page.to, host.name, port));
      return send(response, 301, 'text/plain; charset=utf-8', 'Moved.\n');
    case 'file':
      return send(response, 200, page.contentType, page.body);
    case 'html': {
      if (failsNow(visit, page.failures ?? 0)) {
        const text = 'Please come back in a moment.';
        return send(response, 503, 'text/html; charset=utf-8', renderProblem(host, 'Not ready yet', text));
      }
      if (page.slowMs) await sleep(page.slowMs);
      return send(response, 200, 'text/html; charset=utf-8', renderPage(host, page, port));
    }
  }
}

function failsNow({ host, path, failed }: Visit, failures: number): boolean {
  const key = `${host?.name}${path}`;
  const before = failed.get(key) ?? 0;
  if (before >= failures) return false;
  failed.set(key, before + 1);
  return true;
}

function send(response: ServerResponse, status: number, contentType: string, body: string): void {
  response
    .writeHead(status, { 'content-type': contentType, 'content-length': Buffer.byteLength(body) })
    .end(body);
}
