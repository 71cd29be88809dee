/** Fetches the page itself: a plain GET, or a conditional one if there is an earlier copy to confirm. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { FetchInput, FetchOutcome } from '../../src/core/activities.ts';
import { type AllowedBy, type AttemptReport, reportWithoutRequest } from '../../src/core/attempt.ts';
import { INTERNAL_COST } from '../../src/core/retry-policy.ts';
import type { CrawlSettings } from '../../src/core/settings.ts';
import { type Exchange, type FetchMemory, identityHeaders, isTimeout } from '../../src/http/index.ts';
import type { CachedCopy } from '../../src/storage/pages/fetch-context.ts';
import type { ContentStore } from '../../src/worker/content-store.ts';
import type { Deps } from '../deps.ts';
import type { LeaseKeeper } from '../slot/lease-keeper.ts';
import { sendWithLease } from '../slot/send-with-lease.ts';
import { acceptsBody, classifyFailure, classifyResponse } from './classify-response.ts';
import { type ContentPolicy, contentPolicyFor } from './content-policy.ts';

/** How long a page waits while the content store is unavailable. */
const STORE_RETRY_MS = 10_000;
const PUT_RETRY_MS = 500;

export async function fetchDocument(
  deps: Deps,
  input: FetchInput,
  lease: LeaseKeeper,
  memory: FetchMemory,
  { allowedBy, copy }: { allowedBy: AllowedBy; copy: CachedCopy | null },
): Promise<FetchOutcome> {
  const { settings } = await deps.crawlOf(input.crawlId);
  // A body that cannot be stored is not requested: the site would have to send it again.
  if (deps.dependencies.store.unavailable) {
    return {
      kind: 'deferred',
      until: Date.now() + STORE_RETRY_MS,
      reason: 'The content store cannot be written to.',
    };
  }
  const policy = contentPolicyFor(settings, { sitemap: input.sitemap === true });
  const earlier = await ifUsable(deps, policy, copy);
  const sent = await sendWithLease(deps, input, lease, {
    url: input.url,
    headers: {
      ...identityHeaders(deps.config),
      accept: policy.accept,
      ...conditions(earlier),
    },
    limits: policy.limits,
    agent: agentFor(deps, settings),
    memory,
    acceptBody: acceptsBody(policy),
    allowedBy,
  });
  // The slot is free for the next page while this one's body is stored.
  await lease.report();
  if (sent.kind === 'not-sent') return sent.outcome;
  const { exchange, request } = sent;
  if (exchange.kind === 'error' && exchange.errorKind === 'aborted') {
    await lease.record();
    throw new Error(exchange.message);
  }
  const ownFault = ownFaultOf(exchange, lease);
  if (ownFault !== null) {
    await lease.record();
    return { kind: 'internal-error', reason: ownFault, sent: lease.sent, cost: costOf(lease) };
  }
  const pageRequest = {
    store: patientStore(deps, lease.signal),
    userAgent: deps.config.userAgent,
    rules: settings.urls,
    policy,
    url: input.url,
    earlier,
  };
  const classify = async () =>
    exchange.kind === 'error' ? classifyFailure(exchange) : await classifyResponse(pageRequest, exchange);
  // If the body cannot be stored, or the page is cancelled meanwhile, the request was sent nevertheless.
  const classified = await classify().catch(async (error: unknown) => {
    await lease.record();
    throw error;
  });
  return {
    kind: 'attempt',
    report: {
      ...classified,
      request,
      finishedAt: request === null ? Date.now() : request.startedAt + request.durationMs,
      latencyMs: exchange.kind === 'response' ? exchange.latencyMs : null,
      bytes: exchange.kind === 'response' ? exchange.bodyBytes : null,
    },
  };
}

export function agentFor({ agents }: Deps, { resolve, allowNetwork, fetch }: CrawlSettings) {
  return agents.agentFor({ resolve, allowNetwork, connectTimeoutMs: fetch.connectTimeoutMs });
}

/** Why the failure says nothing about the site; null: it is the site's. */
export function ownFaultOf(exchange: Exchange, { wasStalled }: LeaseKeeper): string | null {
  if (exchange.kind !== 'error') return null;
  if (exchange.errorKind === 'no-memory') return exchange.message;
  return isTimeout(exchange.errorKind) && wasStalled
    ? 'it timed out while this process itself was stalled'
    : null;
}

/** What a failure on our side costs the page. */
export function costOf({ sent }: LeaseKeeper): number {
  return sent ? INTERNAL_COST.lostOrBug : INTERNAL_COST.none;
}

/** For a page whose address the network policy forbids. */
export function forbiddenReport(message: string): AttemptReport {
  return reportWithoutRequest('Rejected', 'forbidden', message, Date.now());
}

/** "Not modified" would be worth nothing without the body. */
async function ifUsable(
  { store }: Deps,
  policy: ContentPolicy,
  copy: CachedCopy | null,
): Promise<CachedCopy | null> {
  if (copy === null || policy.kindOf(copy.type) === null) return null;
  return (await store.has(copy.contentHash)) ? copy : null;
}

/** RFC 9110, 13.1: a server that knows both headers uses the first. */
function conditions(copy: CachedCopy | null): Record<string, string> {
  return {
    ...(copy?.etag ? { 'if-none-match': copy.etag } : {}),
    ...(copy?.lastModified ? { 'if-modified-since': copy.lastModified } : {}),
  };
}

/** While the store is unavailable, a body that has arrived is kept for as long as its fetch may take. */
function patientStore({ store, dependencies }: Deps, signal: AbortSignal): Pick<ContentStore, 'put'> {
  return {
    async put(body) {
      for (;;) {
        try {
          return await store.put(body);
        } catch (error) {
          if (!dependencies.store.reportIfUnavailable(error)) throw error;
          await sleep(PUT_RETRY_MS, undefined, { signal });
        }
      }
    },
  };
}
