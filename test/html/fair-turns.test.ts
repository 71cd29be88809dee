import { describe, expect, test } from 'vitest';
import { createFairTurns, TurnOrder } from '../../src/html/fair-turns.ts';

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
