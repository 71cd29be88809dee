/** Retries a call for as long as the server behind it is unavailable; reports the start and the end of that time. */
import { setTimeout as sleep } from 'node:timers/promises';

export interface RetryOptions {
  /** Name of the server, at the start of a sentence. */
  what: string;
  isUnavailable(error: unknown): boolean;
  log(line: string): void;
  /** Aborted: stop retrying. */
  signal: AbortSignal;
}

const RETRY_INTERVAL_MS = 1_000;

export async function retryWhileUnavailable<T>(
  call: () => Promise<T>,
  { what, isUnavailable, log, signal }: RetryOptions,
): Promise<T> {
  for (let failedBefore = false; ; failedBefore = true) {
    try {
      const result = await call();
      if (failedBefore) log(`${what} available again.`);
      return result;
    } catch (error) {
      if (signal.aborted || !isUnavailable(error)) throw error;
      if (!failedBefore) log(`${what} unavailable; retrying (no data lost).`);
      await sleep(RETRY_INTERVAL_MS, undefined, { signal }).catch(() => {
        throw error;
      });
    }
  }
}
