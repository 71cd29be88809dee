/** Lets at most `width` callers with the same key through at a time; the others wait in order. */
export type KeyedLimiter = <T>(
  key: string,
  pass: () => Promise<T>,
  /** Who is told to give up while he waits leaves the line; inside it is for `pass` to heed it. */
  signal?: AbortSignal,
) => Promise<T>;

export function createKeyedLimiter(width: number): KeyedLimiter {
  const lines = new Map<string, { inside: number; waiting: Set<() => void> }>();
  return async (key, pass, signal) => {
    signal?.throwIfAborted();
    const line = lines.get(key) ?? { inside: 0, waiting: new Set() };
    lines.set(key, line);
    if (line.inside >= width) await turnIn(line.waiting, signal);
    else line.inside += 1;
    try {
      return await pass();
    } finally {
      const [next] = line.waiting;
      // The place is handed over, so nobody slips in between.
      if (next !== undefined) next();
      else line.inside -= 1;
      if (line.inside === 0) lines.delete(key);
    }
  };
}

function turnIn(waiting: Set<() => void>, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const leave = (): void => {
      waiting.delete(go);
      reject(signal?.reason);
    };
    const go = (): void => {
      waiting.delete(go);
      signal?.removeEventListener('abort', leave);
      resolve();
    };
    waiting.add(go);
    signal?.addEventListener('abort', leave, { once: true });
  });
}
