/** Asks again for as long as whom it asks is away: says so once, and once more when the answer has come. */
import { setTimeout as sleep } from 'node:timers/promises';

export interface Patience {
  /** The beginning of a sentence. */
  what: string;
  /** Whether an error says that it could not be asked. */
  isAway(error: unknown): boolean;
  say(line: string): void;
  /** Aborted: no answer is worth waiting for any more. */
  enough: AbortSignal;
}

const ASK_EVERY_MS = 1_000;

export async function patiently<T>(
  ask: () => Promise<T>,
  { what, isAway, say, enough }: Patience,
): Promise<T> {
  for (let told = false; ; told = true) {
    try {
      const answer = await ask();
      if (told) say(`${what} can be reached again.`);
      return answer;
    } catch (error) {
      if (enough.aborted || !isAway(error)) throw error;
      if (!told) say(`${what} is out of reach; waiting for it, nothing is lost meanwhile.`);
      await sleep(ASK_EVERY_MS, undefined, { signal: enough }).catch(() => {
        throw error;
      });
    }
  }
}
