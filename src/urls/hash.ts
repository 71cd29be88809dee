/** The fixed-size name of a URL: what uniqueness is judged by. */
import { createHash } from 'node:crypto';

export function urlHash(url: string): Buffer {
  return createHash('sha256').update(url).digest();
}
