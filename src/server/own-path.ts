/** Addresses that a request names to go to next. Whoever makes a link may write anything there. */
import type { HonoRequest } from 'hono';

/** The host does not matter. */
const SOME_BASE = 'http://localhost';

/** A path of this server. null: it leads elsewhere, in one of the many ways to write that. */
export function ownPath(given: string | undefined): string | null {
  if (given === undefined || !given.startsWith('/') || !URL.canParse(given, SOME_BASE)) return null;
  const { origin, pathname, search, hash } = new URL(given, SOME_BASE);
  return origin === SOME_BASE && !pathname.startsWith('//') ? pathname + search + hash : null;
}

/** The page whose form was sent. null: none was, or it is not known. */
export function formOf(req: HonoRequest): string | null {
  const referer = req.header('Referer') ?? '';
  if (req.method === 'GET' || !URL.canParse(referer)) return null;
  const { host, pathname, search } = new URL(referer);
  return host === req.header('Host') ? ownPath(pathname + search) : null;
}
