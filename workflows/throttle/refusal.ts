/** Why a message is refused before it touches the state, as a sentence for its sender; null: it is fine. */
import type { Ask, DelayRange } from './types.ts';

/** A longer delay is a mistake in the unit. */
const LONGEST_DELAY_MS = 24 * 60 * 60 * 1_000;

export function whyDelayRefused(delay: DelayRange | null): string | null {
  if (delay === null) return null;
  const { minMs, maxMs } = delay;
  const whole = Number.isInteger(minMs) && Number.isInteger(maxMs);
  if (!(whole && minMs >= 0 && minMs <= maxMs && maxMs <= LONGEST_DELAY_MS)) {
    return `The delay ${minMs} to ${maxMs} ms is refused: give whole milliseconds from 0 up to ${LONGEST_DELAY_MS} ms (24 h), the shorter end first.`;
  }
  return null;
}

export function whyAskRefused(ask: Ask): string | null {
  if (ask.ticket === '' || ask.workflowId === '' || ask.crawlId === '') {
    return 'The ask for a slot is refused: it needs a ticket, a workflow id and a crawl id.';
  }
  if (!Number.isFinite(ask.priority)) {
    return `The ask for a slot is refused: priority ${ask.priority} is not a number; 1 goes first.`;
  }
  if (!(Number.isInteger(ask.concurrency) && ask.concurrency >= 1)) {
    return `The ask for a slot is refused: concurrency ${ask.concurrency} is not a whole number of at least 1.`;
  }
  if (!(ask.longestFetchMs > 0 && Number.isFinite(ask.longestFetchMs))) {
    return `The ask for a slot is refused: a longest fetch of ${ask.longestFetchMs} ms is not a time above 0.`;
  }
  return whyDelayRefused(ask.delay);
}
