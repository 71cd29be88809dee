/** Watches whether this process kept up: a fetch that timed out while it did not says nothing about the site. */

const LOOK_EVERY_MS = 100;
/** Later than this, timers and sockets of this process were late too. */
const LAG_MS = 1_000;

export interface EventLoopLag {
  /** The event loop has stood still for over a second since that moment (performance.now()). */
  laggedSince(monotonicMs: number): boolean;
  stop(): void;
}

export function watchEventLoopLag(): EventLoopLag {
  let lookedAt = performance.now();
  let laggedAt = Number.NEGATIVE_INFINITY;
  const look = (): void => {
    const now = performance.now();
    if (now - lookedAt > LAG_MS + LOOK_EVERY_MS) laggedAt = now;
    lookedAt = now;
  };
  const timer = setInterval(look, LOOK_EVERY_MS);
  timer.unref();
  return {
    laggedSince(monotonicMs) {
      // The timer that noticed the time-out may have run before ours.
      look();
      return laggedAt >= monotonicMs;
    },
    stop: () => clearInterval(timer),
  };
}
