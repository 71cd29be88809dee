/**
 * Limits how many tasks with the same key run at a time; the others run in the order they came. Unlike p-limit it starts a
 * task at once if it may, drops a waiting task when its signal aborts, and keeps nothing for a key without tasks.
 */
export type KeyedLimiter = <T>(
  key: string,
  task: () => Promise<T>,
  /** Removes the task while it waits. Once it runs, the task itself has to obey its signal. */
  signal?: AbortSignal,
) => Promise<T>;

interface KeyQueue {
  running: number;
  /** In insertion order; each call starts the task. */
  waiting: Set<() => void>;
}

export function createKeyedLimiter(concurrency: number): KeyedLimiter {
  const queues = new Map<string, KeyQueue>();
  return async (key, task, signal) => {
    signal?.throwIfAborted();
    const queue = queues.get(key) ?? { running: 0, waiting: new Set() };
    queues.set(key, queue);
    if (queue.running >= concurrency) await waitInQueue(queue, signal);
    else queue.running += 1;
    try {
      return await task();
    } finally {
      const [next] = queue.waiting;
      // The next task takes over this one's place, so that no newcomer can overtake it.
      if (next !== undefined) next();
      else queue.running -= 1;
      if (queue.running === 0) queues.delete(key);
    }
  };
}

function waitInQueue({ waiting }: KeyQueue, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = (): void => {
      waiting.delete(start);
      reject(signal?.reason);
    };
    const start = (): void => {
      waiting.delete(start);
      signal?.removeEventListener('abort', abort);
      resolve();
    };
    waiting.add(start);
    signal?.addEventListener('abort', abort, { once: true });
  });
}
