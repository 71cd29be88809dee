/**
 * The content store in a bucket of S3 or a server that speaks its protocol, under the same names as in a directory. Content decides
 * the name, so a PUT that is repeated, or done by two workers at once, changes nothing.
 */
import { createHash } from 'node:crypto';
import { createGunzip } from 'node:zlib';
import { LRUCache } from 'lru-cache';
import { S3mini } from 's3mini';
import { describeContentLocation, type S3Location } from '../core/content-location.ts';
import { messageOf } from '../core/errors.ts';
import {
  assertKey,
  type ContentStore,
  ContentStoreUnavailable,
  damageError,
  objectName,
  sha256,
  unzip,
  zip,
} from './content-store.ts';

/** A request that takes longer counts as failed. Bodies have 10 MiB by default, before compression. */
const REQUEST_TIMEOUT_MS = 30_000;

/** Enough for a server that is full to refuse it, and small beside what a worker stores in a second. */
const PROBE_BYTES = 16 * 1024;

/** A probe that hangs for longer would delay the news that the server answers again. */
const PROBE_TIMEOUT_MS = 5_000;

/** Keys that this process has stored: the same content need not be sent again. */
const MAX_KNOWN_KEYS = 10_000;

/** A connection that breaks in the middle of a body is not damage. */
const READ_ATTEMPTS = 2;

/**
 * s3mini states the length of a body, and fetch does so again. Loading undici, as a worker does, makes its agent the one of the global
 * fetch, and that refuses a length that is stated twice.
 */
const fetchWithOneLength: typeof fetch = (input, init) => {
  const headers = new Headers(init?.headers);
  headers.delete('content-length');
  return fetch(input, { ...init, headers });
};

export function openS3Store(location: S3Location, timeoutMs = REQUEST_TIMEOUT_MS): ContentStore {
  const { bucket, prefix, endpoint, region, accessKeyId, secretAccessKey } = location;
  const connect = (requestAbortTimeout: number) =>
    new S3mini({
      accessKeyId,
      secretAccessKey,
      endpoint: `${endpoint}/${bucket}`,
      region,
      requestAbortTimeout,
      fetch: fetchWithOneLength,
    });
  const client = connect(timeoutMs);
  const probing = connect(Math.min(timeoutMs, PROBE_TIMEOUT_MS));
  const known = new LRUCache<string, true>({ max: MAX_KNOWN_KEYS });
  const nameOf = (key: string): string => `${prefix}${objectName(key)}`;
  const place = (key: string): string =>
    `${describeContentLocation({ ...location, prefix: '' })}${nameOf(key)}`;

  const write = async (what: string, name: string, bytes: Buffer, by = client): Promise<void> => {
    try {
      await by.putObject(name, bytes, 'application/gzip');
    } catch (error) {
      throw new ContentStoreUnavailable(
        `${what} could not be written to s3://${bucket}/${name}: ${messageOf(error)}.`,
        { cause: error },
      );
    }
  };
  /** Reads it back as well: a key may be allowed to write objects, but not to read them. */
  const probe = async (): Promise<void> => {
    const name = `${prefix}probe`;
    await write('A probe', name, Buffer.alloc(PROBE_BYTES), probing);
    try {
      const response = await probing.getObjectResponse(name);
      if (response === null) throw new Error('there is no such object');
      await response.arrayBuffer();
    } catch (error) {
      throw new ContentStoreUnavailable(
        `A probe could not be read from s3://${bucket}/${name}: ${messageOf(error)}.`,
        { cause: error },
      );
    }
  };

  /**
   * If the probe fails too, the store is unavailable; otherwise only this object cannot be read. The answer to this request alone does
   * not tell: without the permission to list the bucket, S3 refuses to read an object that does not exist.
   */
  const readError = async (key: string, cause: unknown): Promise<Error> => {
    const message = `Content ${key} could not be read from ${place(key)}: ${messageOf(cause)}.`;
    return probe().then(
      () => new Error(message, { cause }),
      () => new ContentStoreUnavailable(message, { cause }),
    );
  };

  /** Compressed, and whole: the time limit covers the response to its end, and a caller may be slower than that. */
  const read = async (key: string): Promise<Buffer> => {
    for (let attempt = 1; ; attempt += 1) {
      try {
        const response = await client.getObjectResponse(nameOf(key));
        if (response === null) throw new Error('there is no such object');
        return Buffer.from(await response.arrayBuffer());
      } catch (error) {
        if (attempt === READ_ATTEMPTS) throw await readError(key, error);
      }
    }
  };

  return {
    async put(bytes) {
      const key = await sha256(bytes);
      if (known.has(key)) return key;
      await write(`Content ${key}`, nameOf(key), await zip(bytes));
      known.set(key, true);
      return key;
    },

    async has(key) {
      try {
        return (await client.objectExists(nameOf(key))) === true;
      } catch (error) {
        const failed = await readError(key, error);
        if (failed instanceof ContentStoreUnavailable) throw failed;
        // A key that may not list the bucket is told "forbidden" instead of "not found".
        return false;
      }
    },

    async get(key) {
      const compressed = await read(assertKey(key));
      const bytes = await unzip(compressed).catch(async (error: unknown) => {
        throw await readError(key, error);
      });
      if ((await sha256(bytes)) !== key) throw damageError(key, place(key));
      return bytes;
    },

    async *stream(key) {
      const compressed = await read(assertKey(key));
      const hash = createHash('sha256');
      try {
        for await (const chunk of createGunzip().end(compressed)) {
          hash.update(chunk);
          yield chunk;
        }
      } catch (error) {
        throw await readError(key, error);
      }
      if (hash.digest('hex') !== key) throw damageError(key, place(key));
    },

    probe,
  };
}
