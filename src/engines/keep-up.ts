/** Brings back an engine that died under its users: where they know it to be, with its data. */
import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '../causes.ts';

export interface KeptEngine {
  name: string;
  /** Where its users look for it. */
  address: string;
  isRunning(): Promise<boolean>;
  /** Starts it unless somebody else has by then, and gives its address. */
  start(): Promise<string>;
}

const LOOK_EVERY_MS = 1_000;

/** Returns what ends it; that waits for an engine that is being started. */
export function keepUp(engines: readonly KeptEngine[], say: (line: string) => void): () => Promise<void> {
  const stop = new AbortController();
  const kept = Promise.all(engines.map((engine) => keep(engine, say, stop.signal)));
  return async () => {
    stop.abort();
    await kept;
  };
}

async function keep(engine: KeptEngine, say: (line: string) => void, stop: AbortSignal): Promise<void> {
  let said = '';
  const sayOnce = (line: string): void => {
    if (line !== said) say(line);
    said = line;
  };
  while (!stop.aborted) {
    try {
      if (!(await engine.isRunning())) {
        const address = await engine.start();
        if (address !== engine.address)
          sayOnce(
            `${engine.name} had to be started at another address, ${address}: start this command again.`,
          );
      }
    } catch (error) {
      sayOnce(`${engine.name} ended and could not be started again: ${messageOf(error)}`);
    }
    await sleep(LOOK_EVERY_MS, undefined, { signal: stop }).catch(() => undefined);
  }
}
