/**
 * Decodes a body as it streams. Bytes after the end of the encoded data are ignored, as browsers do: some servers append
 * text to a page that is already compressed. Node's gunzip would fail, and lose data that it has decoded.
 */
import type { Transform } from 'node:stream';
import { crc32, createBrotliDecompress, createInflate, createInflateRaw, type Zlib } from 'node:zlib';
import { createKeyedLimiter } from '../core/keyed-limiter.ts';
import type { FetchMemory } from './body-memory.ts';

export type Coding = 'gzip' | 'deflate' | 'br';

/** bgzip makes one of every 64 KiB, so 800 of the largest sitemap. Each costs a decoder, and an empty one has only 20 bytes. */
const MAX_MEMBERS = 2_000;

/** RFC 7932, 9.1. */
export const MAX_BROTLI_WINDOW = 2 ** 24;
/** Most pages need no more, so that they ask for memory once. */
const MIN_BROTLI_WINDOW = 2 ** 16;

/**
 * One chunk may fill the window before any of it can be read and counted, so only as many are decoded at a time as Node has
 * threads for it.
 */
const brotliTurns = createKeyedLimiter(4);

/** Fails with the code Z_BUF_ERROR if the data ends too early, and with another one if it is damaged. */
export async function* decode(
  coding: Coding,
  source: AsyncIterable<Buffer>,
  memory: Pick<FetchMemory, 'take' | 'giveBack'>,
): AsyncGenerator<Buffer> {
  const input = new Input(source);
  if (coding === 'gzip') yield* gunzip(input);
  else if (coding === 'br') yield* decodeBrotli(input, memory);
  else yield* run(await createDeflateDecoder(input), input);
  await input.drain();
}

/** Its window is as large as what was decoded, up to a maximum, so it counts. That of gzip and deflate has 32 KiB. */
async function* decodeBrotli(
  input: Input,
  memory: Pick<FetchMemory, 'take' | 'giveBack'>,
): AsyncGenerator<Buffer> {
  let decoded = 0;
  let window = 0;
  try {
    for await (const chunk of run(createBrotliDecompress(), input, (task) => brotliTurns('br', task))) {
      decoded += chunk.length;
      while (window < Math.min(decoded, MAX_BROTLI_WINDOW)) {
        const more = window === 0 ? MIN_BROTLI_WINDOW : window;
        await memory.take(more);
        window += more;
      }
      yield chunk;
    }
  } finally {
    memory.giveBack(window);
  }
}

/** RFC 9110 means the zlib format, but some servers send the raw stream. The first byte of zlib has 8 in its low half. */
async function createDeflateDecoder(input: Input): Promise<Transform & Zlib> {
  const [first = 0] = await input.peek(1);
  return (first & 0x0f) === 8 ? createInflate() : createInflateRaw();
}

/** RFC 1952: members one after the other. */
async function* gunzip(input: Input): AsyncGenerator<Buffer> {
  if (!(await startsMember(input))) throw new GzipError('Z_DATA_ERROR', 'not gzip');
  let members = 0;
  do {
    members += 1;
    if (members > MAX_MEMBERS) throw new GzipError('Z_DATA_ERROR', 'too many members');
    yield* readMember(input);
  } while (await startsMember(input));
}

/** The magic number, the only method there is, and no flag that RFC 1952 does not know. */
async function startsMember(input: Input): Promise<boolean> {
  const [id1, id2, method, flags = 0xff] = await input.peek(4);
  return id1 === 0x1f && id2 === 0x8b && method === 8 && (flags & 0xe0) === 0;
}

async function* readMember(input: Input): AsyncGenerator<Buffer> {
  await skipHeader(input);
  let crc = 0;
  let size = 0;
  for await (const chunk of run(createInflateRaw(), input)) {
    crc = crc32(chunk, crc);
    size += chunk.length;
    yield chunk;
  }
  const trailer = await input.take(8);
  if (trailer.readUInt32LE(0) !== crc || trailer.readUInt32LE(4) !== size % 2 ** 32)
    throw new GzipError('Z_DATA_ERROR', 'checksum or size differs');
}

