import { describe, expect, test } from 'vitest';
import {
  createFairTurns,
  MAX_WAITING_DOCUMENTS,
  TooManyWaitingError,
  TurnOrder,
} from '../../src/html/fair-turns.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;

function orderOf(waiting: ReadonlyArray<readonly [site: string, item: string]>): TurnOrder<string> {
  const order = new TurnOrder<string>();
  for (const [site, item] of waiting) order.add(site, item);
  return order;
}

function takeAll(order: TurnOrder<string>, now: number): string[] {
  const items: string[] = [];
  for (let item = order.next(now); item !== undefined; item = order.next(now)) items.push(item);
  return items;
}

describe('the next turn', () => {
  test('goes to the site that has used the least time', () => {
    const order = orderOf([
      ['slow.test', 'slow'],
      ['medium.test', 'medium'],
      ['unknown.test', 'unknown'],
    ]);
    order.charge('slow.test', 30 * SECOND, 0);
    order.charge('medium.test', 5 * SECOND, 0);
    expect(takeAll(order, 0)).toEqual(['unknown', 'medium', 'slow']);
  });

  test('goes to the site that waits longest if none has used any, and within a site to its first document', () => {
    const order = orderOf([
      ['a.test', 'a1'],
      ['b.test', 'b1'],
      ['a.test', 'a2'],
    ]);
    expect(order.next(0)).toBe('a1');
    order.charge('a.test', SECOND, 0);
    expect(takeAll(order, 0)).toEqual(['b1', 'a2']);
  });

  test('depends on recent time: it counts half after a minute', () => {
    const order = orderOf([
      ['long-ago.test', 'long-ago'],
      ['lately.test', 'lately'],
    ]);
    order.charge('long-ago.test', 30 * SECOND, 0);
    order.charge('lately.test', 10 * SECOND, 2 * MINUTE);
    expect(order.usedMs('long-ago.test', MINUTE)).toBe(15 * SECOND);
    expect(takeAll(order, 2 * MINUTE)).toEqual(['long-ago', 'lately']);
  });

  test('adds up the time of several turns', () => {
    const order = orderOf([]);
    order.charge('a.test', 8 * SECOND, 0);
    order.charge('a.test', SECOND, MINUTE);
    expect(order.usedMs('a.test', MINUTE)).toBe(5 * SECOND);
  });

  test('does not go to a document that was removed', () => {
    const order = orderOf([
      ['a.test', 'a1'],
      ['a.test', 'a2'],
    ]);
    order.remove('a.test', 'a1');
    expect(takeAll(order, 0)).toEqual(['a2']);
  });

  test('is decided without memory of every site there ever was', () => {
    const order = orderOf([]);
    for (let i = 0; i <= 10_000; i += 1) order.charge(`${i}.test`, SECOND, i);
    expect(order.usedMs('0.test', 10_000)).toBe(0);
    expect(order.usedMs('10000.test', 10_000)).toBe(SECOND);
  });
});

describe('waiting for a turn', () => {
  const many = (count: number, siteOf: (n: number) => string) =>
    Array.from({ length: count }, (_, n): [string, string] => [siteOf(n), `${n}`]);

  test('is for a bounded number of documents of one site', () => {
    const order = orderOf(many(MAX_WAITING_DOCUMENTS.site, () => 'slow.test'));
    expect(order.makeRoom('slow.test', 0)).toEqual({ ok: false });
    expect(order.makeRoom('honest.test', 0)).toEqual({ ok: true, givesWay: undefined });
  });

  test('is ended for a site that has used more time, if too many wait', () => {
    const order = orderOf(many(MAX_WAITING_DOCUMENTS.all, (n) => `slow${n % 25}.test`));
    order.charge('slow24.test', 30 * SECOND, 0);
    expect(order.makeRoom('honest.test', 0)).toEqual({ ok: true, givesWay: '24' });
    order.add('honest.test', 'first');
    order.charge('slow7.test', 30 * SECOND, 0);
    expect(order.makeRoom('honest.test', 0)).toEqual({ ok: true, givesWay: '32' });
  });

  test('is not for a site that has used the most time itself, if too many wait', () => {
    const order = orderOf(many(MAX_WAITING_DOCUMENTS.all, (n) => `site${n}.test`));
    order.charge('slow.test', 30 * SECOND, 0);
    expect(order.makeRoom('slow.test', 0)).toEqual({ ok: false });
  });

  test('of very many slow documents leaves room for an honest one', async () => {
    const inTurn = createFairTurns();
    const ends: (() => void)[] = [];
    const slow = () => new Promise<void>((resolve) => ends.push(resolve));
    const hostile = many(100, (n) => `slow${n % 25}.test`).map(([site]) =>
      inTurn(site, slow).then(
        () => 'parsed',
        (error: unknown) => (error instanceof TooManyWaitingError ? 'turned away' : 'failed'),
      ),
    );
    const honest = inTurn('honest.test', async () => 'parsed');
    for (let n = 0; n < MAX_WAITING_DOCUMENTS.all; n += 1) {
      await new Promise(setImmediate);
      ends[n]?.();
    }
    await expect(honest).resolves.toBe('parsed');
    const outcomes = await Promise.all(hostile);
    expect(outcomes).not.toContain('failed');
    expect(outcomes.filter((outcome) => outcome === 'parsed')).toHaveLength(MAX_WAITING_DOCUMENTS.all);
  });
});

test('one task runs at a time, also if one fails or a waiting one is aborted', async () => {
  const inTurn = createFairTurns();
  const log: string[] = [];
  const task = (name: string) => async () => {
    log.push(`${name} begins`);
    await new Promise((resolve) => setImmediate(resolve));
    log.push(`${name} ends`);
    if (name === 'a') throw new Error('a failed');
  };
  const aborted = new AbortController();
  const all = [
    inTurn('a.test', task('a')),
    inTurn('b.test', task('b'), aborted.signal),
    inTurn('c.test', task('c')),
  ];
  aborted.abort(new Error('not needed'));
  const results = await Promise.allSettled(all);
  expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'fulfilled']);
  await inTurn('d.test', task('d'));
  expect(log).toEqual(['a begins', 'a ends', 'c begins', 'c ends', 'd begins', 'd ends']);
});
