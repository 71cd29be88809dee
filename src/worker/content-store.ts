/**
 * Bodies and parsed documents by the SHA-256 of what they hold: gzip files under a directory that workers may share.
 * The same content is stored once, and an object is either whole or not there.
 */
import { createHash, randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { access, mkdir, open, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { createGunzip, gunzip, gzip } from 'node:zlib';
import { messageOf } from '../core/error-chain.ts';

export interface ContentStore {
  /**
   * Gives the key: the SHA-256 of the bytes, in hex. `derived`: can be made again, so it need not outlive a power cut and
   * is not waited for on its way to the disk.
   */
  put(bytes: Uint8Array, options?: { derived?: boolean }): Promise<string>;
  get(key: string): Promise<Buffer>;
  /** The same in pieces; what is damaged is known, and thrown, only at its end. */
  stream(key: string): AsyncIterable<Buffer>;
  has(key: string): Promise<boolean>;
  /** Rejects while there is no room for a body. */
  probe(): Promise<void>;
}

/** A full disk, a volume that is not there: a matter of the store, not of what was to be written or read. */
export class ContentStoreUnavailable extends Error {
  override name = 'ContentStoreAway';
}

/** More than most bodies take when they are packed. */
const PROBE_BYTES = 1024 * 1024;

const compress = promisify(gzip);
const decompress = promisify(gunzip);

export function openContentStore(directory: string): ContentStore {
  /** Two levels of 256 keep every directory small enough to list. */
  const pathOf = (key: string): string => join(directory, key.slice(0, 2), key.slice(2, 4), `${key}.gz`);

  const probe = async (): Promise<void> => {
    const path = join(directory, `probe.${randomUUID()}.tmp`);
    try {
      await mkdir(directory, { recursive: true });
      await writeFile(path, Buffer.alloc(PROBE_BYTES));
    } catch (error) {
      throw unwritable('A probe', path, error);
    } finally {
      // Where there is a file in the place of the directory, even this is an error.
      await rm(path, { force: true }).catch(() => {});
    }
  };

  /** One file may be missing or damaged; where nothing can be written either, it is the store that is away. */
  const unreadable = async (key: string, path: string, cause: unknown): Promise<Error> => {
    const sentence = `Content ${key} could not be read from ${path}: ${messageOf(cause)}.`;
    return probe().then(
      () => new Error(sentence, { cause }),
      () => new ContentStoreUnavailable(sentence, { cause }),
    );
  };

  return {
    async put(bytes, { derived = false } = {}) {
      const key = sha256(bytes);
      const path = pathOf(key);
      // A derived object was not synced, so one that is there may be an empty shell: it is written again.
      if (!derived && (await exists(path))) return key;
      try {
        await mkdir(dirname(path), { recursive: true });
        await writeWhole(path, await compress(bytes), !derived);
      } catch (error) {
        throw unwritable(`Content ${key}`, path, error);
      }
      return key;
    },

    has: (key) => exists(pathOf(key)),

    async get(key) {
      const path = pathOf(checked(key));
      const bytes = await readFile(path)
        .then(decompress)
        .catch(async (error: unknown) => {
          throw await unreadable(key, path, error);
        });
      if (sha256(bytes) !== key) throw damaged(key, path);
      return bytes;
    },

    async *stream(key) {
      const path = pathOf(checked(key));
      const hash = createHash('sha256');
      const unpacked = createGunzip();
      const packed = createReadStream(path);
      // A file that cannot be read ends what is made of it.
      packed.once('error', (error) => unpacked.destroy(error));
      packed.pipe(unpacked);
      try {
        for await (const chunk of unpacked) {
          hash.update(chunk);
          yield chunk;
        }
      } catch (error) {
        throw await unreadable(key, path, error);
      } finally {
        packed.destroy();
      }
      if (hash.digest('hex') !== key) throw damaged(key, path);
    },

    probe,
  };
}

/** Written aside, then renamed: whoever is killed on the way leaves at most a .tmp file that nobody reads. */
async function writeWhole(path: string, bytes: Buffer, synced: boolean): Promise<void> {
  const temporary = `${path}.${randomUUID()}.tmp`;
  try {
    const file = await open(temporary, 'wx');
    try {
      await file.writeFile(bytes);
      // Before the rename: after a power cut the name must not point at an empty file.
      if (synced) await file.datasync();
    } finally {
      await file.close();
    }
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

function checked(key: string): string {
  if (/^[0-9a-f]{64}$/.test(key)) return key;
  throw new Error(`"${key}" is not a content key: it must be a SHA-256 in hex.`);
}

function unwritable(what: string, path: string, cause: unknown): ContentStoreUnavailable {
  return new ContentStoreUnavailable(`${what} could not be written to ${path}: ${messageOf(cause)}.`, {
    cause,
  });
}

function damaged(key: string, path: string): Error {
  return new Error(`Content ${key} is damaged: ${path} holds something else.`);
}

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
