/** Restarts embedded engines that die while they are in use: on the same port, with their data. */
import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '../core/errors.ts';

export interface RunningEngineAt {
  pid: number;
  port: number;
}

export interface SupervisedEngine {
  name: string;
  /** The port that its users connect to. */
  port: number;
  /** null: it is not running. */
  find(): Promise<RunningEngineAt | null>;
  /** Starts it unless another process has. */
  start(): Promise<void>;
  /** Called when its pid has changed, whichever process restarted it. */
  onRestart(): void;
}

export interface Supervisor {
  /** Waits for a start in progress. */
  stop(): Promise<void>;
  /** Rejects if an engine was restarted on another port, where its users cannot find it. */
  moved: Promise<never>;
}

const POLL_INTERVAL_MS = 1_000;

export function superviseEngines(
  engines: readonly SupervisedEngine[],
  notify: (message: string) => void,
  intervalMs = POLL_INTERVAL_MS,
): Supervisor {
  const stop = new AbortController();
  const loops = engines.map((engine) => superviseEngine(engine, notify, intervalMs, stop.signal));
  const moved = Promise.all(loops).then(() => new Promise<never>(() => {}));
  // Not every caller waits for this promise.
  moved.catch(() => {});
  return {
    moved,
    async stop() {
      stop.abort();
      await Promise.allSettled(loops);
    },
  };
}

class EngineMovedError extends Error {
  override name = 'EngineMovedError';
}

async function superviseEngine(
  engine: SupervisedEngine,
  notify: (message: string) => void,
  intervalMs: number,
  stop: AbortSignal,
): Promise<void> {
  let lastMessage = '';
  const notifyOnce = (message: string): void => {
    if (message !== lastMessage) notify(message);
    lastMessage = message;
  };
  let lastPid: number | null = null;
  while (!stop.aborted) {
    try {
      if ((await engine.find()) === null) await engine.start();
      // Other processes supervise it too, and one of them may have restarted it, perhaps on another port.
      const found = await engine.find();
      if (found !== null) {
        if (found.port !== engine.port)
          throw new EngineMovedError(
            `${engine.name} died. Its port ${engine.port} was taken, so it was restarted on port ${found.port}. Run this command again to use it there.`,
          );
        if (lastPid !== null && found.pid !== lastPid) engine.onRestart();
        lastPid = found.pid;
      }
    } catch (error) {
      if (error instanceof EngineMovedError) throw error;
      notifyOnce(`${engine.name} died and could not be restarted: ${messageOf(error)}`);
    }
    await sleep(intervalMs, undefined, { signal: stop }).catch(() => undefined);
  }
}
