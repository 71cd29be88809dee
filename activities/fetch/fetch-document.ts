/** Fetches the page itself with the lease: a plain GET, or a conditional one where an earlier copy can be confirmed. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { AllowedBy, AttemptReport } from '../../src/core/attempt.ts';
import type { CrawlSettings } from '../../src/core/settings.ts';
import { type FailedExchange, identityHeaders, isTimeout, sendRequest } from '../../src/http/index.ts';
import { type EarlierCopy, findEarlierCopy } from '../../src/storage/pages/cached-copy.ts';
import type { ContentStore } from '../../src/worker/content-store.ts';
import type { Deps } from '../deps.ts';
import type { LeaseKeeper } from '../slot/lease-keeper.ts';
import { judgeFailure, judgeResponse, wantsBody } from './classify-response.ts';
import { type Wanted, wantedOf } from './content-policy.ts';
import type { FetchInput, Unreported } from './fetch-page.ts';

/** A page that could not be kept, were it fetched, looks again after this. */
const STORE_AWAY_MS = 10_000;
const KEEP_AGAIN_MS = 500;

/** Why a timeout says nothing about the site. */
export const OUR_OWN_DOING = 'it timed out while this process itself stood still';

export async function fetchDocument(
  deps: Deps,
  input: FetchInput,
  lease: LeaseKeeper,
  allowedBy: AllowedBy,
): Promise<Unreported> {
  const { settings } = await deps.crawlOf(input.crawlId);
  // What cannot be kept is not asked for: the site would have to send it again.
  if (deps.dependencies.store.unavailable) {
    return {
      kind: 'held',
      until: Date.now() + STORE_AWAY_MS,
      reason: 'The content store cannot be written to.',
    };
  }
  const wanted = wantedOf(settings, { sitemap: input.sitemap === true });
  const earlier = await usableCopy(deps, wanted, input.url);
  const refusal = await lease.ready();
  if (refusal !== null) return { kind: 'refused', reason: refusal };
  const exchange = await sendRequest({
    url: input.url,
    headers: {
      ...identityHeaders(deps.config),
      accept: wanted.accept,
      ...conditions(earlier),
    },
    limits: wanted.limits,
    agent: agentFor(deps, settings),
    gate: lease.gate,
    signal: lease.signal,
    acceptBody: wantsBody(wanted),
  });
  const request = lease.conclude(exchange, input.url, allowedBy);
  // The slot is free for the next page while this one's body is stored.
  await lease.report();
  if (exchange.kind === 'refused') return { kind: 'refused', reason: exchange.reason };
  if (exchange.kind === 'error' && exchange.errorKind === 'aborted') {
    await lease.record();
    throw new Error(exchange.message);
  }
  if (exchange.kind === 'error' && isTimeout(exchange.errorKind) && lease.stoodStill) {
    await lease.record();
    return { kind: 'trouble', reason: OUR_OWN_DOING, sent: lease.sent };
  }
  const asked = {
    store: patientStore(deps, lease.signal),
    userAgent: deps.config.userAgent,
    rules: settings.urls,
    wanted,
    url: input.url,
    earlier,
  };
  const judge = async () =>
    exchange.kind === 'error' ? judgeFailure(exchange) : await judgeResponse(asked, exchange);
  // Nothing comes of a body that cannot be kept, or whose page is cancelled meanwhile; yet it was asked for.
  const judged = await judge().catch(async (error: unknown) => {
    await lease.record();
    throw error;
  });
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

export function agentFor({ agents }: Deps, { resolve, allowNetwork, fetch }: CrawlSettings) {
  return agents.agentFor({ resolve, allowNetwork, connectTimeoutMs: fetch.connectTimeoutMs });
}

/** What becomes of a page whose address the network policy refuses. */
export function refusedReport(exchange: FailedExchange): AttemptReport {
  return { ...judgeFailure(exchange), request: null, finishedAt: Date.now(), latencyMs: null, bytes: null };
}

/** Asked before the lease's moment. "Not modified" would be worth nothing without a body to go with it. */
async function usableCopy({ db, store }: Deps, wanted: Wanted, url: string): Promise<EarlierCopy | null> {
  const copy = await findEarlierCopy(db, url);
  if (copy === null || wanted.kindOf(copy.type) === null) return null;
  return (await store.has(copy.contentHash)) ? copy : null;
}

/** RFC 9110, 13.1: a server that knows both headers heeds the first. */
function conditions(copy: EarlierCopy | null): Record<string, string> {
  return {
    ...(copy?.etag ? { 'if-none-match': copy.etag } : {}),
    ...(copy?.lastModified ? { 'if-modified-since': copy.lastModified } : {}),
  };
}

/** While the store is away, a body that has come is held on to for as long as its fetch may take. */
function patientStore(
  { store, dependencies: outages }: Deps,
  signal: AbortSignal,
): Pick<ContentStore, 'put'> {
  return {
    async put(body) {
      for (;;) {
        try {
          return await store.put(body);
        } catch (error) {
          if (!outages.store.reportIfUnavailable(error)) throw error;
          await sleep(KEEP_AGAIN_MS, undefined, { signal });
        }
      }
    },
  };
}
