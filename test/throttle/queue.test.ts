import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { nextInQueue, positionOf, removeGranted, upcoming } from '../../src/throttle/queue.ts';
import type { Queue, QueuedTicket } from '../../src/throttle/state.ts';
import { anAsk, NOON } from './support.ts';

function queueOf(...tickets: Array<[ticket: string, overrides?: Partial<QueuedTicket>]>): Queue {
  const waiting = tickets.map(([ticket, overrides]) => ({ ...anAsk(ticket, overrides), askedAt: NOON }));
  return { waiting, served: [], passedOldest: 0 };
}

const order = (queue: Queue) => upcoming(queue, queue.waiting.length).map(({ ticket }) => ticket);

describe('the queue', () => {
  test('serves the pages of a crawl in order of arrival', () => {
    expect(order(queueOf(['a'], ['b'], ['c']))).toEqual(['a', 'b', 'c']);
  });

  test('serves the better priority first', () => {
    expect(order(queueOf(['a', { priority: 3 }], ['b', { priority: 2 }], ['c', { priority: 1 }]))).toEqual([
      'c',
      'b',
      'a',
    ]);
  });

  test('lets crawls take turns within a priority', () => {
    const queue = queueOf(['a1'], ['a2'], ['a3'], ['b1', { crawlId: 'b' }], ['b2', { crawlId: 'b' }]);
    expect(order(queue)).toEqual(['a1', 'b1', 'a2', 'b2', 'a3']);
  });

  test('does not let a crawl that returns at once overtake crawls that have waited', () => {
    const queue = queueOf(['many1'], ['many2'], ['single1', { crawlId: 'single' }]);
    for (const expected of ['many1', 'single1', 'many2']) {
      const next = nextInQueue(queue);
      expect(next?.ticket).toBe(expected);
      if (!next) return;
      removeGranted(queue, next);
      if (expected === 'single1')
        queue.waiting.push({ ...anAsk('single2', { crawlId: 'single' }), askedAt: NOON });
    }
  });

  test('serves a page first that has spent its slot on robots.txt', () => {
    expect(order(queueOf(['a', { priority: 1 }], ['b', { priority: 9, atFront: true }]))).toEqual(['b', 'a']);
  });

  test('gives every fifth grant to the oldest ticket', () => {
    const urgent = Array.from({ length: 9 }, (_, n): [string, Partial<QueuedTicket>] => [
      `u${n}`,
      { priority: 1 },
    ]);
    const queue = queueOf(['old1', { priority: 9 }], ['old2', { priority: 9 }], ...urgent);
    expect(order(queue)).toEqual(['u0', 'u1', 'u2', 'u3', 'old1', 'u4', 'u5', 'u6', 'u7', 'old2', 'u8']);
  });
});

const ticketLists = fc
  .array(
    fc.record({
      crawlId: fc.constantFrom('a', 'b', 'c', 'd'),
      priority: fc.integer({ min: 1, max: 3 }),
      atFront: fc.boolean(),
    }),
    { maxLength: 60 },
  )
  .chain((records) =>
    fc
      .boolean()
      .map((plain) => records.map((overrides) => (plain ? { ...overrides, atFront: false } : overrides))),
  )
  .map((records) =>
    records.map((overrides, n): QueuedTicket => ({ ...anAsk(`t${n}`, overrides), askedAt: NOON + n })),
  );

test('no ticket starves: later tickets pass the oldest one at most four times', () => {
  fc.assert(
    fc.property(ticketLists, ticketLists, (old, newcomers) => {
      const queue: Queue = { waiting: [...old], served: [], passedOldest: 0 };
      let oldest: QueuedTicket | undefined;
      let passed = 0;
      for (const [n, newcomer] of newcomers.entries()) {
        queue.waiting.push({ ...newcomer, ticket: `new${n}`, priority: 0 });
        const next = nextInQueue(queue);
        if (!next) continue;
        if (queue.waiting[0] !== oldest) [oldest, passed] = [queue.waiting[0], 0];
        removeGranted(queue, next);
        if (next !== oldest && !next.atFront) passed += 1;
        expect(passed).toBeLessThanOrEqual(4);
      }
    }),
  );
});

test('every ticket in the queue is served exactly once', () => {
  fc.assert(
    fc.property(ticketLists, (waiting) => {
      const served = order({ waiting, served: [], passedOldest: 0 });
      expect([...served].sort()).toEqual(waiting.map(({ ticket }) => ticket).sort());
    }),
  );
});

test('positions are exact while priorities are equal', () => {
  fc.assert(
    fc.property(ticketLists, (mixed) => {
      const waiting = mixed.map((ticket) => ({ ...ticket, priority: 5 }));
      const queue: Queue = { waiting, served: ['c', 'a'], passedOldest: 0 };
      const fronts = waiting.filter(({ atFront }) => atFront).length;
      for (const [index, ticket] of upcoming(queue, waiting.length).entries()) {
        // A page at the front also ends its crawl's turn, which a position does not foresee.
        if (fronts === 0 || ticket.atFront) expect(positionOf(queue, ticket)).toBe(index + 1);
      }
    }),
  );
});

test('a position is never beyond the end of the queue', () => {
  fc.assert(
    fc.property(ticketLists, fc.nat(4), (waiting, passedOldest) => {
      for (const ticket of waiting) {
        const position = positionOf({ waiting, served: ['c', 'a'], passedOldest }, ticket);
        expect(position).toBeGreaterThanOrEqual(1);
        expect(position).toBeLessThanOrEqual(waiting.length);
      }
    }),
  );
});
