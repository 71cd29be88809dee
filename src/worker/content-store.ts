/**
 * Stores bodies and parsed documents under the SHA-256 of their content, as gzip files in a directory that workers may share.
 * The same content is stored once, and an object is either complete or absent.
 */
import { createHash, randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { access, mkdir, open, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { createGunzip, gunzip, gzip } from 'node:zlib';
import { messageOf } from '../core/errors.ts';
import { forEachInTurns } from '../core/in-turns.ts';

export interface ContentStore {
  /**
   * Returns the key: the SHA-256 of the bytes, in hex. `derived`: the object can be recomputed, so it need not survive a power
   * failure and is not synced to disk.
   */
  put(bytes: Uint8Array, options?: { derived?: boolean }): Promise<string>;
  get(key: string): Promise<Buffer>;
  /** The same in chunks. Damage is detected only at the end, and thrown there. */
  stream(key: string): AsyncIterable<Buffer>;
  has(key: string): Promise<boolean>;
  /** Rejects while a body cannot be written, or not read back. */
  probe(): Promise<void>;
}

/** The store as a whole cannot be used (disk full, volume not mounted), whatever the object. */
export class ContentStoreUnavailable extends Error {
  override name = 'ContentStoreUnavailable';
}

/** Takes about 4 ms. */
const HASHED_AT_ONCE = 1024 * 1024;

/** Larger than most compressed bodies. */
const PROBE_BYTES = 1024 * 1024;

/** For the user of the workers alone: what was crawled may be an intranet's, or behind a login. */
const PRIVATE_DIRECTORY = 0o700;
const PRIVATE_FILE = 0o600;

export const zip = promisify(gzip);
export const unzip = promisify(gunzip);

/** Two levels of 256 directories keep each of them small enough to list. The same name in every store. */
export function objectName(key: string): string {
  return `${key.slice(0, 2)}/${key.slice(2, 4)}/${key}.gz`;
}

export function openDirectoryStore(directory: string): ContentStore {
  const pathOf = (key: string): string => join(directory, objectName(key));

  /** Does not read the file back: whoever may create files with these permissions may also read them. */
  const probe = async (): Promise<void> => {
    const path = join(directory, `probe.${randomUUID()}.tmp`);
    try {
      await mkdir(directory, { recursive: true, mode: PRIVATE_DIRECTORY });
      await writeFile(path, Buffer.alloc(PROBE_BYTES), { mode: PRIVATE_FILE });
    } catch (error) {
      throw writeError('A probe', path, error);
    } finally {
      // Fails if there is a file in place of the directory.
      await rm(path, { force: true }).catch(() => {});
    }
  };

  /** If nothing can be written either, the store is unavailable; otherwise only this file is missing or damaged. */
  const readError = async (key: string, path: string, cause: unknown): Promise<Error> => {
    const message = `Content ${key} could not be read from ${path}: ${messageOf(cause)}.`;
    return probe().then(
      () => new Error(message, { cause }),
      () => new ContentStoreUnavailable(message, { cause }),
    );
  };

  return {
    async put(bytes, { derived = false } = {}) {
      const key = await sha256(bytes);
      const path = pathOf(key);
      // A derived object was not synced, so an existing file may be empty after a power failure: write it again.
      if (!derived && (await exists(path))) return key;
      try {
        await mkdir(dirname(path), { recursive: true, mode: PRIVATE_DIRECTORY });
        await writeAtomically(path, await zip(bytes), !derived);
      } catch (error) {
        throw writeError(`Content ${key}`, path, error);
      }
      return key;
    },

    has: (key) => exists(pathOf(key)),

    async get(key) {
      const path = pathOf(assertKey(key));
      const bytes = await readFile(path)
        .then(unzip)
        .catch(async (error: unknown) => {
          throw await readError(key, path, error);
        });
      if ((await sha256(bytes)) !== key) throw damageError(key, path);
      return bytes;
    },

    async *stream(key) {
      const path = pathOf(assertKey(key));
      const hash = createHash('sha256');
      const decompressed = createGunzip();
      const compressed = createReadStream(path);
      // pipe() does not forward errors.
      compressed.once('error', (error) => decompressed.destroy(error));
      compressed.pipe(decompressed);
      try {
        for await (const chunk of decompressed) {
          hash.update(chunk);
          yield chunk;
        }
      } catch (error) {
        throw await readError(key, path, error);
      } finally {
        compressed.destroy();
      }
      if (hash.digest('hex') !== key) throw damageError(key, path);
    },

    probe,
  };
}

/** Writes a temporary file and renames it: a process killed half-way leaves at most a .tmp file, which is never read. */
async function writeAtomically(path: string, bytes: Buffer, synced: boolean): Promise<void> {
  const temporary = `${path}.${randomUUID()}.tmp`;
  try {
    const file = await open(temporary, 'wx', PRIVATE_FILE);
    try {
      await file.writeFile(bytes);
      // Before the rename: after a power failure the name must not refer to an empty file.
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

export function assertKey(key: string): string {
  if (/^[0-9a-f]{64}$/.test(key)) return key;
  throw new Error(`Invalid content key "${key}": it must be a SHA-256 in hex.`);
}

function writeError(what: string, path: string, cause: unknown): ContentStoreUnavailable {
  return new ContentStoreUnavailable(`${what} could not be written to ${path}: ${messageOf(cause)}.`, {
    cause,
  });
}

export function damageError(key: string, path: string): Error {
  return new Error(`Content ${key} is damaged: ${path} contains something else.`);
}

/** In several turns of the event loop: 50 MiB, as large as a sitemap may be, take 0.2 s. */
export async function sha256(bytes: Uint8Array): Promise<string> {
  const hash = createHash('sha256');
  await forEachInTurns(piecesOf(bytes), (piece) => hash.update(piece));
  return hash.digest('hex');
}

function* piecesOf(bytes: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += HASHED_AT_ONCE) yield bytes.subarray(at, at + HASHED_AT_ONCE);
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
