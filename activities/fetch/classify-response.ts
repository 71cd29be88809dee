/** What the response to a request for a page means for that page. */

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
import type { CachedCopy } from '../../src/storage/pages/fetch-context.ts';
import { normaliseRedirect } from '../../src/urls/index.ts';
import type { ContentStore } from '../../src/worker/content-store.ts';
import type { ContentPolicy } from './content-policy.ts';

export type Classified = Pick<AttemptReport, 'outcome' | 'statusCode' | 'errorKind' | 'error' | 'found'>;

export interface PageRequest {
  store: Pick<ContentStore, 'put'>;
  /** An X-Robots-Tag may name it. */
  userAgent: string;
  /** How the target of a redirect is normalised. */
  rules: UrlRules;
  policy: ContentPolicy;
  url: string;
  /** The copy that the server was asked to confirm. */
  earlier: CachedCopy | null;
}

const REDIRECTS = new Set([301, 302, 303, 307, 308]);

const VALIDATOR = /^[\x20-\x7e]{1,500}$/;

const NO_BYTES = Buffer.alloc(0);

export function classifyFailure({ errorKind, message, status }: FailedExchange): Classified {
  const outcome: Outcome = isTimeout(errorKind)
    ? 'Timeout'
    : errorKind === 'forbidden'
      ? 'Rejected'
      : 'Failed';
  return failed(outcome, status ?? null, errorKind, message);
}

/** For sendRequest: reads only bodies that will be kept, and of others no more than it takes to know that. */
export function acceptsBody({ kindOf }: ContentPolicy): NonNullable<RequestOptions['acceptBody']> {
  return (status, headers) => {
    if (!isSuccess(status)) return false;
    const isWanted = (head: Buffer): boolean => kindOf(contentTypeOf(headers, head)) !== null;
    return isSniffed(headers) ? isWanted : isWanted(NO_BYTES);
  };
}

export async function classifyResponse(
  request: PageRequest,
  response: ResponseExchange,
): Promise<Classified> {
  const { status, headers } = response;
  if (isSuccess(status)) return classifySuccess(request, response);
  if (status === 304 && request.earlier !== null) return confirmed(request, request.earlier, headers);
  if (REDIRECTS.has(status)) return classifyRedirect(request, status, headers.location);
  // Both mean "later", as a 5xx does: failing the page at once would lose it.
  if (status === 429) return failed('Blocked5xx', status, 'status', 'Status 429: too many requests.');
  if (status === 408) return failed('Timeout', status, 'status', 'Status 408: the server timed out.');
  if (status >= 500) return failed('Blocked5xx', status, 'status', `Status ${status}.`);
  if (status >= 400) return failed('Blocked4xx', status, 'status', `Status ${status}.`);
  return failed('Rejected', status, 'status', `Status ${status} is not a page.`);
}

function classifyRedirect(
  { url, rules }: PageRequest,
  status: number,
  location: string | undefined,
): Classified {
  const rejected = (why: string): Classified => failed('Rejected', status, 'redirect', why);
  if (location === undefined) return rejected(`Status ${status} without a Location.`);
  const target = normaliseRedirect(location, url, rules);
  if (!target.ok) return rejected(`Redirected to a URL that is not followed: ${target.reason}.`);
  if (target.url === url) return rejected('Redirected to itself.');
  return found(status, { kind: 'redirect', to: target.url });
}

async function classifySuccess(
  { store, policy, userAgent }: PageRequest,
  { status, headers, body, cut }: ResponseExchange,
): Promise<Classified> {
  if (cut === 'too-large') {
    const limit = formatBytes(policy.limits.maxBodyBytes);
    return failed('Rejected', status, 'too-large', `Larger than ${limit}, the limit for a body.`);
  }
  const type = contentTypeOf(headers, body ?? NO_BYTES);
  const kind = policy.kindOf(type);
  if (body === null || kind === null) {
    const described = describeType(type, headers);
    return failed('Rejected', status, 'type', policy.rejection(described));
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

/** The server confirms the copy: it is this page's content, and is parsed again. */
function confirmed(
  { policy, userAgent }: PageRequest,
  copy: CachedCopy,
  headers: ResponseHeaders,
): Classified {
  const directives = directivesOf(headers, userAgent);
  return found(304, {
    kind: policy.kindOf(copy.type) ?? 'file',
    contentHash: copy.contentHash,
    contentType: copy.contentType,
    bytes: copy.bytes,
    etag: copy.etag,
    lastModified: copy.lastModified,
    contentLanguage: languageHeaderOf(headers),
    // A server may omit the header from "not modified".
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

function failed(outcome: Outcome, statusCode: number | null, errorKind: string, error: string): Classified {
  return { outcome, statusCode, errorKind, error, found: { kind: 'nothing' } };
}

function found(statusCode: number, what: Found): Classified {
  return { outcome: 'Success', statusCode, errorKind: null, error: null, found: what };
}

function describeType(type: string, headers: ResponseHeaders): string {
  const header = truncateText(headers['content-type'] ?? '', 100);
  if (header.toLowerCase().startsWith(type)) return truncateText(type, 100) || 'something without a type';
  return header === '' ? `${type}, sent without a type` : `${type}, sent as ${header}`;
}

/** They go into a history and back to the server, so only plausible ones are kept. */
function validatorsOf(headers: ResponseHeaders): { etag: string | null; lastModified: string | null } {
  const usable = (value: string | undefined): string | null =>
    value !== undefined && VALIDATOR.test(value) ? value : null;
  return { etag: usable(headers.etag), lastModified: usable(headers['last-modified']) };
}

/** The type of the body itself, with the charset of the header. */
function withCharset(type: string, headers: ResponseHeaders): string {
  const charset = /;\s*charset\s*=\s*("[^"]*"|[^\s;,]+)/i.exec(headers['content-type'] ?? '')?.[1];
  return truncateText(charset === undefined ? type : `${type}; charset=${charset}`, 100);
}

/** 204 and 205 have no content, and 206 is a part that was not requested. */
function isSuccess(status: number): boolean {
  return status >= 200 && status < 204;
}
