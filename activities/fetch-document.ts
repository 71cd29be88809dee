/** Fetches the page itself with the lease, and judges what came. */
import type { AttemptReport, Found } from '../src/attempt.ts';
import { isHtml } from '../src/html/index.ts';
import { type FailedExchange, type ResponseExchange, sendRequest } from '../src/http/index.ts';
import type { Outcome } from '../src/outcome.ts';
import type { CrawlSettings } from '../src/settings.ts';
import { normaliseUrl } from '../src/urls/index.ts';
import type { Deps } from './deps.ts';
import type { FetchInput, Unreported } from './fetch-page.ts';
import type { LeaseKeeper } from './lease-keeper.ts';

const REDIRECTS = new Set([301, 302, 303, 307, 308]);

export async function fetchDocument(deps: Deps, input: FetchInput, lease: LeaseKeeper): Promise<Unreported> {
  const { settings } = await deps.crawlOf(input.crawlId);
  const refusal = await lease.ready();
  if (refusal !== null) return { kind: 'refused', reason: refusal };
  const began = performance.now();
  const exchange = await sendRequest({
    url: input.url,
    headers: {
      'user-agent': deps.config.userAgent,
      accept: 'text/html,application/xhtml+xml;q=0.9,*/*;q=0.1',
    },
    limits: settings.fetch,
    agent: agentFor(deps, settings),
    gate: lease.gate,
    signal: lease.signal,
    acceptBody: (status, headers) => isSuccess(status) && isHtml(headers['content-type']),
  });
  const request = lease.conclude(exchange, input.url);
  // The slot is free for the next page while this one's body is stored.
  await lease.report();
  if (exchange.kind === 'refused') return exchange;
  if (exchange.kind === 'error' && exchange.errorKind === 'aborted') throw new Error(exchange.message);
  if (exchange.kind === 'error' && exchange.errorKind === 'timeout' && deps.lag.laggedSince(began)) {
    return {
      kind: 'trouble',
      reason: 'it timed out while this process itself stood still',
      sent: lease.sent,
    };
  }
  const judged =
    exchange.kind === 'error' ? judgeFailure(exchange) : await judgeResponse(deps, input.url, exchange);
  return {
    kind: 'attempt',
    report: {
      ...judged,
      request,
      finishedAt: request === null ? Date.now() : request.startedAt + request.tookMs,
      latencyMs: exchange.kind === 'response' ? exchange.latencyMs : null,
      bytes: exchange.kind === 'response' ? exchange.bodyBytes : null,
    },
  };
}

export function agentFor({ agents }: Deps, { resolve, allowNetworks, fetch }: CrawlSettings) {
  return agents.agentFor({ resolve, allowNetworks, connectTimeoutMs: fetch.connectTimeoutMs });
}

/** What becomes of a page whose address the network policy refuses. */
export function refusedReport(exchange: FailedExchange): AttemptReport {
  return { ...judgeFailure(exchange), request: null, finishedAt: Date.now(), latencyMs: null, bytes: null };
}

type Judged = Pick<AttemptReport, 'outcome' | 'statusCode' | 'errorKind' | 'error' | 'found'>;

const nothing: Found = { kind: 'nothing' };

function judgeFailure({ errorKind, message, status }: FailedExchange): Judged {
  const outcome: Outcome =
    errorKind === 'timeout' ? 'Timeout' : errorKind === 'forbidden' ? 'Rejected' : 'Failed';
  return { outcome, statusCode: status ?? null, errorKind, error: message, found: nothing };
}

async function judgeResponse(deps: Deps, url: string, response: ResponseExchange): Promise<Judged> {
  const { status: statusCode, headers } = response;
  const said = (outcome: Outcome, errorKind: string, error: string): Judged => ({
    outcome,
    statusCode,
    errorKind,
    error,
    found: nothing,
  });
  if (isSuccess(statusCode)) return judgeSuccess(deps, response, said);
  if (REDIRECTS.has(statusCode)) {
    const target = normaliseUrl(headers.location ?? '', url);
    if (headers.location === undefined)
      return said('Rejected', 'redirect', `Status ${statusCode} without a Location.`);
    if (!target.ok)
      return said('Rejected', 'redirect', `Redirected to something that is not followed: ${target.reason}`);
    if (target.url === url) return said('Rejected', 'redirect', 'Redirected to itself.');
    return {
      outcome: 'Success',
      statusCode,
      errorKind: null,
      error: null,
      found: { kind: 'redirect', to: target.url },
    };
  }
  // Both say "later", as a 5xx does: giving the page up at once would lose it.
  if (statusCode === 429) return said('Blocked5xx', 'status', 'Status 429: asked too often.');
  if (statusCode === 408) return said('Timeout', 'status', 'Status 408: the server gave up waiting.');
  if (statusCode >= 500) return said('Blocked5xx', 'status', `Status ${statusCode}.`);
  if (statusCode >= 400) return said('Blocked4xx', 'status', `Status ${statusCode}.`);
  return said('Rejected', 'status', `Status ${statusCode} is not a page.`);
}

async function judgeSuccess(
  { store }: Deps,
  { status, headers, body, cut }: ResponseExchange,
  said: (outcome: Outcome, errorKind: string, error: string) => Judged,
): Promise<Judged> {
  const contentType = headers['content-type'] ?? '';
  if (cut === 'unwanted')
    return said('Rejected', 'type', `Not something that is kept: ${contentType || 'no content type'}.`);
  if (cut === 'too-large' || body === null)
    return said('Rejected', 'size', 'Larger than the limit for a body.');
  const contentHash = await store.put(body);
  return {
    outcome: 'Success',
    statusCode: status,
    errorKind: null,
    error: null,
    found: {
      kind: 'document',
      contentHash,
      contentType,
      bytes: body.length,
      etag: headers.etag ?? null,
      lastModified: headers['last-modified'] ?? null,
    },
  };
}

function isSuccess(status: number): boolean {
  return status >= 200 && status < 300;
}
