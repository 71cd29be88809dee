/** The dashboard as a web application: guards, assets, views. */
import { setMaxListeners } from 'node:events';
import { type Context, Hono } from 'hono';
import { isDatabaseUnavailable } from '../storage/database-unavailable.ts';
import { requireToken } from './access.tsx';
import { API_PATH, createApi } from './api/api.ts';
import { explainError, type ProblemStatus, problem, titleOf } from './api/problem.ts';
import { serveAssets } from './assets.ts';
import type { Env } from './env.ts';
import { acceptOrders } from './give-order.ts';
import { addGuards } from './guards.ts';
import { serveHealth } from './health.ts';
import { Main, Page } from './html/layout.tsx';
import { FromWeb } from './html/parts.tsx';
import { LiveFeeds } from './live.ts';
import { serveMetrics } from './metrics.ts';
import { rememberName } from './operator-name.tsx';
import { formOf } from './own-path.ts';
import { rateLimit } from './rate-limit.ts';
import { serveViews } from './serve-view.tsx';
import type { Services } from './services.ts';
import type { View } from './view.ts';
import { VIEWS } from './views/index.ts';

/** A page for everybody costs up to 5,000 rows. Its owner looks at it a few times. */
const PUBLIC_RATE = { perClient: 30, inAll: 300, windowMs: 60_000 };

export interface AppOptions {
  services: Services;
  /** Further host names; null: any. */
  hosts: readonly string[] | null;
  /** null: nobody is asked for one. */
  token: string | null;
  /** Serve only what is meant for everybody. */
  botOnly?: boolean;
  /** For errors that are not the reader's. */
  log(line: string): void;
  feeds?: LiveFeeds;
  /** Aborted when the server stops. */
  stopping?: AbortSignal;
}

export function createApp(options: AppOptions): Hono<Env> {
  const { services, hosts, token, log, botOnly = false, feeds = new LiveFeeds() } = options;
  const { stopping = new AbortController().signal } = options;
  // Each open stream is one.
  setMaxListeners(0, stopping);
  const views = botOnly ? VIEWS.filter(({ isPublic }) => isPublic) : VIEWS;
  /** For everybody: all that a server for owners of sites serves, and what is below a public page, which is read without a token. */
  const viewsFor = ({ req }: Context<Env>) => (botOnly || req.path.startsWith('/bot') ? [] : views);
  const app = new Hono<Env>();
  addGuards(app, hosts);
  if (token !== null) requireToken(app, token);
  else if (!botOnly) rememberName(app, services, views);
  serveAssets(app);
  serveHealth(app, services, stopping);
  app.get('/', (c) => c.redirect(botOnly ? '/bot' : '/now', 302));
  const publicRate = rateLimit(PUBLIC_RATE);
  for (const { path, isPublic } of views)
    if (isPublic) for (const form of ['', '.json']) app.use(path + form, publicRate);
  if (!botOnly) {
    serveMetrics(app, services);
    acceptOrders(app, services);
    app.route(API_PATH, createApi(services, log));
  }
  serveViews(app, { services, feeds, views, stopping, log });
  app.notFound((c) =>
    isForPrograms(c)
      ? problem(404, `There is nothing at ${c.req.path}.`)
      : message(c, services, viewsFor(c), 404, 'Not found', 'There is nothing at this address.'),
  );
  app.onError((error, c) => {
    if (isDatabaseUnavailable(error)) services.outages.failed('Postgres', error);
    const known = explainError(error);
    if (known !== null && isForPrograms(c)) return problem(known.status, known.detail);
    if (known !== null)
      return message(c, services, viewsFor(c), known.status, titleOf(known.status), known.detail);
    log(`The dashboard failed on ${c.req.method} ${c.req.path}: ${error.stack ?? error.message}`);
    return isForPrograms(c)
      ? problem(500, UNEXPECTED)
      : message(c, services, viewsFor(c), 500, 'Error', UNEXPECTED);
  });
  return app;
}

const UNEXPECTED = 'Something went wrong; the log of the server says what.';

/** The API, and the JSON of a view. */
function isForPrograms({ req }: Context<Env>): boolean {
  return req.path.startsWith(`${API_PATH}/`) || req.path.endsWith('.json');
}

function message(
  c: Context<Env>,
  services: Services,
  views: readonly View[],
  status: ProblemStatus,
  title: string,
  text: string,
) {
  const back = formOf(c.req);
  return c.html(
    <Page c={c} title={title} path={c.req.path} views={views}>
      <Main
        outages={services.outages.list()}
        stop={views.length === 0 ? null : services.lastStop.known}
        staleSince={null}
        now={new Date()}
        isLive={false}
      >
        <h1>{title}</h1>
        <p>
          <FromWeb text={text} />
        </p>
        {back !== null && (
          <p>
            <a href={back}>Back</a>
          </p>
        )}
      </Main>
    </Page>,
    status,
  );
}
