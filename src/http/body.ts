/** Reads a response body as it streams: decoded, and cut at its bound before a decompression bomb unfolds. */
import { finished, pipeline, Transform, Writable } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from 'node:zlib';
import { HEAD_BYTES } from './content-type.ts';
import { GrowingBuffer } from './growing-buffer.ts';

/** What Amble asks for, and so what it can read. zstd is not among it: Node 20 has no decoder. */
export const ACCEPT_ENCODING = 'gzip, deflate, br';

export type Coding = 'gzip' | 'deflate' | 'br';

/** Two are a proxy on top of a server; more are a way to make the reader work. */
const MAX_CODINGS = 2;

export type CollectedBody =
  | { kind: 'whole'; body: Buffer; bytes: number }
  /** `head` is what fits the bound. */
  | { kind: 'too-large'; head: Buffer; bytes: number }
  /** `head` is what it was judged by. */
  | { kind: 'unwanted'; head: Buffer; bytes: number }
  | { kind: 'failed'; error: Error };

export interface BodyCollector {
  /** false: hold further chunks back until `onDrain`. */
  write(chunk: Buffer): boolean;
  end(): void;
  destroy(): void;
}

/** In the order in which they were applied; null: one that was not asked for, or too many. */
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

/** `onDone` is called once, unless destroyed before. */
export function collectBody(options: {
  codings: readonly Coding[];
  /** Still to be written. */
  firstChunk: Buffer;
  maxBytes: number;
  /** Asked once about the first decoded bytes; false: the rest is not wanted. */
  acceptHead: (head: Buffer) => boolean;
  onDrain: () => void;
  onDone: (body: CollectedBody) => void;
}): BodyCollector {
  const { firstChunk, maxBytes, acceptHead, onDrain, onDone } = options;
  const kept = new GrowingBuffer(maxBytes);
  let bytes = 0;
  let judged = false;
  let destroyed = false;

  const unwanted = (): Unwanted | null => {
    if (judged) return null;
    judged = true;
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
  // Undone in the reverse order. Each decoder's input has a bound too: data can be made that decodes to nothing for ever.
  const decoders = options.codings
    .toReversed()
    .flatMap((coding, i) => [bounded(2 * maxBytes), decoderOf(coding, i === 0 ? firstChunk : null)]);
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

function bounded(maxBytes: number): Transform {
  let bytes = 0;
  return new Transform({
    transform(chunk: Buffer, _encoding, callback) {
      bytes += chunk.length;
      if (bytes > maxBytes) callback(new TooLarge());
      else callback(null, chunk);
    },
  });
}

/** `firstChunk`: the wire's first bytes, which tell the two kinds of deflate apart; null: an inner encoding. */
function decoderOf(coding: Coding, firstChunk: Buffer | null): Transform {
  switch (coding) {
    case 'gzip':
      return createGunzip();
    case 'br':
      return createBrotliDecompress();
    case 'deflate': {
      // RFC 9110 means the zlib format, some servers send the bare stream; zlib's first byte has 8 in its low half.
      const isZlib = firstChunk === null || ((firstChunk[0] ?? 0) & 0x0f) === 8;
      return isZlib ? createInflate() : createInflateRaw();
    }
  }
}
