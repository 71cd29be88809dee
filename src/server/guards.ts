/** Checks that every request passes, whatever it asks for. Each refuses with one sentence. */
import type { Context, Hono, MiddlewareHandler } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { NONCE, secureHeaders } from 'hono/secure-headers';
import { problem } from './api/problem.ts';
import type { Env } from './env.ts';

/** A list of seeds is the longest input. */
const MAX_BODY_BYTES = 256 * 1024;

/** As long as the longest URL that a crawl can have, escaped, with the name of a view around it. */
const MAX_ADDRESS_LENGTH = 8 * 1024;

/** Postgres stores no such text, and refuses to compare with it. */
const ESCAPED_NUL = /%00/;

const LOOPBACK_NAMES = ['localhost', '127.0.0.1', '[::1]'];

/** `hosts`: names by which the server may be called, besides those of this machine. null: any name. */
export function addGuards(app: Hono<Env>, hosts: readonly string[] | null): void {
  app.use(
    secureHeaders({
      contentSecurityPolicy: {
        defaultSrc: ["'none'"],
        scriptSrc: [NONCE],
        styleSrc: [NONCE],
        imgSrc: ["'self'"],
        connectSrc: ["'self'"],
        formAction: ["'self'"],
        baseUri: ["'none'"],
        frameAncestors: ["'none'"],
      },
      referrerPolicy: 'same-origin',
      // Whether it is served over TLS is for the proxy in front of it to know.
      strictTransportSecurity: false,
    }),
  );
  app.use(async (c, next) => {
    await next();
    // A page is a moment of a crawl. Assets carry their own header.
    if (!c.res.headers.has('Cache-Control')) c.header('Cache-Control', 'no-store');
  });
  app.use(async (c, next) =>
    c.req.url.length > MAX_ADDRESS_LENGTH ? refuse(c, 414, 'The address is too long.') : next(),
  );
  app.use(async (c, next) =>
    ESCAPED_NUL.test(c.req.url) ? refuse(c, 400, 'The address contains a NUL character.') : next(),
  );
  if (hosts !== null) app.use(requireHost([...LOOPBACK_NAMES, ...hosts]));
  app.use(requireOwnOrigin);
  app.use(bodyLimit({ maxSize: MAX_BODY_BYTES, onError: (c) => refuse(c, 413, 'The request is too long.') }));
}

/** Load balancers ask by address, and learn nothing that others may not know. */
const PROBES = ['/healthz', '/readyz'];

/** A page of another site can make its own name point to this machine, and would then read ours as its own. */
function requireHost(names: readonly string[]): MiddlewareHandler<Env> {
  return async (c, next) => {
    if (PROBES.includes(c.req.path)) return next();
    const host = c.req.header('Host') ?? '';
    const name = host.replace(/:\d+$/, '').toLowerCase();
    if (names.includes(name)) return next();
    return refuse(
      c,
      421,
      'This server does not answer to that host name; "serverHosts" (AMBLE_SERVER_HOSTS) lists further ones.',
    );
  };
}

/**
 * A page of another site must not give orders. Browsers state the origin of everything but GET; programs state none, and are
 * not driven by pages.
 */
const requireOwnOrigin: MiddlewareHandler<Env> = async (c, next) => {
  if (c.req.method === 'GET' || c.req.method === 'HEAD') return next();
  const origin = c.req.header('Origin');
  const site = c.req.header('Sec-Fetch-Site');
  const isOwn =
    origin === undefined
      ? site === undefined || site === 'same-origin'
      : hostOf(origin) === c.req.header('Host');
  return isOwn ? next() : refuse(c, 403, 'This request comes from a page of another site.');
};

function hostOf(origin: string): string | null {
  return URL.canParse(origin) ? new URL(origin).host : null;
}

/** In the form that the reader can use: programs get problem details. */
function refuse(c: Context, status: 400 | 403 | 413 | 414 | 421, detail: string): Response {
  return c.req.path.startsWith('/api/') ? problem(status, detail) : c.text(detail, status);
}
