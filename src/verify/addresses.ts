/**
 * The limits per address: how soon after each other requests begin, and how many are open. Requests come ordered by when they
 * were sent. Turns are reserved by the database's clock and recorded by the throttle's, so only what the error of the recorded
 * times cannot explain is a violation.
 */
import type { AddressViolation, SentRequest } from './types.ts';

/** For the requests to one block of addresses. */
export class AddressJudge {
  #previous: SentRequest | null = null;
  /** Those that may still be open. */
  #open: SentRequest[] = [];

  /** To be called for every request, in order. */
  judge(request: SentRequest): AddressViolation[] {
    const violations: AddressViolation[] = [];
    const latestSentMs = request.sentAtMs + request.clockErrorMs;
    const before = this.#previous;
    // The earlier request has reserved the gap.
    const requiredMs = before?.limit?.gapMs ?? 0;
    if (before !== null && latestSentMs - before.sentAtMs < requiredMs)
      violations.push({ kind: 'address-gap', before, after: request, requiredMs });
    this.#open = [...this.#open.filter(({ endedAtMs }) => endedAtMs > latestSentMs), request];
    if (request.limit !== null && this.#open.length > request.limit.maxOpen)
      violations.push({ kind: 'address-open', request, open: this.#open.length });
    this.#previous = request;
    return violations;
  }
}
