/**
 * Keeps bodies in memory from the fetch that stored them until the step that parses them, which usually runs in the same
 * process a moment later. Reading one back would mean a file, a decompression and a hash.
 */
import { LRUCache } from 'lru-cache';
import type { ContentStore } from './content-store.ts';

/** For all of them together. What does not fit is read from the store. */
const MAX_BYTES = 32 * 1024 * 1024;

export function withRecentBodies(store: ContentStore, maxBytes = MAX_BYTES): ContentStore {
  const recent = new LRUCache<string, Buffer>({
    maxSize: maxBytes,
    sizeCalculation: (body) => body.length + 1,
  });
  return {
    ...store,
    async put(bytes, options) {
      const key = await store.put(bytes, options);
      // What was derived from a body has been used already.
      if (!options?.derived) recent.set(key, Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
      return key;
    },
    async get(key) {
      const body = recent.get(key);
      // A page is parsed once.
      recent.delete(key);
      return body ?? store.get(key);
    },
  };
}
