/** Ctrl-C: the first asks for an orderly stop, the second for an immediate one. */

export interface Interrupts {
  first: AbortSignal;
  second: AbortSignal;
  dispose(): void;
}

/**
 * `npm run` forwards a Ctrl-C that the terminal has already sent to the whole process group, so one key press arrives as
 * two signals a few milliseconds apart. Nobody presses twice that fast.
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

/** Resolves when the signal is aborted. */
export function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}
