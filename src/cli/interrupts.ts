/** Ctrl-C: the first asks to end in order, the second to end at once. */

export interface Interrupts {
  first: AbortSignal;
  second: AbortSignal;
  dispose(): void;
}

/**
 * `npm run` passes on a Ctrl-C that the terminal has already sent to everybody: one key press arrives as two signals
 * a few milliseconds apart, and nobody presses twice that fast.
 */
const SAME_PRESS_MS = 300;

export function listenForInterrupts(): Interrupts {
  const first = new AbortController();
  const second = new AbortController();
  let firstAt = 0;
  const onSignal = () => {
    if (!first.signal.aborted) {
      firstAt = performance.now();
      first.abort();
    } else if (performance.now() - firstAt > SAME_PRESS_MS) {
      second.abort();
    }
  };
  process.on('SIGINT', onSignal);
  process.on('SIGTERM', onSignal);
  return {
    first: first.signal,
    second: second.signal,
    dispose() {
      process.off('SIGINT', onSignal);
      process.off('SIGTERM', onSignal);
    },
  };
}

/** Settles when the signal is aborted. */
export function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}
