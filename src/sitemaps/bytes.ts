/** The bytes of a sitemap: unpacked if they are packed, and never more of them than the limit. */
import { createGunzip, type Gunzip } from 'node:zlib';

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

/**
 * A damaged or cut archive gives what could be unpacked. Each piece of it is read out before the next goes in: where one
 * breaks, the stream takes what it still holds with it.
 */
async function* gunzip(body: Bytes, onCut: () => void): AsyncGenerator<Uint8Array> {
  const unzip = createGunzip();
  let stir = (): void => {};
  // An error is told to whoever waits for its piece.
  for (const event of ['readable', 'end', 'error']) unzip.on(event, () => stir());
  async function* pass(put: (done: () => void) => void): AsyncGenerator<Uint8Array> {
    let isIn = false;
    put(() => {
      isIn = true;
      stir();
    });
    for (;;) {
      for (let piece = out(unzip); piece !== null; piece = out(unzip)) yield piece;
      if (isIn || isOver(unzip)) return;
      await new Promise<void>((resolve) => {
        stir = resolve;
      });
    }
  }
  try {
    for await (const chunk of body) {
      yield* pass((done) => unzip.write(chunk, done));
      if (isOver(unzip)) break;
    }
    // Whether that was all of the archive comes out later than that its input has ended.
    if (!isOver(unzip)) yield* pass(() => unzip.end());
    if (unzip.errored) onCut();
  } finally {
    unzip.destroy();
  }
}

function out(unzip: Gunzip): Uint8Array | null {
  return unzip.read();
}

/** Broken, or at its end before its input is: archives may be padded. */
function isOver({ errored, readableEnded }: Gunzip): boolean {
  return errored !== null || readableEnded;
}
