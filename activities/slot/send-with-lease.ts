/**
 * Sends a request under a lease as soon as everything that limits it allows: the lease itself, the fetch slots of this process
 * and the limits of the address that it goes to.
 */
import type { FetchInput, FetchOutcome } from '../../src/core/activities.ts';
import type { AllowedBy, RequestRecord } from '../../src/core/attempt.ts';
import {
  type AdmissionVerdict,
  addressBlockOf,
  type Exchange,
  type LookupVerdict,
  type RequestOptions,
  sendRequest,
} from '../../src/http/index.ts';
import { hostnameOf, zoneOf } from '../../src/urls/index.ts';
import type { AddressLimit } from '../../src/worker/address-limiter.ts';
import type { FetchSlot, FetchSlots } from '../../src/worker/fetch-slots.ts';
import type { Deps } from '../deps.ts';
import { type LeaseKeeper, type RequestTarget, TOO_LATE } from './lease-keeper.ts';

export type LeasedRequest = Omit<RequestOptions, 'mayStart' | 'signal' | 'admit' | 'admitLookup'> & {
  allowedBy: AllowedBy | null;
};

export type LeasedExchange =
  /** `request`: its record. null: nothing was written. */
  | { kind: 'sent'; exchange: Exclude<Exchange, { kind: 'refused' }>; request: RequestRecord | null }
  /** Nothing was written. */
  | { kind: 'not-sent'; outcome: Extract<FetchOutcome, { kind: 'refused' | 'deferred' }> };

/** A page that finds too many others waiting comes back after this time, or up to twice as long. */
const CROWDED_RETRY_MS = 30_000;

export async function sendWithLease(
  deps: Deps,
  input: FetchInput,
  lease: LeaseKeeper,
  { allowedBy, ...request }: LeasedRequest,
): Promise<LeasedExchange> {
  const { url } = request;
  const admission = new Admission(deps, input, lease, url);
  let tookMs: number | null = null;
  try {
    const exchange = await sendRequest({
      ...request,
      mayStart: lease.mayStart,
      signal: lease.signal,
      admitLookup: () => admission.admitLookup(),
      admit: (address) => admission.admit(address),
    });
    const record = lease.conclude(exchange, { url, allowedBy, target: admission.target });
    tookMs = exchange.kind === 'refused' ? exchange.connectedMs : exchange.durationMs;
    if (exchange.kind === 'refused') {
      const outcome = admission.deferral ?? ({ kind: 'refused', reason: exchange.reason } as const);
      return { kind: 'not-sent', outcome };
    }
    deps.metrics.fetched(exchange);
    return { kind: 'sent', exchange, request: record };
  } finally {
    admission.end(tookMs);
  }
}

/** What one request holds while it is open: a fetch slot and a place at its address. */
class Admission {
  target: RequestTarget | null = null;
  deferral: Extract<FetchOutcome, { kind: 'deferred' }> | null = null;
  #slot: FetchSlot | null = null;
  #limit: AddressLimit | null = null;

  constructor(
    private readonly deps: Deps,
    private readonly input: FetchInput,
    private readonly lease: LeaseKeeper,
    private readonly url: string,
  ) {}

  async admitLookup(): Promise<LookupVerdict> {
    const slot = await this.#takeSlot(this.deps.lookupSlots, null);
    if (typeof slot === 'string') return { go: false, reason: slot };
    return { go: true, ended: (tookMs) => slot.release(tookMs) };
  }

  async admit(address: string): Promise<AdmissionVerdict> {
    const limit = this.deps.addresses.limitOf(address);
    this.target = {
      address,
      block: limit?.block ?? addressBlockOf(address),
      limit: limit && limitsOf(limit),
    };
    const { entrance } = this.lease;
    await entrance.due();
    // The slot last but one, and the gate last: both are kept from others from then on.
    const slot = await this.#takeSlot(this.deps.fetchSlots, limit);
    if (typeof slot === 'string') return { go: false, reason: slot };
    this.#slot = slot;
    if (entrance.leftMs === 0) return { go: false, reason: TOO_LATE };
    const refusal = await entrance.pass();
    if (refusal !== null) return { go: false, reason: refusal };
    if (limit !== null) return this.#takeTurn(limit);
    return this.lease.begin() ? { go: true } : { go: false, reason: TOO_LATE };
  }

  end(tookMs: number | null): void {
    this.#slot?.release(tookMs);
    if (this.#limit !== null) this.deps.addresses.end(this.#limit, this.input.lease.id);
  }

  /** Waits for a slot of this process. Returns why there is none. */
  async #takeSlot(slots: FetchSlots, limit: AddressLimit | null): Promise<FetchSlot | string> {
    const host = hostnameOf(this.url);
    const { concurrency } = this.input.ask;
    const wanted = { host, site: zoneOf(host), concurrency, addressBlock: limit?.block ?? null };
    const inTime = (): AbortSignal => {
      const leftMs = Math.ceil(this.lease.entrance.leftMs);
      return AbortSignal.any([this.lease.signal, AbortSignal.timeout(leftMs)]);
    };
    this.lease.signal.throwIfAborted();
    try {
      const slot = await slots.acquire(wanted, inTime);
      if (slot !== null) return slot;
    } catch (error) {
      if (this.lease.signal.aborted) throw error;
      return 'no fetch slot of this worker was free in time';
    }
    const reason = 'Too many requests wait for a fetch slot of this worker.';
    const until = Date.now() + CROWDED_RETRY_MS * (1 + Math.random());
    this.deferral = { kind: 'deferred', until, reason };
    return reason;
  }

  async #takeTurn(limit: AddressLimit): Promise<AdmissionVerdict> {
    const { lease, deps, input } = this;
    this.#limit = limit;
    const isTurn = await deps.addresses.takeTurn(limit, {
      leaseId: input.lease.id,
      leftMs: () => lease.entrance.leftMs,
      begin: () => lease.begin(),
      maxFetchMs: input.ask.maxFetchMs,
      signal: lease.signal,
    });
    return isTurn ? { go: true } : { go: false, reason: TOO_LATE };
  }
}

function limitsOf({ gapMs, maxOpen }: AddressLimit): { gapMs: number; maxOpen: number } {
  return { gapMs, maxOpen };
}