async function skipHeader(input: Input): Promise<void> {
  const flags = (await input.take(10)).readUInt8(3);
  if (flags & 0x04) await input.take((await input.take(2)).readUInt16LE(0)); // FEXTRA
  if (flags & 0x08) await input.skipPastZero(); // FNAME
  if (flags & 0x10) await input.skipPastZero(); // FCOMMENT
  if (flags & 0x02) await input.take(2); // FHCRC
}

/** Yields what the decoder makes of the input. What follows the end of the encoded data stays in the input. */
async function* run(
  decoder: Transform & Zlib,
  input: Input,
  inTurn: (task: () => Promise<void>) => Promise<void> = (task) => task(),
): AsyncGenerator<Buffer> {
  let fed = 0;
  let last: Buffer = Buffer.alloc(0);
  const feed = async (): Promise<void> => {
    // Once the data has ended, the decoder leaves the rest of a chunk unread.
    while (!decoder.destroyed && decoder.bytesWritten === fed) {
      const chunk = await input.next();
      if (chunk === null) {
        decoder.end();
        return;
      }
      fed += chunk.length;
      last = chunk;
      await inTurn(() => write(decoder, chunk));
    }
  };
  feed().catch((error: Error) => decoder.destroy(error));
  yield* decoder;
  input.unread(last.subarray(last.length - (fed - decoder.bytesWritten)));
}

/** Resolves when all that the chunk decodes to was read, or the decoder was destroyed. */
function write(decoder: Transform, chunk: Buffer): Promise<void> {
  return new Promise((resolve) => {
    decoder.once('close', resolve);
    decoder.write(chunk, () => {
      decoder.off('close', resolve);
      resolve();
    });
  });
}

class GzipError extends Error {
  constructor(
    readonly code: 'Z_BUF_ERROR' | 'Z_DATA_ERROR',
    message: string,
  ) {
    super(message);
  }
}

class Input {
  readonly #chunks: AsyncIterator<Buffer>;
  #unread: Buffer = Buffer.alloc(0);

  constructor(source: AsyncIterable<Buffer>) {
    this.#chunks = source[Symbol.asyncIterator]();
  }

  /** null: the end. */
  async next(): Promise<Buffer | null> {
    const unread = this.#unread;
    if (unread.length > 0) {
      this.#unread = Buffer.alloc(0);
      return unread;
    }
    const { done, value } = await this.#chunks.next();
    return done === true ? null : value;
  }

  unread(bytes: Buffer): void {
    this.#unread = bytes;
  }

  /** The next bytes, which stay in the input. Fewer at its end. */
  async peek(count: number): Promise<Buffer> {
    let bytes: Buffer = Buffer.alloc(0);
    while (bytes.length < count) {
      const chunk = await this.next();
      if (chunk === null) break;
      bytes = bytes.length === 0 ? chunk : Buffer.concat([bytes, chunk]);
    }
    this.#unread = bytes;
    return bytes.subarray(0, count);
  }

  async take(count: number): Promise<Buffer> {
    const bytes = await this.peek(count);
    if (bytes.length < count) throw new GzipError('Z_BUF_ERROR', 'unexpected end');
    this.#unread = this.#unread.subarray(count);
    return bytes;
  }

  async skipPastZero(): Promise<void> {
    for (;;) {
      const chunk = await this.next();
      if (chunk === null) throw new GzipError('Z_BUF_ERROR', 'unexpected end');
      const end = chunk.indexOf(0);
      if (end < 0) continue;
      this.#unread = chunk.subarray(end + 1);
      return;
    }
  }

  async drain(): Promise<void> {
    while ((await this.next()) !== null);
  }
}
