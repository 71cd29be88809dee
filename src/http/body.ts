/** Reads and decodes a response body as it streams, and stops at its limit before a decompression bomb unfolds. */
import { finished, PassThrough, pipeline, Writable } from 'node:stream';
import type { FetchMemory } from './body-memory.ts';
import { HEAD_BYTES } from './content-type.ts';
import { type Coding, decode, MAX_BROTLI_WINDOW } from './decode.ts';

/** What Amble accepts and can decode. Without zstd, for which Node 20 has no decoder. */
export const ACCEPT_ENCODING = 'gzip, deflate, br';

/** Two can come from a proxy in front of a server. More are an attempt to waste the client's time. */
const MAX_CODINGS = 2;

export type CollectedBody =
  | { kind: 'whole'; body: Buffer; bytes: number }
  /** `head` is as much as the limit allows. */
  | { kind: 'too-large'; head: Buffer; bytes: number }
  /** `head` is what `acceptHead` rejected. */
  | { kind: 'unwanted'; head: Buffer; bytes: number }
  | { kind: 'failed'; error: Error };

export interface BodyCollector {
  /** false: pause until `onDrain`. */
  write(chunk: Buffer): boolean;
  end(): void;
  destroy(): void;
}

/** In the order in which they were applied. null: one of them was not accepted, or there are too many. */
export function parseContentEncoding(header: string | undefined): Coding[] | null {
  const names = (header ?? '').split(',').map((name) => name.trim().toLowerCase());
  const codings: Coding[] = [];
  for (const name of names) {
    if (name === 'gzip' || name === 'x-gzip') codings.push('gzip');
    else if (name === 'deflate' || name === 'br') codings.push(name);
    else if (name !== '' && name !== 'identity') return null;
  }
  return codings.length > MAX_CODINGS ? null : codings;
}

/** `onDone` is called once, unless the collector is destroyed before. */
export function collectBody(options: {
  codings: readonly Coding[];
  maxBytes: number;
  memory: FetchMemory;
  /** Called once with the first decoded bytes. false: the rest is unwanted. */
  acceptHead: (head: Buffer) => boolean;
  onDrain: () => void;
  onDone: (body: CollectedBody) => void;
}): BodyCollector {
  const { codings, maxBytes, memory, acceptHead, onDrain, onDone } = options;
  const kept = new GrowingBuffer(maxBytes);
  let bytes = 0;
  let isChecked = false;
  let destroyed = false;

  const unwanted = (): Unwanted | null => {
    if (isChecked) return null;
    isChecked = true;
    return acceptHead(kept.view().subarray(0, HEAD_BYTES)) ? null : new Unwanted();
  };
  const add = (chunk: Buffer): Error | null => {
    bytes += chunk.length;
    kept.add(chunk);
    const isTooLarge = bytes > maxBytes;
    const refusal = isTooLarge || bytes >= HEAD_BYTES ? unwanted() : null;
    return refusal ?? (isTooLarge ? new TooLarge() : null);
  };
  // While it grows, a buffer exists twice.
  const grow = async (capacity: number): Promise<void> => {
    await memory.take(capacity, kept.capacity);
    if (!destroyed) memory.giveBack(kept.grow(capacity));
  };
  memory.expect(2 * maxBytes + codings.length * MAX_BROTLI_WINDOW);
  const sink = new Writable({
    write(chunk: Buffer, _encoding, callback) {
      const capacity = kept.capacityFor(chunk);
      if (capacity === kept.capacity) callback(add(chunk));
      else grow(capacity).then(() => callback(destroyed ? null : add(chunk)), callback);
    },
    final(callback) {
      callback(unwanted());
    },
  });
  const done = (error?: Error | null): void => {
    if (destroyed) return;
    if (error instanceof Unwanted) onDone({ kind: 'unwanted', head: kept.view(), bytes });
    else if (error instanceof TooLarge) onDone({ kind: 'too-large', head: kept.view(), bytes });
    else if (error) onDone({ kind: 'failed', error });
    else onDone({ kind: 'whole', body: kept.view(), bytes });
  };
  const entry = codings.length === 0 ? sink : new PassThrough();
  if (entry instanceof PassThrough)
    pipeline(
      entry,
      (source: AsyncIterable<Buffer>) => decodeAll(codings, source, maxBytes, memory),
      sink,
      done,
    );
  else finished(sink, done);
  entry.on('drain', onDrain);

  return {
    write: (chunk) => entry.write(chunk),
    end: () => {
      entry.end();
    },
    destroy() {
      destroyed = true;
      kept.drop();
      entry.destroy();
    },
  };
}

class TooLarge extends Error {}
class Unwanted extends Error {}

/** The input of each decoder is limited too, because data can be crafted that decodes to nothing forever. */
function decodeAll(
  codings: readonly Coding[],
  source: AsyncIterable<Buffer>,
  maxBytes: number,
  memory: FetchMemory,
): AsyncIterable<Buffer> {
  return codings.reduceRight(
    (encoded, coding) => decode(coding, limitTo(2 * maxBytes, encoded), memory),
    source,
  );
}

async function* limitTo(maxBytes: number, source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let bytes = 0;
  for await (const chunk of source) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw new TooLarge();
    yield chunk;
  }
}

/**
 * Collects chunks in one buffer. A list of chunks would cost a hundred bytes of heap for each, and a server may send one byte per
 * chunk. A chunk is also a view of the block that the socket was read into, and would keep all of it in memory.
 */
class GrowingBuffer {
  readonly #maxBytes: number;
  #bytes: Buffer = Buffer.alloc(0);
  #length = 0;

  /** Bytes beyond `maxBytes` are dropped. */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get capacity(): number {
    return this.#bytes.length;
  }

  /** What it needs for another chunk. The first one gets exactly that, because most bodies have only one. */
  capacityFor(chunk: Buffer): number {
    const needed = Math.min(this.#length + chunk.length, this.#maxBytes);
    if (needed <= this.capacity) return this.capacity;
    return Math.min(Math.max(needed, 2 * this.capacity), this.#maxBytes);
  }

  /** Returns the former capacity. */
  grow(capacity: number): number {
    const former = this.#bytes;
    this.#bytes = Buffer.allocUnsafeSlow(capacity);
    former.copy(this.#bytes, 0, 0, this.#length);
    return former.length;
  }

  /** Copies as much as fits. */
  add(chunk: Buffer): void {
    this.#length += chunk.copy(this.#bytes, this.#length);
  }

  /** A view, valid until more is added. */
  view(): Buffer {
    return this.#bytes.subarray(0, this.#length);
  }

  /** Whoever has a view keeps it. */
  drop(): void {
    this.#bytes = Buffer.alloc(0);
    this.#length = 0;
  }
}
