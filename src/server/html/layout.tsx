/** What all pages have in common. */
import type { Context } from 'hono';
import { describeOrigin } from '../../core/order.ts';
import type { RecordedOrder } from '../../storage/orders.ts';
import type { Env } from '../env.ts';
import type { DependencyOutage } from '../services.ts';
import type { View } from '../view.ts';
import { type Child, raw } from './jsx.ts';
import { OrderForm } from './orders.tsx';
import { Clock, FromWeb } from './parts.tsx';

export interface PageProps {
  c: Context<Env>;
  title: string;
  /** Of the view that is shown. */
  path: string;
  /** Empty: the page is for people who may see nothing else. */
  views: readonly View[];
  children?: Child;
}

export function Page({ c, title, path, views, children }: PageProps) {
  const nonce = c.get('secureHeadersNonce');
  const inNavigation = views.filter(({ nav }) => nav !== null);
  return (
    <>
      {raw('<!doctype html>')}
      <html lang="en">
        <head>
          <meta charset="utf-8" />
          <meta name="viewport" content="width=device-width, initial-scale=1" />
          <meta name="color-scheme" content="light dark" />
          <title>{`${title} · Amble`}</title>
          <link rel="icon" type="image/svg+xml" href="/assets/icon.svg" />
          <link rel="stylesheet" href="/assets/dashboard.css" nonce={nonce} />
          <script src="/assets/dashboard.js" nonce={nonce} defer />
        </head>
        <body>
          <a class="skip" href="#main">
            Skip to content
          </a>
          <header>
            {views.length === 0 ? (
              <span class="brand">
                <Brand />
              </span>
            ) : (
              <a class="brand" href="/">
                <Brand />
              </a>
            )}
            {inNavigation.length > 0 && (
              <nav aria-label="Views">
                {inNavigation.map((view) => (
                  <a href={view.path} aria-current={isIn(path, view.path) ? 'page' : undefined}>
                    {view.nav}
                  </a>
                ))}
              </nav>
            )}
            {views.some((view) => view.path === '/page') && (
              <search class="find">
                <form action="/page">
                  <input
                    name="url"
                    type="search"
                    placeholder="Find a URL"
                    aria-label="Find a page by its URL"
                  />
                </form>
              </search>
            )}
            {views.length > 0 && c.get('operator') !== undefined && c.get('namesItself') !== true && (
              <form method="post" action="/logout">
                <button type="submit">Log out</button>
              </form>
            )}
          </header>
          {children}
          {views.length > 0 && <Operator name={c.get('operator') ?? null} mayChange={c.get('namesItself')} />}
        </body>
      </html>
    </>
  );
}

/** By whom the record says that orders of this browser are. */
function Operator({ name, mayChange = false }: { name: string | null; mayChange?: boolean | undefined }) {
  return (
    <footer>
      {name === null ? 'You give orders without a name.' : `You give orders as ${name}.`}{' '}
      {mayChange && <a href="/name">{name === null ? 'Add your name' : 'Change your name'}</a>}
    </footer>
  );
}

function Brand() {
  return (
    <>
      <img src="/assets/icon.svg" alt="" width="20" height="20" /> Amble
    </>
  );
}

/** `/domains/:domain` belongs to `/domains`, and a crawl to the list of crawls. */
function isIn(path: string, section: string): boolean {
  return path === section || path.startsWith(`${section === '/now' ? '/crawls' : section}/`);
}

export interface MainProps {
  outages: readonly DependencyOutage[];
  /** The order that stopped everything. null: nothing is stopped. */
  stop: RecordedOrder | null;
  /** When the data was loaded, if it cannot be loaded again now. */
  staleSince: Date | null;
  now: Date;
  /** Open browsers get it again whenever it changes. */
  isLive: boolean;
  children?: Child;
}

/** Whatever a page shows, it says what is missing and whether everything is stopped. */
export function Main({ outages, stop, staleSince, now, isLive, children }: MainProps) {
  return (
    <main id="main">
      <div id="outages" data-live={isLive ? true : undefined}>
        {stop !== null && (
          <div class="notice bad banner" role="alert">
            <span>
              Everything is stopped <FromWeb text={describeOrigin(stop)} />, since{' '}
              <Clock at={stop.givenAt} now={now} />. No request is sent.
            </span>
            <OrderForm kind="resume-all" back="/now" label="Lift the stop" text="Lift the stop" askReason />
          </div>
        )}
        {outages.map(({ dependency, since }) => (
          <p class="notice bad" role="alert">
            {dependency} has been unavailable since <Clock at={since} now={now} />.{' '}
            {dependency === 'Postgres'
              ? staleSince && (
                  <>
                    This page shows what was known at <Clock at={staleSince} now={now} />.
                  </>
                )
              : 'What only a running workflow knows is missing on this page.'}
          </p>
        ))}
      </div>
      {children}
    </main>
  );
}
