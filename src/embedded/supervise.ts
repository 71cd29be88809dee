/** Brings back an engine that died under its users: where they know it to be, with its data. */
import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '../core/error-chain.ts';

export interface RunningEngineAt {
  pid: number;
  port: number;
}

export interface SupervisedEngine {
  name: string;
  /** Where its users look for it. */
  port: number;
  /** null: it does not run. */
  find(): Promise<RunningEngineAt | null>;
  /** Starts it, unless somebody else has by then. */
  start(): Promise<void>;
  /** It is another process than at the last look, whoever started it. */
  onRestart(): void;
}

export interface Supervisor {
  /** Waits for an engine that is being started. */
  stop(): Promise<void>;
  /** Rejects when an engine has come back where its users do not look for it: they would wait for ever. */
  moved: Promise<never>;
}

const LOOK_EVERY_MS = 1_000;

export function superviseEngines(
  engines: readonly SupervisedEngine[],
  notify: (line: string) => void,
  everyMs = LOOK_EVERY_MS,
): Supervisor {
  const stop = new AbortController();
  const kept = engines.map((engine) => keep(engine, notify, everyMs, stop.signal));
  const moved = Promise.all(kept).then(() => new Promise<never>(() => {}));
  // Not everybody who has engines kept up has something to end when one has moved.
  moved.catch(() => {});
  return {
    moved,
    async stop() {
      stop.abort();
      await Promise.allSettled(kept);
    },
  };
}

class EngineMoved extends Error {
  override name = 'EngineMoved';
}

async function keep(
  engine: SupervisedEngine,
  notify: (line: string) => void,
  everyMs: number,
  stop: AbortSignal,
): Promise<void> {
  let said = '';
  const sayOnce = (line: string): void => {
    if (line !== said) notify(line);
    said = line;
  };
  let last: number | null = null;
  while (!stop.aborted) {
    try {
      if ((await engine.find()) === null) await engine.start();
      // Others keep it up too, and may have been faster, here or elsewhere.
      const found = await engine.find();
      if (found !== null) {
        if (found.port !== engine.port)
          throw new EngineMoved(
            `${engine.name} ended, its port ${engine.port} was taken, and it had to be started on ${found.port}, where this command cannot follow: start the command again.`,
          );
        if (last !== null && found.pid !== last) engine.onRestart();
        last = found.pid;
      }
    } catch (error) {
      if (error instanceof EngineMoved) throw error;
      sayOnce(`${engine.name} ended and could not be started again: ${messageOf(error)}`);
    }
    await sleep(everyMs, undefined, { signal: stop }).catch(() => undefined);
  }
}
