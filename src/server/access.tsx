/**
 * The token that others than this machine need. Programs send it as `Authorization: Bearer ...`; people type it once and get a
 * signed cookie. It is never part of an address, which browsers and proxies remember.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Context, Hono } from 'hono';
import { deleteCookie, getSignedCookie, setSignedCookie } from 'hono/cookie';
import { MAX_NAME_LENGTH } from '../core/order.ts';
import { problem } from './api/problem.ts';
import type { Env } from './env.ts';
import { Page } from './html/layout.tsx';
import { cleanName } from './operator-name.tsx';
import { formOf, ownPath } from './own-path.ts';

const COOKIE = 'amble_session';

/** A working day. */
const SESSION_SECONDS = 12 * 60 * 60;

/** Guesses come one after the other, this far apart. */
const WRONG_TOKEN_DELAY_MS = 500;

/** Served without a token: what a browser needs to show the login, what is meant for everybody, and health, which says nothing else. */
const PUBLIC = /^\/(login|healthz|readyz|assets\/[\w.-]+|bot(\/.*|\.json)?)$/;

export function requireToken(app: Hono<Env>, token: string): void {
  /** Wrong guesses wait for each other, so that opening many connections does not help. The right token never waits behind them. */
  let guesses: Promise<unknown> = Promise.resolve();
  const checkSlowly = async (given: string): Promise<boolean> => {
    if (isSame(given, token)) return true;
    guesses = guesses.then(() => sleep(WRONG_TOKEN_DELAY_MS));
    await guesses;
    return false;
  };

  app.use(async (c, next) => {
    if (PUBLIC.test(c.req.path)) return next();
    const bearer = /^Bearer (.+)$/i.exec(c.req.header('Authorization') ?? '')?.[1];
    if (bearer !== undefined && (await checkSlowly(bearer))) return next();
    const session = bearer === undefined ? await readSession(c, token) : null;
    if (session !== null) {
      c.set('operator', session.name);
      return next();
    }
    // Also for a form whose session has expired; what it ordered is not done.
    const isPerson = c.req.header('Accept')?.includes('text/html') && !c.req.path.startsWith('/api/');
    if (isPerson) return c.redirect(loginAddress(c), 303);
    const refusal = problem(401, 'Send the token of this server as "Authorization: Bearer ...".');
    refusal.headers.set('WWW-Authenticate', 'Bearer');
    return refusal;
  });
  app.get('/login', (c) => {
    const notice = c.req.query('expired') === undefined ? null : EXPIRED;
    return c.html(<Login c={c} notice={notice} next={c.req.query('next')} />);
  });
  app.post('/login', async (c) => {
    const { token: given, name, next: asked } = await c.req.parseBody();
    const next = typeof asked === 'string' ? asked : undefined;
    if (typeof given !== 'string' || !(await checkSlowly(given)))
      return c.html(<Login c={c} notice="Wrong token." next={next} />, 401);
    const expires = Math.floor(Date.now() / 1_000) + SESSION_SECONDS;
    const by = typeof name === 'string' ? cleanName(name) : '';
    await setSignedCookie(c, COOKIE, `${expires}.${Buffer.from(by).toString('base64url')}`, token, {
      path: '/',
      httpOnly: true,
      // Not Strict: a link in a chat must not lead to the login. Orders of other sites are refused by their origin.
      sameSite: 'Lax',
      secure: c.req.header('X-Forwarded-Proto') === 'https',
      maxAge: SESSION_SECONDS,
    });
    return c.redirect(ownPath(next) ?? '/', 303);
  });
  app.post('/logout', (c) => {
    deleteCookie(c, COOKIE, { path: '/' });
    return c.redirect('/login', 303);
  });
}

/** null: there is none that is valid. */
async function readSession(c: Context<Env>, token: string): Promise<{ name: string | null } | null> {
  const value = await getSignedCookie(c, token, COOKIE);
  if (typeof value !== 'string') return null;
  const [expires = '', name = ''] = value.split('.');
  if (!(Number(expires) * 1_000 > Date.now())) return null;
  return { name: Buffer.from(name, 'base64url').toString() || null };
}

/** Takes the same time whatever is wrong, the length included. */
function isSame(given: string, token: string): boolean {
  const hash = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(hash(given), hash(token));
}

const EXPIRED = 'Your session had expired, so nothing was ordered. Log in, then order it again.';

/** Leads back to the page that was asked for, or to that of the form. */
function loginAddress({ req }: Context<Env>): string {
  const isForm = req.method !== 'GET';
  const { pathname, search } = new URL(req.url);
  const next = isForm ? formOf(req) : pathname + search;
  const query = new URLSearchParams({
    ...(next !== null && next !== '/' && { next }),
    ...(isForm && pathname !== '/logout' && { expired: '' }),
  });
  return query.size === 0 ? '/login' : `/login?${query}`;
}

interface LoginProps {
  c: Context<Env>;
  /** null: there is nothing to say yet. */
  notice: string | null;
  next: string | undefined;
}

function Login({ c, notice, next }: LoginProps) {
  return (
    <Page c={c} title="Log in" path="/login" views={[]}>
      <main>
        <h1>Log in</h1>
        {notice !== null && (
          <p class="notice bad" role="alert">
            {notice}
          </p>
        )}
        <form method="post" action="/login" class="stack">
          {next !== undefined && <input type="hidden" name="next" value={next} />}
          <label for="token">Token of this server (AMBLE_SERVER_TOKEN)</label>
          <input id="token" name="token" type="password" required autocomplete="current-password" />
          <label for="name">Your name, for the record of your orders (optional)</label>
          <input id="name" name="name" maxlength={MAX_NAME_LENGTH} autocomplete="name" />
          <button type="submit">Log in</button>
        </form>
      </main>
    </Page>
  );
}
