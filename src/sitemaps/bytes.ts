/** The bytes of a sitemap: unpacked if they are packed, and never more of them than the limit. */
import { pipeline } from 'node:stream/promises';
import { constants, createGunzip } from 'node:zlib';

export type Bytes = AsyncIterable<Uint8Array>;

/** Told by the first two bytes: servers call a .gz file all kinds of things. */
export async function* unpacked(body: Bytes, onCut: () => void): AsyncGenerator<Uint8Array> {
  const { head, whole } = await peek(body, 2);
  yield* head[0] === 0x1f && head[1] === 0x8b ? gunzip(whole, onCut) : whole;
}

/** `onCut` hears that there was more. */
export async function* atMost(body: Bytes, maxBytes: number, onCut: () => void): AsyncGenerator<Uint8Array> {
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

/** The first bytes (fewer if there are no more), and everything with them. */
export async function peek(body: Bytes, bytes: number): Promise<{ head: Buffer; whole: Bytes }> {
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

/** A damaged or cut archive gives what could be unpacked; a source that breaks is trouble of our own and is thrown. */
async function* gunzip(body: Bytes, onCut: () => void): AsyncGenerator<Uint8Array> {
  const source: { broke: boolean; trouble: unknown; tail: Buffer } = {
    broke: false,
    trouble: null,
    tail: Buffer.alloc(0),
  };
  async function* watched(): AsyncGenerator<Uint8Array> {
    try {
      for await (const chunk of body) {
        source.tail = Buffer.concat([source.tail, chunk.subarray(-4)]).subarray(-4);
        yield chunk;
      }
    } catch (error) {
      source.broke = true;
      source.trouble = error;
      throw error;
    }
  }
  // With this flush the end of a cut archive is no error, and what was unpacked until then is not lost.
  const unzip = createGunzip({ finishFlush: constants.Z_SYNC_FLUSH });
  const pumping = pipeline(watched(), unzip).catch(() => undefined);
  let length = 0;
  try {
    for await (const chunk of unzip) {
      length += chunk.length;
      yield chunk;
    }
  } catch {
    // Damaged from here on; the length does not fit either.
  } finally {
    unzip.destroy();
    await pumping;
  }
  if (source.broke) throw source.trouble;
  // A whole archive ends with the length of what is in it (RFC 1952).
  if (source.tail.length < 4 || source.tail.readUInt32LE() !== length % 2 ** 32) onCut();
}
