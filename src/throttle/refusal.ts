/** Why a message is refused before it touches the state, as a sentence for its sender; null: it is fine. */
import { MAX_DELAY_MS, parseDelayRange } from '../core/duration.ts';
import type { Ask, DelayRange } from '../core/slot-protocol.ts';

export type ParsedDelay = { ok: true; delay: DelayRange | null } | { ok: false; reason: string };

/** An operator's delay, as typed: with the stock Temporal CLI it may be any JSON. */
export function parseOperatorDelay(raw: unknown): ParsedDelay {
  if (raw === null) return { ok: true, delay: null };
  // A bare number is refused: ten seconds to whoever typed 10, ten milliseconds to us.
  const delay = typeof raw === 'string' ? parseDelayRange(raw) : readRange(raw);
  if (delay !== undefined) return { ok: true, delay };
  return {
    ok: false,
    reason: `The delay ${raw === undefined ? 'is missing' : `${JSON.stringify(raw)} is refused`}: give a duration such as "30s", a range such as "5s-15s" or {"minMs":5000,"maxMs":15000}, at most 24h and the shorter end first, or null for none.`,
  };
}

function readRange(raw: unknown): DelayRange | undefined {
  if (typeof raw !== 'object' || raw === null || !('minMs' in raw && 'maxMs' in raw)) return undefined;
  const { minMs, maxMs } = raw;
  if (typeof minMs !== 'number' || typeof maxMs !== 'number') return undefined;
  return isDelay({ minMs, maxMs }) ? { minMs, maxMs } : undefined;
}

function isDelay({ minMs, maxMs }: DelayRange): boolean {
  const whole = Number.isInteger(minMs) && Number.isInteger(maxMs);
  return whole && minMs >= 0 && minMs <= maxMs && maxMs <= MAX_DELAY_MS;
}

export function validateAsk(ask: Ask): string | null {
  if (ask.ticket === '' || ask.workflowId === '' || ask.crawlId === '') {
    return 'The ask for a slot is refused: it needs a ticket, a workflow id and a crawl id.';
  }
  // It is a key of plain objects, where __proto__ would do harm.
  if (!/^https?:\/\/./.test(ask.origin)) {
    return `The ask for a slot is refused: "${ask.origin}" is not an origin such as https://example.org.`;
  }
  if (!Number.isFinite(ask.priority)) {
    return `The ask for a slot is refused: priority ${ask.priority} is not a number; 1 goes first.`;
  }
  if (!(Number.isInteger(ask.concurrency) && ask.concurrency >= 1)) {
    return `The ask for a slot is refused: concurrency ${ask.concurrency} is not a whole number of at least 1.`;
  }
  if (!(ask.maxFetchMs > 0 && Number.isFinite(ask.maxFetchMs))) {
    return `The ask for a slot is refused: a longest fetch of ${ask.maxFetchMs} ms is not a time above 0.`;
  }
  if (ask.targetConcurrency !== null && !(ask.targetConcurrency > 0)) {
    return `The ask for a slot is refused: a target concurrency of ${ask.targetConcurrency} is not a number above 0.`;
  }
  const { delay } = ask;
  if (isDelay(delay)) return null;
  return `The ask for a slot is refused: a delay of ${delay.minMs} to ${delay.maxMs} ms is not whole milliseconds up to 24 h, the shorter end first.`;
}
