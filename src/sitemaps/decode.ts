/** Turns the body of a sitemap into text as it streams: decompressed if necessary, limited in bytes, and decoded. */
import { TextDecoder } from 'node:util';
import { createGunzip, type Gunzip } from 'node:zlib';
import { byteOrderMark, charsetOf, decoderFor } from '../html/encodings.ts';

export type Bytes = AsyncIterable<Uint8Array>;

/** Recognises gzip by its first two bytes, because servers send all kinds of content types for it. */
export async function* decompress(body: Bytes, onCut: () => void): AsyncGenerator<Uint8Array> {
  const { head, whole } = await peek(body, 2);
  yield* head[0] === 0x1f && head[1] === 0x8b ? gunzip(whole, onCut) : whole;
}

/** Calls `onCut` if there was more. */
export async function* limitBytes(
  body: Bytes,
  maxBytes: number,
  onCut: () => void,
): AsyncGenerator<Uint8Array> {
  let room = maxBytes;
  for await (const chunk of body) {
    if (chunk.length > room) {
      onCut();
      if (room > 0) yield chunk.subarray(0, room);
      return;
    }
    room -= chunk.length;
    yield chunk;
  }
}

/** Returns the first bytes (fewer if the body is shorter), and the whole body including them. */
async function peek(body: Bytes, bytes: number): Promise<{ head: Buffer; whole: Bytes }> {
  const source = body[Symbol.asyncIterator]();
  const read: Uint8Array[] = [];
  let length = 0;
  while (length < bytes) {
    const next = await source.next();
    if (next.done) break;
    read.push(next.value);
    length += next.value.length;
  }
  async function* whole(): AsyncGenerator<Uint8Array> {
    try {
      yield* read;
      for (let next = await source.next(); !next.done; next = await source.next()) yield next.value;
    } finally {
      await source.return?.();
    }
  }
  return { head: Buffer.concat(read).subarray(0, bytes), whole: whole() };
}

/**
 * Yields what can be decompressed of a damaged or truncated archive. The output of each chunk is read before the next chunk
 * is written, because an error makes the stream drop all output that it still holds.
 */
async function* gunzip(body: Bytes, onCut: () => void): AsyncGenerator<Uint8Array> {
  const unzip = createGunzip();
  let wake = (): void => {};
  // An error only has to wake the reader, which then sees it on the stream.
  for (const event of ['readable', 'end', 'error']) unzip.on(event, () => wake());
  async function* pass(put: (done: () => void) => void): AsyncGenerator<Uint8Array> {
    let isIn = false;
    put(() => {
      isIn = true;
      wake();
    });
    for (;;) {
      for (let piece = out(unzip); piece !== null; piece = out(unzip)) yield piece;
      if (isIn || hasEnded(unzip)) return;
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  }
  try {
    for await (const chunk of body) {
      yield* pass((done) => unzip.write(chunk, done));
      if (hasEnded(unzip)) break;
    }
    // Only the end of the input shows whether the archive was complete.
    if (!hasEnded(unzip)) yield* pass(() => unzip.end());
    if (unzip.errored) onCut();
  } finally {
    unzip.destroy();
  }
}

function out(unzip: Gunzip): Uint8Array | null {
  return unzip.read();
}

/** Broken, or ended before its input: archives may be padded. */
function hasEnded({ errored, readableEnded }: Gunzip): boolean {
  return errored !== null || readableEnded;
}

/** An XML declaration is short and comes first in its file. */
const HEAD_BYTES = 256;

/** XML declares its encoding differently from HTML, and is UTF-8 by default. */
export async function* decodeXml(body: Bytes, contentType: string): AsyncGenerator<string> {
  const { head, whole } = await peek(body, HEAD_BYTES);
  const decoder =
    decoderFor(byteOrderMark(head)) ??
    decoderFor(zeroBytes(head)) ??
    decoderFor(charsetOf(contentType)) ??
    decoderFor(declared(head)) ??
    new TextDecoder();
  for await (const chunk of whole) yield decoder.decode(chunk, { stream: true });
  yield decoder.decode();
}

/** UTF-16 without a byte order mark: one byte of the first "<" is zero. */
function zeroBytes(head: Buffer): string | null {
  if (head[0] === 0x3c && head[1] === 0) return 'utf-16le';
  if (head[0] === 0 && head[1] === 0x3c) return 'utf-16be';
  return null;
}

function declared(head: Buffer): string | null {
  const label = /^\s*<\?xml[^>]*?\sencoding\s*=\s*["']([\w.:-]+)["']/.exec(head.toString('latin1'))?.[1];
  // The declaration was readable as ASCII, so it cannot be UTF-16.
  return label === undefined || /^utf-?16/i.test(label) ? null : label;
}
