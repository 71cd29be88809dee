/** What an answer to the request for a page means for that page. */

import type { AttemptReport, Found, RobotsDirectives } from '../../src/core/attempt.ts';
import { formatBytes } from '../../src/core/bytes.ts';
import { truncateText } from '../../src/core/format.ts';
import type { Outcome } from '../../src/core/outcome.ts';
import type { UrlRules } from '../../src/core/settings.ts';
import {
  contentTypeOf,
  type FailedExchange,
  headerLines,
  isSniffed,
  isTimeout,
  productToken,
  type RequestOptions,
  type ResponseExchange,
  type ResponseHeaders,
} from '../../src/http/index.ts';
import { readDirectives } from '../../src/robots/index.ts';
import type { EarlierCopy } from '../../src/storage/pages/cached-copy.ts';
import { normaliseRedirect } from '../../src/urls/index.ts';
import type { ContentStore } from '../../src/worker/content-store.ts';
import type { Wanted } from './content-policy.ts';

export type Judged = Pick<AttemptReport, 'outcome' | 'statusCode' | 'errorKind' | 'error' | 'found'>;

export interface Asked {
  store: Pick<ContentStore, 'put'>;
  /** Whom an X-Robots-Tag may address. */
  userAgent: string;
  /** How the target of a redirect is written. */
  rules: UrlRules;
  wanted: Wanted;
  url: string;
  /** The copy that the request offered to confirm. */
  earlier: EarlierCopy | null;
}

const REDIRECTS = new Set([301, 302, 303, 307, 308]);

const VALIDATOR = /^[\x20-\x7e]{1,500}$/;

const NO_BYTES = Buffer.alloc(0);

export function judgeFailure({ errorKind, message, status }: FailedExchange): Judged {
  const outcome: Outcome = isTimeout(errorKind)
    ? 'Timeout'
    : errorKind === 'forbidden'
      ? 'Rejected'
      : 'Failed';
  return said(outcome, status ?? null, errorKind, message);
}

/** For sendRequest: only what will be kept is read, and no more of it than it takes to tell. */
export function wantsBody({ kindOf }: Wanted): NonNullable<RequestOptions['acceptBody']> {
  return (status, headers) => {
    if (!isSuccess(status)) return false;
    const isWanted = (head: Buffer): boolean => kindOf(contentTypeOf(headers, head)) !== null;
    return isSniffed(headers) ? isWanted : isWanted(NO_BYTES);
  };
}

export async function judgeResponse(asked: Asked, response: ResponseExchange): Promise<Judged> {
  const { status, headers } = response;
  if (isSuccess(status)) return judgeSuccess(asked, response);
  if (status === 304 && asked.earlier !== null) return confirmed(asked, asked.earlier, headers);
  if (REDIRECTS.has(status)) return judgeRedirect(asked, status, headers.location);
  // Both say "later", as a 5xx does: giving the page up at once would lose it.
  if (status === 429) return said('Blocked5xx', status, 'status', 'Status 429: asked too often.');
  if (status === 408) return said('Timeout', status, 'status', 'Status 408: the server gave up waiting.');
  if (status >= 500) return said('Blocked5xx', status, 'status', `Status ${status}.`);
  if (status >= 400) return said('Blocked4xx', status, 'status', `Status ${status}.`);
  return said('Rejected', status, 'status', `Status ${status} is not a page.`);
}

function judgeRedirect({ url, rules }: Asked, status: number, location: string | undefined): Judged {
  const rejected = (why: string): Judged => said('Rejected', status, 'redirect', why);
  if (location === undefined) return rejected(`Status ${status} without a Location.`);
  const target = normaliseRedirect(location, url, rules);
  if (!target.ok) return rejected(`Redirected to something that is not followed: ${target.reason}.`);
  if (target.url === url) return rejected('Redirected to itself.');
  return found(status, { kind: 'redirect', to: target.url });
}

async function judgeSuccess(
  { store, wanted, userAgent }: Asked,
  { status, headers, body, cut }: ResponseExchange,
): Promise<Judged> {
  if (cut === 'too-large') {
    const limit = formatBytes(wanted.limits.maxBodyBytes);
    return said('Rejected', status, 'too-large', `Larger than ${limit}, the limit for a body.`);
  }
  const type = contentTypeOf(headers, body ?? NO_BYTES);
  const kind = wanted.kindOf(type);
  if (body === null || kind === null) {
    const what = describeType(type, headers);
    return said('Rejected', status, 'type', wanted.refusal(what));
  }
  return found(status, {
    kind,
    contentHash: await store.put(body),
    contentType: withCharset(type, headers),
    bytes: body.length,
    ...validatorsOf(headers),
    contentLanguage: languageHeaderOf(headers),
    directives: directivesOf(headers, userAgent),
  });
}

function directivesOf(headers: ResponseHeaders, userAgent: string): RobotsDirectives {
  return readDirectives(headerLines(headers, 'x-robots-tag'), productToken(userAgent));
}

/** The server says that the copy still holds: it is this page's content, and is parsed anew. */
function confirmed({ wanted, userAgent }: Asked, copy: EarlierCopy, headers: ResponseHeaders): Judged {
  const directives = directivesOf(headers, userAgent);
  return found(304, {
    kind: wanted.kindOf(copy.type) ?? 'file',
    contentHash: copy.contentHash,
    contentType: copy.contentType,
    bytes: copy.bytes,
    etag: copy.etag,
    lastModified: copy.lastModified,
    contentLanguage: languageHeaderOf(headers),
    // A server may leave the header out of "not modified".
    directives: {
      noindex: directives.noindex || copy.noindex,
      nofollow: directives.nofollow || copy.nofollow,
    },
  });
}

function languageHeaderOf(headers: ResponseHeaders): string | null {
  const header = headers['content-language'];
  return header === undefined ? null : truncateText(header, 100);
}

function said(outcome: Outcome, statusCode: number | null, errorKind: string, error: string): Judged {
  return { outcome, statusCode, errorKind, error, found: { kind: 'nothing' } };
}

function found(statusCode: number, what: Found): Judged {
  return { outcome: 'Success', statusCode, errorKind: null, error: null, found: what };
}

function describeType(type: string, headers: ResponseHeaders): string {
  const header = truncateText(headers['content-type'] ?? '', 100);
  if (header.toLowerCase().startsWith(type)) return truncateText(type, 100) || 'something without a type';
  return header === '' ? `${type}, sent without a type` : `${type}, sent as ${header}`;
}

/** They go through a history and back to the server, so only what real ones look like is kept. */
function validatorsOf(headers: ResponseHeaders): { etag: string | null; lastModified: string | null } {
  const usable = (value: string | undefined): string | null =>
    value !== undefined && VALIDATOR.test(value) ? value : null;
  return { etag: usable(headers.etag), lastModified: usable(headers['last-modified']) };
}

/** As the body turned out to be, with the charset that came with it. */
function withCharset(type: string, headers: ResponseHeaders): string {
  const charset = /;\s*charset\s*=\s*("[^"]*"|[^\s;,]+)/i.exec(headers['content-type'] ?? '')?.[1];
  return truncateText(charset === undefined ? type : `${type}; charset=${charset}`, 100);
}

/** 204 and 205 have no content, and 206 is a part that nobody asked for. */
function isSuccess(status: number): boolean {
  return status >= 200 && status < 204;
}
