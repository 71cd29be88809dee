/**
 * Bodies and parsed documents by the SHA-256 of what they hold: gzip files under a directory that workers may share.
 * The same content is stored once, and an object is either whole or not there.
 */
import { createHash, randomUUID } from 'node:crypto';
import { access, mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';

export interface ContentStore {
  /**
   * Gives the key: the SHA-256 of the bytes, in hex. `derived`: can be made again, so it need not outlive a power cut and
   * is not waited for on its way to the disk.
   */
  put(bytes: Uint8Array, options?: { derived?: boolean }): Promise<string>;
  get(key: string): Promise<Buffer>;
}

const compress = promisify(gzip);
const decompress = promisify(gunzip);

export function openContentStore(directory: string): ContentStore {
  /** Two levels of 256 keep every directory small enough to list. */
  const pathOf = (key: string): string => join(directory, key.slice(0, 2), key.slice(2, 4), `${key}.gz`);

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
        throw new Error(`Content ${key} could not be written to ${path}: ${messageOf(error)}.`, {
          cause: error,
        });
      }
      return key;
    },

    async get(key) {
      if (!/^[0-9a-f]{64}$/.test(key))
        throw new Error(`"${key}" is not a content key: it must be a SHA-256 in hex.`);
      const path = pathOf(key);
      const bytes = await readFile(path)
        .then(decompress)
        .catch((error: unknown) => {
          throw new Error(`Content ${key} could not be read from ${path}: ${messageOf(error)}.`, {
            cause: error,
          });
        });
      if (sha256(bytes) !== key) throw new Error(`Content ${key} is damaged: ${path} holds something else.`);
      return bytes;
    },
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

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
