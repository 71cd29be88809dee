/** The name for the record of orders, on a server without a login: what the browser says, and nobody checks. */
import type { Hono } from 'hono';
import { getCookie, setCookie } from 'hono/cookie';
import { MAX_NAME_LENGTH } from '../core/order.ts';
import type { Env } from './env.ts';
import { Main, Page } from './html/layout.tsx';
import type { Services } from './services.ts';
import type { View } from './view.ts';

const COOKIE = 'amble_name';

const YEAR_S = 365 * 86_400;

export function rememberName(app: Hono<Env>, services: Services, views: readonly View[]): void {
  app.use((c, next) => {
    c.set('operator', cleanName(getCookie(c, COOKIE) ?? '') || null);
    c.set('namesItself', true);
    return next();
  });
  app.get('/name', async (c) => {
    const stop = await services.lastStop.read(services);
    return c.html(
      <Page c={c} title="Your name" path="/name" views={views}>
        <Main outages={services.outages.list()} stop={stop} staleSince={null} now={new Date()} isLive={false}>
          <NameForm name={c.get('operator') ?? ''} />
        </Main>
      </Page>,
    );
  });
  app.post('/name', async (c) => {
    const { name } = await c.req.parseBody();
    const given = typeof name === 'string' ? cleanName(name) : '';
    setCookie(c, COOKIE, given, { path: '/', httpOnly: true, sameSite: 'Strict', maxAge: YEAR_S });
    return c.redirect('/now', 303);
  });
}

/** Postgres stores no NUL, and a name needs no control characters. */
export function cleanName(name: string): string {
  return name
    .replaceAll(/\p{Cc}/gu, '')
    .trim()
    .slice(0, MAX_NAME_LENGTH);
}

function NameForm({ name }: { name: string }) {
  return (
    <>
      <h1>Your name</h1>
      <form method="post" action="/name" class="stack">
        <label for="name">Your name, for the record of your orders (optional)</label>
        <input id="name" name="name" value={name} maxlength={MAX_NAME_LENGTH} autocomplete="name" />
        <button type="submit">Save</button>
      </form>
    </>
  );
}
