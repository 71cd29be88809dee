/** Reads a response body as it streams: decoded, and cut at its bound before a decompression bomb unfolds. */
import { finished, pipeline, type Transform, Writable } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from 'node:zlib';

/** What Amble asks for, and so what it can read. */
export const ACCEPT_ENCODING = 'gzip, deflate, br';

export type Coding = 'identity' | 'gzip' | 'deflate' | 'br';

export type CollectedBody =
  | { kind: 'whole'; body: Buffer; bytes: number }
  /** `head` is what fits the bound. */
  | { kind: 'too-large'; head: Buffer; bytes: number }
  | { kind: 'failed'; error: Error };

export interface BodyCollector {
  /** false: hold further chunks back until `onDrain`. */
  write(chunk: Buffer): boolean;
  end(): void;
  destroy(): void;
}

/** null: an encoding that was not asked for. */
export function parseContentEncoding(header: string | undefined): Coding | null {
  const name = (header ?? '').trim().toLowerCase();
  switch (name) {
    case '':
    case 'identity':
      return 'identity';
    case 'gzip':
    case 'x-gzip':
      return 'gzip';
    case 'deflate':
    case 'br':
      return name;
    default:
      return null;
  }
}

/** `onDone` is called once, unless destroyed before. */
export function collectBody(options: {
  coding: Coding;
  /** The first bytes, which tell the two kinds of deflate apart. They are still to be written. */
  firstChunk: Buffer;
  maxBytes: number;
  onDrain: () => void;
  onDone: (body: CollectedBody) => void;
}): BodyCollector {
  const { maxBytes, onDrain, onDone } = options;
  const chunks: Buffer[] = [];
  let bytes = 0;
  let destroyed = false;

  const sink = new Writable({
    write(chunk: Buffer, _encoding, callback) {
      const room = maxBytes - bytes;
      bytes += chunk.length;
      if (room > 0) chunks.push(chunk.length > room ? chunk.subarray(0, room) : chunk);
      callback(bytes > maxBytes ? new TooLarge() : null);
    },
  });
  const done = (error?: Error | null): void => {
    if (destroyed) return;
    if (error instanceof TooLarge) onDone({ kind: 'too-large', head: Buffer.concat(chunks), bytes });
    else if (error) onDone({ kind: 'failed', error });
    else onDone({ kind: 'whole', body: Buffer.concat(chunks), bytes });
  };
  const decoder = makeDecoder(options.coding, options.firstChunk);
  const entry = decoder ?? sink;
  if (decoder === null) finished(sink, done);
  else pipeline(decoder, sink, done);
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

function makeDecoder(coding: Coding, firstChunk: Buffer): Transform | null {
  switch (coding) {
    case 'identity':
      return null;
    case 'gzip':
      return createGunzip();
    case 'br':
      return createBrotliDecompress();
    case 'deflate': {
      // RFC 9110 means the zlib format, some servers send the bare stream; zlib's first byte has 8 in its low half.
      const isZlib = ((firstChunk[0] ?? 0) & 0x0f) === 8;
      return isZlib ? createInflate() : createInflateRaw();
    }
  }
}
