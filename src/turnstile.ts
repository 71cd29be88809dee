/** Lets at most `width` callers with the same key through at a time; the others wait in order. */
export function makeTurnstile(width: number): <T>(key: string, pass: () => Promise<T>) => Promise<T> {
  const lines = new Map<string, { inside: number; waiting: (() => void)[] }>();
  return async (key, pass) => {
    const line = lines.get(key) ?? { inside: 0, waiting: [] };
    lines.set(key, line);
    if (line.inside >= width) await new Promise<void>((resolve) => line.waiting.push(resolve));
    else line.inside += 1;
    try {
      return await pass();
    } finally {
      const next = line.waiting.shift();
      // The place is handed over, so nobody slips in between.
      if (next !== undefined) next();
      else line.inside -= 1;
      if (line.inside === 0) lines.delete(key);
    }
  };
}
