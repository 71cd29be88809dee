/**
 * Keeps the limits per address before a request is sent: reserves its turn in the database, and checks by its own clock that it
 * begins within the time that was reserved. What a frozen or slow process has missed it reserves again.
 */
import { setTimeout as delay } from 'node:timers/promises';
import ipaddr from 'ipaddr.js';
import {
  type AddressLimits,
  addressBlockOf,
  type Cidr,
  containsAddress,
  parseCidrOrThrow,
} from '../http/index.ts';
import { endRequests, reserveAddress } from '../storage/address-blocks.ts';
import type { Database } from '../storage/database.ts';

/** What applies to one address. */
export interface AddressLimit {
  block: string;
  gapMs: number;
  maxOpen: number;
}

export interface AddressRequest {
  leaseId: string;
  /** How long the request may still begin. 0: no longer. */
  leftMs: () => number;
  /** Called right before the request begins; false: it is too late. */
  begin: () => boolean;
  /** How long it takes at most. */
  maxFetchMs: number;
  signal: AbortSignal;
}

/** A time in which a request may begin. */
interface AddressTurn {
  waitMs: number;
  /** Must be checked in the tick in which the request begins. */
  isNow(): boolean;
}

/** How long a turn lasts. A process that is too slow for it tries again with a longer one. */
const MIN_WINDOW_MS = 100;
const MAX_WINDOW_MS = 3_200;

/** Between two tries to reserve a turn at an address that is busy. */
const BUSY_RETRY_MS = 1_000;

/** Ends are written together at this interval, if no further request to the address has carried them to the database by then. */
const FLUSH_INTERVAL_MS = 2_000;

export class AddressLimiter {
  readonly #exempt: readonly Cidr[];
  /** Requests that have ended: lease id to block, until the database knows. */
  readonly #ended = new Map<string, string>();
  readonly #flushing: NodeJS.Timeout;

  constructor(
    private readonly db: Database,
    private readonly limits: AddressLimits,
    private readonly onError: (error: unknown) => void,
  ) {
    this.#exempt = limits.exempt.map(parseCidrOrThrow);
    this.#flushing = setInterval(() => void this.#flush(), FLUSH_INTERVAL_MS).unref();
  }

  /** null: the address is exempt. */
  limitOf(address: string): AddressLimit | null {
    const parsed = ipaddr.parse(address);
    if (this.#exempt.some((cidr) => containsAddress(cidr, parsed))) return null;
    const { gapMs, maxOpen } = this.limits;
    return { block: addressBlockOf(address), gapMs, maxOpen };
  }

  /** Waits for a turn, in which the request must begin at once. false: none came in time. `end` must be called in either case. */
  async takeTurn(
    limit: AddressLimit,
    { leaseId, leftMs, begin, maxFetchMs, signal }: AddressRequest,
  ): Promise<boolean> {
    for (let windowMs = MIN_WINDOW_MS; ; ) {
      const latestMs = leftMs();
      if (latestMs === 0) return false;
      const openForMs = latestMs + maxFetchMs;
      const turn = await this.#reserve(limit, { leaseId, latestMs, windowMs, openForMs });
      if (turn === null) {
        await delay(BUSY_RETRY_MS, undefined, { signal });
        continue;
      }
      // Usually the address is free, and a timer takes a millisecond at least.
      if (turn.waitMs > 0) await delay(Math.ceil(turn.waitMs) + 1, undefined, { signal });
      if (!begin()) return false;
      if (turn.isNow()) return true;
      windowMs = Math.min(2 * windowMs, MAX_WINDOW_MS);
    }
  }

  /** null: there is no turn within `latestMs`, or too many requests are open. */
  async #reserve(
    limit: AddressLimit,
    request: { leaseId: string; latestMs: number; windowMs: number; openForMs: number },
  ): Promise<AddressTurn | null> {
    const ended = [...this.#ended].flatMap(([leaseId, block]) => (block === limit.block ? [leaseId] : []));
    const asked = performance.now();
    const waitMs = await reserveAddress(this.db, { ...limit, ...request, ended });
    const answered = performance.now();
    if (waitMs === null) return null;
    for (const leaseId of ended) this.#ended.delete(leaseId);
    // The database read its clock between the question and the answer. Counted from the answer the turn has begun for certain,
    // and counted from the question it has not ended.
    return {
      waitMs,
      isNow: () => {
        const now = performance.now();
        return now >= answered + waitMs && now <= asked + waitMs + request.windowMs;
      },
    };
  }

  /** The request has ended, or was never sent. Its place is free with the next reservation of this process, or soon. */
  end({ block }: AddressLimit, leaseId: string): void {
    this.#ended.set(leaseId, block);
  }

  async stop(): Promise<void> {
    clearInterval(this.#flushing);
    await this.#flush();
  }

  /** If the database is unavailable, the places become free after `openForMs`. */
  async #flush(): Promise<void> {
    const ended = [...this.#ended].map(([leaseId, block]) => ({ leaseId, block }));
    this.#ended.clear();
    if (ended.length > 0) await endRequests(this.db, ended).catch(this.onError);
  }
}
