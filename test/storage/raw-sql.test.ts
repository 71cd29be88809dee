import { expect, test } from 'vitest';
import { isDatabaseUnavailable } from '../../src/storage/database-unavailable.ts';
import type { Queries } from '../../src/storage/raw-sql.ts';
import { useDatabase } from './support.ts';

const db = useDatabase();

test('of two transactions in a deadlock, the one that is rolled back is repeated', async () => {
  await db().$executeRaw`INSERT INTO domains (name, epoch) VALUES ('one.test', 0), ('two.test', 0)`;
  // Each locks its first row and waits until the other has done so too; then both want the row of the other.
  let taken = 0;
  let bothTaken: () => void = () => {};
  const both = new Promise<void>((resolve) => {
    bothTaken = resolve;
  });
  const raise = (tx: Queries, name: string) =>
    tx.$executeRaw`UPDATE domains SET epoch = epoch + 1 WHERE name = ${name}`;
  const crossing = (first: string, second: string) =>
    db().inTransaction(async (tx) => {
      await raise(tx, first);
      taken += 1;
      if (taken === 2) bothTaken();
      await both;
      await raise(tx, second);
    });
  await Promise.all([crossing('one.test', 'two.test'), crossing('two.test', 'one.test')]);
  expect(taken).toBeGreaterThan(2);
  const rows = await db().domain.findMany({ where: { name: { in: ['one.test', 'two.test'] } } });
  expect(rows.map(({ epoch }) => epoch)).toEqual([2, 2]);
});

test('a transaction that fails leaves nothing behind and reports why', async () => {
  const failing = db().inTransaction(async (tx) => {
    await tx.$executeRaw`INSERT INTO domains (name, epoch) VALUES ('gone.test', 0)`;
    throw new Error('on purpose');
  });
  await expect(failing).rejects.toThrow('on purpose');
  expect(await db().domain.count({ where: { name: 'gone.test' } })).toBe(0);
});

test('a connection that breaks between two statements fails only its transaction', async () => {
  const cutOff: unknown = await db()
    .inTransaction(async (tx) => {
      const [me] = await tx.$queryRaw<{ pid: number }[]>`SELECT pg_backend_pid() AS pid`;
      await db().$queryRaw`SELECT pg_terminate_backend(${me?.pid})`;
      const left = async () =>
        db().$queryRaw`SELECT FROM pg_stat_activity WHERE pid = ${me?.pid} AND state IS NOT NULL`;
      await expect.poll(left).toEqual([]);
      return tx.$queryRaw`SELECT 1`;
    })
    .catch((error: unknown) => error);
  expect(isDatabaseUnavailable(cutOff), String(cutOff)).toBe(true);
  expect(await db().inTransaction((tx) => tx.$queryRaw`SELECT 1 AS one`)).toEqual([{ one: 1 }]);
});

test('long lists arrive as they are', async () => {
  const odd = ['', 'NULL', 'null', '{}', ',', '"', '\\', '\\"', ' a ', 'ü€😀', '\n\t', "'"];
  const texts = Array.from({ length: 1_000 }, (_, n) => (n % 20 === 13 ? null : `${odd[n % 13] ?? n}`));
  const numbers = texts.map((_, n) => (n % 7 === 3 ? null : n));
  const rows = await db().$queryRaw<{ text: string; number: number }[]>`
    SELECT text, number FROM unnest(${texts}::text[], ${numbers}::int[]) WITH ORDINALITY AS list (text, number, nr) ORDER BY nr`;
  expect(rows).toEqual(texts.map((text, n) => ({ text, number: numbers[n] })));
  const bytes = texts.map((text) => Buffer.from(text ?? ''));
  const [{ kept } = { kept: [] }] = await db().$queryRaw<
    { kept: Buffer[] }[]
  >`SELECT ${bytes}::bytea[] AS kept`;
  expect(kept).toEqual(bytes);
});
