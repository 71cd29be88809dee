/** Messages are validated before they touch the state. An error is a sentence for the sender. */
import { MAX_DELAY_MS, parseDelayRange } from '../core/duration.ts';
import type { Ask, DelayRange } from '../core/slot-protocol.ts';

export type ParsedDelay = { ok: true; delay: DelayRange | null } | { ok: false; reason: string };

/** An operator's delay as typed. Sent with Temporal's own CLI, it may be any JSON. */
export function parseOperatorDelay(raw: unknown): ParsedDelay {
  if (raw === null) return { ok: true, delay: null };
  // A bare number is invalid: an operator who types 10 means seconds, a program milliseconds.
  const delay = typeof raw === 'string' ? parseDelayRange(raw) : parseRange(raw);
  if (delay !== undefined) return { ok: true, delay };
  return {
    ok: false,
    reason: `The delay ${raw === undefined ? 'is missing' : `${JSON.stringify(raw)} is invalid`}: use a duration such as "30s", a range such as "5s-15s" or {"minMs":5000,"maxMs":15000}, at most 24h and the shorter end first, or null for none.`,
  };
}

function parseRange(raw: unknown): DelayRange | undefined {
  if (typeof raw !== 'object' || raw === null || !('minMs' in raw && 'maxMs' in raw)) return undefined;
  const { minMs, maxMs } = raw;
  if (typeof minMs !== 'number' || typeof maxMs !== 'number') return undefined;
  return isDelay({ minMs, maxMs }) ? { minMs, maxMs } : undefined;
}

function isDelay({ minMs, maxMs }: DelayRange): boolean {
  const areWhole = Number.isInteger(minMs) && Number.isInteger(maxMs);
  return areWhole && minMs >= 0 && minMs <= maxMs && maxMs <= MAX_DELAY_MS;
}

/** Why one of the asks is invalid. null: all are valid. */
export function validateAsks(asks: readonly Ask[]): string | null {
  const reason = asks.map(whyInvalid).find((reason) => reason !== null);
  return reason === undefined ? null : `Invalid request for a slot: ${reason}.`;
}

function whyInvalid(ask: Ask): string | null {
  if (ask.ticket === '' || ask.workflowId === '' || ask.crawlId === '') {
    return 'it needs a ticket, a workflow id and a crawl id';
  }
  // Origins are keys of plain objects, where __proto__ would do harm.
  if (!/^https?:\/\/./.test(ask.origin)) {
    return `"${ask.origin}" is not an origin such as https://example.org`;
  }
  if (!(Number.isInteger(ask.concurrency) && ask.concurrency >= 1)) {
    return `concurrency ${ask.concurrency} is not a whole number of at least 1`;
  }
  if (!(ask.maxFetchMs > 0 && Number.isFinite(ask.maxFetchMs))) {
    return `maxFetchMs ${ask.maxFetchMs} is not a time above 0`;
  }
  if (ask.targetConcurrency !== null && !(ask.targetConcurrency > 0)) {
    return `targetConcurrency ${ask.targetConcurrency} is not a number above 0`;
  }
  const { delay } = ask;
  if (isDelay(delay)) return null;
  return `a delay of ${delay.minMs} to ${delay.maxMs} ms is not whole milliseconds up to 24 h, the shorter end first`;
}
