import { createHash, randomBytes } from 'node:crypto';
import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { type ContentStore, openContentStore } from '../../src/worker/content-store.ts';

describe('the content store', () => {
  let directory: string;
  let store: ContentStore;

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'amble-content-'));
    store = openContentStore(join(directory, 'content'));
    return () => rm(directory, { recursive: true });
  });

  const files = async (): Promise<string[]> => {
    const entries = await readdir(directory, { recursive: true, withFileTypes: true });
    return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  };

  const inPieces = async (key: string): Promise<Buffer[]> => {
    const pieces: Buffer[] = [];
    for await (const piece of store.stream(key)) pieces.push(piece);
    return pieces;
  };

  test('gives back what was put in, under its SHA-256', async () => {
    const bytes = Buffer.from('some page\0\xff');
    const key = await store.put(bytes);
    expect(key).toBe(createHash('sha256').update(bytes).digest('hex'));
    expect(await store.get(key)).toEqual(bytes);
    expect(await files()).toEqual([
      join(directory, 'content', key.slice(0, 2), key.slice(2, 4), `${key}.gz`),
    ]);
  });

  test('keeps an empty body too', async () => {
    expect(await store.get(await store.put(Buffer.alloc(0)))).toEqual(Buffer.alloc(0));
  });

  test('compresses', async () => {
    const key = await store.put(Buffer.from('again and '.repeat(10_000)));
    const [file = ''] = await files();
    expect(file).toContain(key);
    expect((await stat(file)).size).toBeLessThan(2_000);
  });

  test('keeps one copy, however many put it in at once', async () => {
    const bytes = Buffer.from('the same');
    const keys = await Promise.all(Array.from({ length: 20 }, () => store.put(bytes)));
    expect(new Set(keys).size).toBe(1);
    expect(await files()).toHaveLength(1);
  });

  test('does not write what it already has', async () => {
    await store.put(Buffer.from('once'));
    const [file = ''] = await files();
    const before = await stat(file);
    await store.put(Buffer.from('once'));
    expect((await stat(file)).ino).toBe(before.ino);
  });

  test('is not misled by what a killed process left behind', async () => {
    const key = await store.put(Buffer.from('whole'));
    const [file = ''] = await files();
    await rm(file);
    await writeFile(`${file}.0000.tmp`, gzipSync('who'));
    await expect(store.get(key)).rejects.toThrow(`Content ${key} could not be read from ${file}`);
    await store.put(Buffer.from('whole'));
    expect((await store.get(key)).toString()).toBe('whole');
  });

  test('notices a damaged object, and says which', async () => {
    const key = await store.put(Buffer.from('right'));
    const [file = ''] = await files();
    await writeFile(file, gzipSync('wrong'));
    await expect(store.get(key)).rejects.toThrow(`Content ${key} is damaged: ${file}`);
    await writeFile(file, 'not gzip at all');
    await expect(store.get(key)).rejects.toThrow(`Content ${key} could not be read from ${file}`);
  });

  test('gives a large object in pieces', async () => {
    const bytes = randomBytes(300_000);
    const pieces = await inPieces(await store.put(bytes));
    expect(pieces.length).toBeGreaterThan(1);
    expect(Buffer.concat(pieces)).toEqual(bytes);
  });

  test('notices in pieces too what is missing or damaged', async () => {
    const key = await store.put(Buffer.from('right'));
    const [file = ''] = await files();
    await writeFile(file, gzipSync('wrong'));
    await expect(inPieces(key)).rejects.toThrow(`Content ${key} is damaged: ${file}`);
    await writeFile(file, 'not gzip at all');
    await expect(inPieces(key)).rejects.toThrow(`Content ${key} could not be read from ${file}`);
    await rm(file);
    await expect(inPieces(key)).rejects.toThrow(`Content ${key} could not be read from ${file}`);
  });

  test('takes nothing but a key for a key', async () => {
    await expect(inPieces('../../etc/passwd')).rejects.toThrow('is not a content key');
    await expect(store.get('../../etc/passwd')).rejects.toThrow('"../../etc/passwd" is not a content key');
  });

  test('says where it could not write', async () => {
    const blocked = join(directory, 'a-file');
    await writeFile(blocked, '');
    onTestFinished(() => rm(blocked, { force: true }));
    await expect(openContentStore(blocked).put(Buffer.from('x'))).rejects.toThrow(
      `could not be written to ${blocked}`,
    );
  });
});
