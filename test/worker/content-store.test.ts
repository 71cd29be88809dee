import { createHash, randomBytes } from 'node:crypto';
import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { type ContentStore, openDirectoryStore, sha256 } from '../../src/worker/content-store.ts';

describe('the content store', () => {
  let directory: string;
  let store: ContentStore;

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'amble-content-'));
    store = openDirectoryStore(join(directory, 'content'));
    return () => rm(directory, { recursive: true });
  });

  const files = async (): Promise<string[]> => {
    const entries = await readdir(directory, { recursive: true, withFileTypes: true });
    return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  };

  const readChunks = async (key: string): Promise<Buffer[]> => {
    const chunks: Buffer[] = [];
    for await (const chunk of store.stream(key)) chunks.push(chunk);
    return chunks;
  };

  test('is readable by its user alone', async () => {
    await store.probe();
    await store.put(Buffer.from('<p>hello</p>'));
    await store.put(Buffer.from('{}'), { derived: true });
    const entries = await readdir(directory, { recursive: true, withFileTypes: true });
    expect(entries).toHaveLength(7);
    for (const entry of entries) {
      const { mode } = await stat(join(entry.parentPath, entry.name));
      expect((mode & 0o777).toString(8)).toBe(entry.isDirectory() ? '700' : '600');
    }
  });

  test('returns what was stored, by its SHA-256', async () => {
    const bytes = Buffer.from('some page\0\xff');
    const key = await store.put(bytes);
    expect(key).toBe(createHash('sha256').update(bytes).digest('hex'));
    expect(await store.get(key)).toEqual(bytes);
    expect(await files()).toEqual([
      join(directory, 'content', key.slice(0, 2), key.slice(2, 4), `${key}.gz`),
    ]);
  });

  test('stores an empty body', async () => {
    expect(await store.get(await store.put(Buffer.alloc(0)))).toEqual(Buffer.alloc(0));
  });

  test('compresses', async () => {
    const key = await store.put(Buffer.from('again and '.repeat(10_000)));
    const [file = ''] = await files();
    expect(file).toContain(key);
    expect((await stat(file)).size).toBeLessThan(2_000);
  });

  test('stores one copy of content that is written many times at once', async () => {
    const bytes = Buffer.from('the same');
    const keys = await Promise.all(Array.from({ length: 20 }, () => store.put(bytes)));
    expect(new Set(keys).size).toBe(1);
    expect(await files()).toHaveLength(1);
  });

  test('does not write existing content again', async () => {
    await store.put(Buffer.from('once'));
    const [file = ''] = await files();
    const before = await stat(file);
    await store.put(Buffer.from('once'));
    expect((await stat(file)).ino).toBe(before.ino);
  });

  test('ignores the temporary files of a killed process', async () => {
    const key = await store.put(Buffer.from('whole'));
    const [file = ''] = await files();
    await rm(file);
    await writeFile(`${file}.0000.tmp`, gzipSync('who'));
    await expect(store.get(key)).rejects.toThrow(`Content ${key} could not be read from ${file}`);
    await store.put(Buffer.from('whole'));
    expect((await store.get(key)).toString()).toBe('whole');
  });

  test('rejects a damaged object with its key and path', async () => {
    const key = await store.put(Buffer.from('right'));
    const [file = ''] = await files();
    await writeFile(file, gzipSync('wrong'));
    await expect(store.get(key)).rejects.toThrow(`Content ${key} is damaged: ${file}`);
    await writeFile(file, 'not gzip at all');
    await expect(store.get(key)).rejects.toThrow(`Content ${key} could not be read from ${file}`);
  });

  test('streams a large object in chunks', async () => {
    const bytes = randomBytes(300_000);
    const chunks = await readChunks(await store.put(bytes));
    expect(chunks.length).toBeGreaterThan(1);
    expect(Buffer.concat(chunks)).toEqual(bytes);
  });

  test('a stream rejects a missing or damaged object', async () => {
    const key = await store.put(Buffer.from('right'));
    const [file = ''] = await files();
    await writeFile(file, gzipSync('wrong'));
    await expect(readChunks(key)).rejects.toThrow(`Content ${key} is damaged: ${file}`);
    await writeFile(file, 'not gzip at all');
    await expect(readChunks(key)).rejects.toThrow(`Content ${key} could not be read from ${file}`);
    await rm(file);
    await expect(readChunks(key)).rejects.toThrow(`Content ${key} could not be read from ${file}`);
  });

  test('accepts only a SHA-256 as a key', async () => {
    await expect(readChunks('../../etc/passwd')).rejects.toThrow('Invalid content key');
    await expect(store.get('../../etc/passwd')).rejects.toThrow('Invalid content key "../../etc/passwd"');
  });

  test('names the path that could not be written', async () => {
    const blocked = join(directory, 'a-file');
    await writeFile(blocked, '');
    onTestFinished(() => rm(blocked, { force: true }));
    await expect(openDirectoryStore(blocked).put(Buffer.from('x'))).rejects.toThrow(
      `could not be written to ${blocked}`,
    );
  });
});

test('the key of a large body is computed in several turns of the event loop', async () => {
  let turns = 0;
  const count = (): void => {
    turns += 1;
    counting = setImmediate(count);
  };
  let counting = setImmediate(count);
  const key = await sha256(Buffer.alloc(50 * 2 ** 20));
  clearImmediate(counting);
  expect(key).toBe(
    createHash('sha256')
      .update(Buffer.alloc(50 * 2 ** 20))
      .digest('hex'),
  );
  expect(turns).toBeGreaterThan(1);
});
