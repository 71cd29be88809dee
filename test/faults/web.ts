/**
 * The web that is crawled while faults are injected: hosts on loopback, distinguished by name, that grow new pages until the run
 * stops them. It records every request, its worker (each has its own User-Agent) and whether the response was sent completely.
 * A fault can be injected at the moment of an arrival or of the end of a response.
 */
import { randomBytes } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { watchLateness } from '../support/lateness.ts';
import type { Arrival, ExpectedPage } from './evidence.ts';
import type { Seeded } from './seeded.ts';

export interface FaultWeb {
  arrivals: Arrival[];
  seeds: string[];
  /** To be spread into a crawl's input: how to reach this web. */
  network: { resolve: string[]; allowNetwork: string[] };
  /** Each page that can be found from the seeds, with the status it must end with. */
  expected(): ExpectedPage[];
  /** From now on no page links to anything new. */
  stopGrowing(): void;
  /** The next request for a page; its response has not been sent yet. */
  nextArrival(signal: AbortSignal): Promise<Arrival>;
  /** The next response that has been sent completely. */
  nextAnswer(signal: AbortSignal): Promise<Arrival>;
  /** Breaks every connection, and each new one for this long. */
  drop(ms: number): Promise<void>;
  stop(): Promise<void>;
}

const HOSTS = ['one', 'two', 'three', 'four'];

/** Known pages that are not served yet: as many keep every host busy. */
const AHEAD = 30;
const NEW_LINKS = 3;
const ANSWER_MS = { least: 5, most: 60 };

/** Out of 100 pages: those that answer 503 once, 404, a redirect to a new page, or something that is not HTML. */
const KINDS = { flaky: 2, gone: 4, redirect: 4, binary: 4 } as const;
type Kind = keyof typeof KINDS | 'page';

interface KnownPage {
  url: string;
  host: string;
  kind: Kind;
  /** Decided when it is first served; the same every time. */
  links: string[] | null;
  visits: number;
}

export async function startFaultWeb(random: Seeded): Promise<FaultWeb> {
  const suffix = `${randomBytes(4).toString('hex')}.test`;
  const known = new Map<string, KnownPage>();
  const arrivals: Arrival[] = [];
  const events = new EventEmitter();
  let growing = true;
  let dropping = false;
  let served = 0;
  const lateness = watchLateness();

  const server = createServer((request, response) => void serve(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;

  const learn = (kind: Kind): KnownPage => {
    const host = `${random.pick(HOSTS)}.${suffix}`;
    const url = `http://${host}:${port}/${known.size}`;
    const page: KnownPage = { url, host, kind, links: null, visits: 0 };
    known.set(url, page);
    return page;
  };

  const linksOf = (page: KnownPage): string[] => {
    if (page.links !== null) return page.links;
    const wanted = growing && known.size - served < AHEAD ? NEW_LINKS : 0;
    const fresh = Array.from({ length: wanted }, () => learn(kindOf(random)).url);
    // And one that is known already, which must not be fetched again because of it.
    page.links = page.kind === 'redirect' ? [learn('page').url] : [...fresh, random.pick([...known.keys()])];
    served += 1;
    return page.links;
  };

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const atMs = performance.timeOrigin + performance.now();
    const url = `http://${request.headers.host}${request.url}`;
    const arrival: Arrival = {
      url,
      host: new URL(url).hostname,
      worker: /worker-\d+/.exec(request.headers['user-agent'] ?? '')?.[0] ?? 'unknown',
      atMs,
      lateMs: lateness.at(atMs),
      status: null,
      page: !url.endsWith('/robots.txt'),
    };
    arrivals.push(arrival);
    if (dropping) {
      request.socket.resetAndDestroy();
      return;
    }
    const { status, headers, body } = answerTo(url);
    response.once('finish', () => {
      arrival.status = status;
      if (arrival.page) events.emit('answer', arrival);
    });
    if (arrival.page) events.emit('arrival', arrival);
    setTimeout(
      () => response.writeHead(status, headers).end(body),
      random.between(ANSWER_MS.least, ANSWER_MS.most),
    );
  }

  function answerTo(url: string): { status: number; headers: Record<string, string>; body: string } {
    const html = { 'content-type': 'text/html; charset=utf-8' };
    const page = known.get(url);
    if (page === undefined) return { status: 404, headers: html, body: 'There is no such page.' };
    page.visits += 1;
    const links = linksOf(page);
    switch (page.kind) {
      case 'flaky':
        if (page.visits === 1) return { status: 503, headers: html, body: 'Not now.' };
        break;
      case 'gone':
        return { status: 404, headers: html, body: 'Gone.' };
      case 'redirect':
        return { status: 302, headers: { ...html, location: links[0] ?? '/' }, body: '' };
      case 'binary':
        return { status: 200, headers: { 'content-type': 'image/png' }, body: 'PNG' };
    }
    const anchors = links.map((link) => `<a href="${link}">a link</a>`).join('\n');
    return { status: 200, headers: html, body: `<title>Page at ${url}</title>\n${anchors}` };
  }

  const seeds = HOSTS.map((name) => {
    const host = `${name}.${suffix}`;
    const url = `http://${host}:${port}/`;
    known.set(url, { url, host, kind: 'page', links: null, visits: 0 });
    return url;
  });

  const next = async (what: 'arrival' | 'answer', signal: AbortSignal): Promise<Arrival> => {
    const [arrival] = await once(events, what, { signal });
    return arrival;
  };

  return {
    arrivals,
    seeds,
    network: {
      resolve: HOSTS.map((name) => `${name}.${suffix}:127.0.0.1`),
      allowNetwork: ['127.0.0.0/8'],
    },
    expected: () => reachable(seeds, known),
    stopGrowing() {
      growing = false;
    },
    nextArrival: (signal) => next('arrival', signal),
    nextAnswer: (signal) => next('answer', signal),
    async drop(ms) {
      dropping = true;
      server.closeAllConnections();
      await new Promise((resolve) => setTimeout(resolve, ms));
      dropping = false;
    },
    async stop() {
      lateness.stop();
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

function kindOf(random: Seeded): Kind {
  let lot = random() * 100;
  for (const [kind, share] of Object.entries(KINDS)) {
    lot -= share;
    if (lot < 0 && isKind(kind)) return kind;
  }
  return 'page';
}

function isKind(word: string): word is keyof typeof KINDS {
  return word in KINDS;
}

const STATUS_OF = {
  page: 'Fetched',
  flaky: 'Fetched',
  gone: 'Failed',
  redirect: 'Redirected',
  binary: 'Rejected',
} as const;

function reachable(seeds: readonly string[], known: ReadonlyMap<string, KnownPage>): ExpectedPage[] {
  const found = new Map<string, ExpectedPage>();
  const open = [...seeds];
  for (let url = open.pop(); url !== undefined; url = open.pop()) {
    const page = known.get(url);
    if (page === undefined || found.has(url)) continue;
    found.set(url, { url, status: STATUS_OF[page.kind] });
    if (page.kind !== 'gone' && page.kind !== 'binary') open.push(...(page.links ?? []));
  }
  return [...found.values()];
}
