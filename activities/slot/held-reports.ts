/**
 * Reports to throttles that nobody waits for. They go out with this process's next request for a slot of the domain, which saves a
 * message for nearly every page; or by a signal, if no page asks soon.
 */
import { LRUCache } from 'lru-cache';
import type { EntryEnd } from '../../src/core/gate.ts';
import type { LeaseReport, Release } from '../../src/core/slot-protocol.ts';

/** A page ends, and the pages it admits ask soon: on a busy machine within seconds. The gate knows what cannot wait. */
const MIN_HOLD_MS = 5_000;
const MAX_HOLD_MS = 60_000;
/** A window is filled with every third page. */
const HELD_GAPS = 2.5;

interface Held {
  reports: Array<{ release: Release; heldAt: number }>;
  sendAt: number;
  timer: NodeJS.Timeout;
}

export class HeldReports {
  readonly #held = new Map<string, Held>();
  /** Asks that may be repeated. */
  readonly #unanswered = new LRUCache<string, true>({ max: 1_000 });

  /** `send` returns whether they have been delivered. */
  constructor(private readonly send: (domain: string, releases: Release[]) => Promise<boolean>) {}

  hold(domain: string, releases: readonly Release[], holdMs = MIN_HOLD_MS): void {
    const known = this.#held.get(domain);
    const now = performance.now();
    const sendAt = Math.min(now + holdMs, known?.sendAt ?? Infinity);
    if (known !== undefined) clearTimeout(known.timer);
    const timer = setTimeout(() => void this.#flush(domain), sendAt - now).unref();
    const added = releases.map((release) => ({ release, heldAt: now }));
    this.#held.set(domain, { reports: [...(known?.reports ?? []), ...added], sendAt, timer });
  }

  take(domain: string): Release[] {
    const held = this.#held.get(domain);
    if (held === undefined) return [];
    clearTimeout(held.timer);
    this.#held.delete(domain);
    return held.reports.map(({ release, heldAt }) => ({
      ...release,
      use: olderBy(release.use, performance.now() - heldAt),
    }));
  }

  /**
   * For an ask that carries them. One that is repeated carries none: if its throttle has answered the first time, the server repeats that
   * answer, and what comes with the ask is not read.
   */
  takeFor(askId: string, domain: string): Release[] {
    return this.#unanswered.delete(askId) ? [] : this.take(domain);
  }

  /** The ask was not answered, and may be repeated. */
  returnFrom(askId: string, domain: string, releases: readonly Release[]): void {
    this.#unanswered.set(askId, true);
    if (releases.length > 0) this.hold(domain, releases);
  }

  /** For a process that stops. */
  async flushAll(): Promise<void> {
    await Promise.all([...this.#held.keys()].map((domain) => this.#send(domain, this.take(domain))));
  }

  async #flush(domain: string): Promise<void> {
    const releases = this.take(domain);
    if (!(await this.#send(domain, releases))) this.hold(domain, releases);
  }

  async #send(domain: string, releases: Release[]): Promise<boolean> {
    return releases.length === 0 || this.send(domain, releases);
  }
}

/** A slot that was not used is free for others; of a request that went well the throttle has to know little. */
export function holdMsOf({ use }: LeaseReport, gapMs: number): number {
  if (use.kind !== 'started') return MIN_HOLD_MS;
  return Math.min(MAX_HOLD_MS, Math.max(MIN_HOLD_MS, HELD_GAPS * gapMs));
}

/**
 * Whether the throttle must learn it now: anything but a request that went well, or a slot that was not used. That a site has no
 * Crawl-delay can wait: until then its gap is too long at worst.
 */
export function isNews({ use, crawlDelay }: LeaseReport): boolean {
  if ((crawlDelay?.delayMs ?? 0) > 0) return true;
  return use.kind === 'lost' || (use.kind === 'started' && use.responseClass !== 'ok');
}

/** For how long the gate is closed after such a report, at least: the time in which the throttle usually writes new rules, and some more. */
const CLOSE_MS = 1_000;
/** Even if the throttle is not there to write them. */
const MAX_CLOSE_MS = 60_000;

/** What the gate has to know of a report. `gapMs`: before the request. */
export function gateEndOf({ use, crawlDelay }: LeaseReport, gapMs = 0): EntryEnd {
  if (use.kind !== 'started') return use;
  const { kind, agoMs, responseClass, retryAfterMs = 0 } = use;
  const isOverloaded = responseClass === 'overloaded';
  const makesRulesStricter =
    (crawlDelay?.delayMs ?? 0) > 0 || isOverloaded || responseClass === 'unreachable' || retryAfterMs > 0;
  const backoffMs = isOverloaded ? 2 * gapMs : 0;
  const untilRulesMs = Math.min(MAX_CLOSE_MS, Math.max(CLOSE_MS, retryAfterMs, backoffMs));
  return { kind, agoMs, closeMs: makesRulesStricter ? untilRulesMs : 0 };
}

function olderBy(use: Release['use'], ms: number): Release['use'] {
  return use.kind === 'started' ? { ...use, agoMs: use.agoMs + ms } : use;
}
