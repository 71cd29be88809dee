/** Looks each key up once, and forgets the longest-known ones beyond a bound. A failed look-up is not remembered. */
export function remember<T>(most: number, lookUp: (key: string) => Promise<T>): (key: string) => Promise<T> {
  const known = new Map<string, Promise<T>>();
  return (key) => {
    const found = known.get(key) ?? lookUp(key);
    known.set(key, found);
    found.catch(() => known.delete(key));
    const [oldest] = known.keys();
    if (known.size > most && oldest !== undefined) known.delete(oldest);
    return found;
  };
}
