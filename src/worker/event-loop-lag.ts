/** Detects when the event loop was blocked: a fetch that timed out meanwhile says nothing about its site. */

const POLL_INTERVAL_MS = 100;
/** With this much lag, other timers and sockets were late too. */
const LAG_THRESHOLD_MS = 1_000;

export interface EventLoopLag {
  /** Whether the event loop was blocked for over a second since then (performance.now()). */
  laggedSince(monotonicMs: number): boolean;
  stop(): void;
}

/** `onLag`: told every time how late the check was, mostly next to nothing. */
export function watchEventLoopLag(onLag: (lagMs: number) => void = () => {}): EventLoopLag {
  let checkedAt = performance.now();
  let laggedAt = Number.NEGATIVE_INFINITY;
  const check = (): void => {
    const now = performance.now();
    if (now - checkedAt > LAG_THRESHOLD_MS + POLL_INTERVAL_MS) laggedAt = now;
    checkedAt = now;
  };
  let firedAt = checkedAt;
  const timer = setInterval(() => {
    check();
    onLag(checkedAt - firedAt - POLL_INTERVAL_MS);
    firedAt = checkedAt;
  }, POLL_INTERVAL_MS);
  timer.unref();
  return {
    laggedSince(monotonicMs) {
      // The timer of the fetch may have fired before ours.
      check();
      return laggedAt >= monotonicMs;
    },
    stop: () => clearInterval(timer),
  };
}
