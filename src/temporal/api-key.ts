/** An API key that may be replaced while the program runs. */

/** Far shorter than the time for which an old key stays valid beside the new one. */
const REREAD_INTERVAL_MS = 10_000;

/**
 * Returns the key, read again at most every ten seconds. A key that cannot be read, or is empty because its file is being
 * written, leaves the old one in use: the server decides how long that is valid.
 */
export function createApiKey(
  first: string,
  read: () => string | undefined,
  { intervalMs = REREAD_INTERVAL_MS, now = () => performance.now() } = {},
): () => string {
  let key = first;
  let readAt = now();
  return () => {
    if (now() - readAt < intervalMs) return key;
    readAt = now();
    try {
      key = read() || key;
    } catch {
      // Kept, as above.
    }
    return key;
  };
}
