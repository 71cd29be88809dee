/** Serves a view in its three forms: a page, JSON, and a stream of pages. */
import type { Context, Hono } from 'hono';
import { streamSSE } from 'hono/streaming';
import { LRUCache } from 'lru-cache';
import { isDatabaseUnavailable } from '../storage/database-unavailable.ts';
import type { RecordedOrder } from '../storage/orders.ts';
import { explainError } from './api/problem.ts';
import type { Env } from './env.ts';
import { raw } from './html/jsx.ts';
import { Main, Page } from './html/layout.tsx';
import type { LiveFeeds } from './live.ts';
import { type Services, whileDatabaseAnswers } from './services.ts';
import { type LoadedView, toJson, type View } from './view.ts';

/** Addresses whose last data is kept for the time when the database is unavailable. */
const MAX_REMEMBERED = 100;

/** Open streams: far more than operators have tabs, far fewer than a process has file descriptors. */
const MAX_STREAMS = 500;

/** Often enough for proxies, which close silent connections after a minute, and to notice that a reader has gone. */
const PING_MS = 15_000;

interface Loaded {
  view: LoadedView;
  /** The order that stopped everything. null: nothing is stopped. */
  stop: RecordedOrder | null;
  at: Date;
  /** Loaded before the database became unavailable. */
  stale: boolean;
}

export interface Serving {
  services: Services;
  feeds: LiveFeeds;
  views: readonly View[];
  /** Aborted when the server stops: streams would keep it waiting. */
  stopping: AbortSignal;
  /** For errors that are not the reader's. */
  log(line: string): void;
}

export function serveViews(app: Hono<Env>, serving: Serving): void {
  for (const view of serving.views) serveView(app, view, serving);
}

function serveView(app: Hono<Env>, view: View, { services, feeds, views, stopping, log }: Serving): void {
  const { isPublic, isLive } = view;
  const { outages } = services;
  const remembered = new LRUCache<string, Omit<Loaded, 'stale'>>({ max: MAX_REMEMBERED });

  /** null: there is no such thing. */
  const load = async (params: Record<string, string>, url: URL): Promise<Loaded | null> => {
    const now = new Date();
    const known = remembered.get(url.href);
    // It would wait for the database, and be shown without it in the end.
    if (known !== undefined && view.needsDatabase && outages.isSilent('Postgres'))
      return { ...known, stale: true };
    try {
      const loading = view.load({ services, params, query: url.searchParams, now });
      const [loaded, stop] = await Promise.all([
        view.needsDatabase ? whileDatabaseAnswers(services, loading) : loading,
        services.lastStop.read(services),
      ]);
      if (loaded === null) return null;
      remembered.set(url.href, { view: loaded, stop, at: now });
      return { view: loaded, stop, at: now, stale: false };
    } catch (error) {
      if (!isDatabaseUnavailable(error)) throw error;
      outages.failed('Postgres', error);
      const last = remembered.get(url.href);
      if (last === undefined) throw error;
      return { ...last, stale: true };
    }
  };

  const renderMain = async ({ view: { render }, stop, at, stale }: Loaded): Promise<string> =>
    `${await (
      <Main
        outages={outages.list()}
        stop={isPublic ? null : stop}
        staleSince={stale ? at : null}
        now={new Date()}
        isLive={isLive}
      >
        {render(new Date())}
      </Main>
    )}`;

  const json = async (c: Context<Env>, params: Record<string, string>) => {
    const url = new URL(c.req.url);
    url.pathname = url.pathname.replace(/\.json$/, '');
    const loaded = await load(params, url);
    if (loaded === null) return c.notFound();
    if (loaded.stale)
      c.header('Warning', `110 - "Postgres is unavailable; as of ${loaded.at.toISOString()}"`);
    return c.body(toJson(loaded.view.data), 200, { 'Content-Type': 'application/json; charset=utf-8' });
  };

  const stream = (c: Context<Env>, params: Record<string, string>) => {
    if (feeds.followers >= MAX_STREAMS) return c.text('Too many open pages.', 503);
    const url = new URL(c.req.url);
    let failing = false;
    const render = async () => {
      try {
        const loaded = await load(params, url);
        failing = false;
        return loaded === null ? '' : await renderMain(loaded);
      } catch (error) {
        if (!failing && explainError(error) === null)
          log(`The dashboard failed to update ${url.pathname}: ${stackOf(error)}`);
        failing = true;
        throw error;
      }
    };
    return streamSSE(c, async (events) => {
      const left = new AbortController();
      const leave = () => left.abort();
      events.onAbort(leave);
      stopping.addEventListener('abort', leave);
      const ping = setInterval(() => void events.writeSSE({ event: 'ping', data: '' }), PING_MS);
      try {
        for await (const html of feeds.follow(url.href, render, left.signal))
          if (html !== '') await events.writeSSE({ event: 'main', data: html });
      } finally {
        clearInterval(ping);
        stopping.removeEventListener('abort', leave);
      }
    });
  };

  const page = async (c: Context<Env>, params: Record<string, string>) => {
    const loaded = await load(params, new URL(c.req.url));
    if (loaded === null) return c.notFound();
    return c.html(
      <Page c={c} title={loaded.view.title} path={view.path} views={isPublic ? [] : views}>
        {raw(await renderMain(loaded))}
      </Page>,
    );
  };

  app.get(view.path, (c) => {
    c.header('Vary', 'Accept');
    const params = c.req.param() as Record<string, string>;
    const [last, value] = Object.entries(params).at(-1) ?? [];
    if (last !== undefined && value?.endsWith('.json'))
      return json(c, { ...params, [last]: value.slice(0, -'.json'.length) });
    if (isLive && wantsStream(c)) return stream(c, params);
    return page(c, params);
  });
  if (!view.path.split('/').at(-1)?.startsWith(':'))
    app.get(`${view.path}.json`, (c) => json(c, c.req.param() as Record<string, string>));
}

/**
 * Not for HEAD: its handler is that of GET, whose stream nobody would read or end. Nor for pages of other sites: they could not read
 * it, but could open all that there may be.
 */
function wantsStream({ req }: Context<Env>): boolean {
  const site = req.header('Sec-Fetch-Site') ?? 'none';
  return (
    req.method === 'GET' &&
    req.header('Accept') === 'text/event-stream' &&
    (site === 'same-origin' || site === 'none')
  );
}

function stackOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
