/** Reads and decodes a response body as it streams, and stops at its limit before a decompression bomb unfolds. */
import { finished, pipeline, Transform, Writable } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from 'node:zlib';
import { HEAD_BYTES } from './content-type.ts';

/** What Amble accepts and can decode. Without zstd, for which Node 20 has no decoder. */
export const ACCEPT_ENCODING = 'gzip, deflate, br';

export type Coding = 'gzip' | 'deflate' | 'br';

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
  /** The caller still has to write it. */
  firstChunk: Buffer;
  maxBytes: number;
  /** Called once with the first decoded bytes. false: the rest is unwanted. */
  acceptHead: (head: Buffer) => boolean;
  onDrain: () => void;
  onDone: (body: CollectedBody) => void;
}): BodyCollector {
  const { firstChunk, maxBytes, acceptHead, onDrain, onDone } = options;
  const kept = new GrowingBuffer(maxBytes);
  let bytes = 0;
  let isChecked = false;
  let destroyed = false;

  const unwanted = (): Unwanted | null => {
    if (isChecked) return null;
    isChecked = true;
    return acceptHead(kept.view().subarray(0, HEAD_BYTES)) ? null : new Unwanted();
  };
  const sink = new Writable({
    write(chunk: Buffer, _encoding, callback) {
      bytes += chunk.length;
      kept.add(chunk);
      const isTooLarge = bytes > maxBytes;
      const refusal = isTooLarge || bytes >= HEAD_BYTES ? unwanted() : null;
      callback(refusal ?? (isTooLarge ? new TooLarge() : null));
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
  // Decoded in reverse order. The input of each decoder is limited too, because data can be crafted that decodes to nothing forever.
  const decoders = options.codings
    .toReversed()
    .flatMap((coding, i) => [limitTo(2 * maxBytes), createDecoder(coding, i === 0 ? firstChunk : null)]);
  const [entry = sink] = decoders;
  if (entry === sink) finished(sink, done);
  else pipeline([...decoders, sink], done);
  entry.on('drain', onDrain);

  return {
    write: (chunk) => entry.write(chunk),
    end: () => {
      entry.end();
    },
    destroy() {
      destroyed = true;
      entry.destroy();
    },
  };
}

class TooLarge extends Error {}
class Unwanted extends Error {}

function limitTo(maxBytes: number): Transform {
  let bytes = 0;
  return new Transform({
    transform(chunk: Buffer, _encoding, callback) {
      bytes += chunk.length;
      if (bytes > maxBytes) callback(new TooLarge());
      else callback(null, chunk);
    },
  });
}

/** `firstChunk`: the first bytes received, which distinguish the two kinds of deflate. null: an inner encoding. */
function createDecoder(coding: Coding, firstChunk: Buffer | null): Transform {
  switch (coding) {
    case 'gzip':
      return createGunzip();
    case 'br':
      return createBrotliDecompress();
    case 'deflate': {
      // RFC 9110 means the zlib format, but some servers send the raw stream. The first byte of zlib has 8 in its low half.
      const isZlib = firstChunk === null || ((firstChunk[0] ?? 0) & 0x0f) === 8;
      return isZlib ? createInflate() : createInflateRaw();
    }
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

  add(chunk: Buffer): void {
    const length = Math.min(this.#length + chunk.length, this.#maxBytes);
    if (length > this.#bytes.length) this.#grow(length);
    // Copies as much as fits.
    chunk.copy(this.#bytes, this.#length, 0, length - this.#length);
    this.#length = length;
  }

  /** A view, valid until more is added. */
  view(): Buffer {
    return this.#bytes.subarray(0, this.#length);
  }

  /** The first chunk gets exactly what it needs, because most bodies have only one. */
  #grow(needed: number): void {
    const grown = Buffer.allocUnsafe(Math.min(Math.max(needed, 2 * this.#bytes.length), this.#maxBytes));
    this.#bytes.copy(grown, 0, 0, this.#length);
    this.#bytes = grown;
  }
}
