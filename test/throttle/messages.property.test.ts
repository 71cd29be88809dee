/** Properties of the messages: they are idempotent, survive JSON, and account for every ticket. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { LeaseUse } from '../../src/core/slot-protocol.ts';
import {
  ask,
  newThrottle,
  open,
  pause,
  release,
  replan,
  reset,
  resume,
  setDelay,
  type ThrottleState,
  view,
} from '../../src/throttle/index.ts';
import { anAsk, CONFIG, fixed, middle, NOON, reading } from './support.ts';

/** A message without its lease id, which is that of the n-th lease granted so far. */
type Message = (state: ThrottleState, now: number, leaseId: string) => unknown;

interface Step {
  name: string;
  send: Message;
  afterMs: number;
  lease: number;
}

const delay = fc.tuple(fc.nat(3_000), fc.nat(3_000)).map(([minMs, more]) => ({ minMs, maxMs: minMs + more }));

const asks = fc
  .record({
    ticket: fc.nat(30).map(String),
    crawlId: fc.constantFrom('a', 'b', '__proto__'),
    origin: fc.constantFrom('https://a.test', 'https://b.test', 'http://b.test'),
    atFront: fc.boolean(),
    concurrency: fc.integer({ min: 1, max: 3 }),
    targetConcurrency: fc.constantFrom(null, 1, 2),
    delay,
  })
  .map(({ ticket, ...overrides }): [string, Message] => [
    `ask ${ticket}`,
    (state, now) => ask(state, anAsk(ticket, overrides), now, middle),
  ]);

const uses: fc.Arbitrary<LeaseUse> = fc.oneof(
  fc.constant<LeaseUse>({ kind: 'unused' }),
  fc.constant<LeaseUse>({ kind: 'unused', busy: true }),
  fc.constant<LeaseUse>({ kind: 'lost' }),
  fc.record({
    kind: fc.constant('started' as const),
    agoMs: fc.integer({ min: -100, max: 20_000 }),
    durationMs: fc.nat(5_000),
    responseClass: fc.constantFrom(
      'ok',
      'not-found',
      'client-error',
      'overloaded',
      'broken',
      'unreachable',
      'unknown',
    ),
  }),
);

const releases = fc
  .tuple(uses, fc.option(fc.tuple(fc.webUrl(), fc.option(fc.nat(5_000)))))
  .map(([use, robots]): [string, Message] => [
    `release ${use.kind}`,
    (state, now, leaseId) => {
      const crawlDelay = robots ? { crawlDelay: { origin: robots[0], delayMs: robots[1] } } : {};
      release(state, { leaseId, use, ...crawlDelay }, now, middle);
    },
  ]);

const others = fc.constantFrom<[string, Message]>(
  ['replan', (state, now) => void replan(state, now)],
  ['pause', pause],
  ['resume', resume],
  ['reset', reset],
  ['setDelay', (state) => setDelay(state, fixed(2_000))],
);

const steps: fc.Arbitrary<Step[]> = fc.array(
  fc
    .record({
      message: fc.oneof(
        { weight: 4, arbitrary: asks },
        { weight: 3, arbitrary: releases },
        { weight: 3, arbitrary: others },
      ),
      afterMs: fc.oneof(fc.nat(500), fc.nat(30_000)),
      lease: fc.nat(20),
    })
    .map(({ message: [name, send], ...when }) => ({ name, send, ...when, toString: () => name })),
  { maxLength: 80 },
);

/** Applies the steps, and returns the state after the last. */
function play(steps: Step[], each: (state: ThrottleState, send: () => unknown, step: Step) => ThrottleState) {
  let state = newThrottle('example.org', {
    ...CONFIG,
    maxReserved: 4,
    maxWaiting: 12,
    idleTimeoutMs: 1_000,
    outageRetryMs: 2_000,
    outageGiveUpMs: 20_000,
  });
  open(state, reading(null), NOON);
  let now = NOON;
  for (const step of steps) {
    now += step.afterMs;
    const ids = state.leases.map(({ lease }) => lease.id);
    const leaseId = ids.at(-1 - step.lease) ?? 'a lease of a previous execution';
    const current = state;
    const sendAt = now;
    state = each(current, () => step.send(current, sendAt, leaseId), step);
  }
  return { state, now };
}

test('a message that arrives twice changes nothing the second time', () => {
  fc.assert(
    fc.property(steps, (steps) => {
      play(steps, (state, send) => {
        const first = send();
        const once = structuredClone(state);
        const second = send();
        expect(state).toEqual(once);
        expect(second).toEqual(first);
        return state;
      });
    }),
    { numRuns: 1_000 },
  );
});

test('continue-as-new at any moment makes no difference', () => {
  fc.assert(
    fc.property(steps, (steps) => {
      const answers: unknown[] = [];
      const carried: unknown[] = [];
      const plain = play(steps, (state, send) => {
        answers.push(send());
        return state;
      });
      const renewed = play(steps, (state, send) => {
        carried.push(send());
        return JSON.parse(JSON.stringify(state));
      });
      expect(renewed.state).toEqual(plain.state);
      expect(carried).toEqual(answers);
      expect(view(renewed.state, renewed.now)).toEqual(view(plain.state, plain.now));
    }),
    { numRuns: 500 },
  );
});

test('every grant ends, and only once', () => {
  fc.assert(
    fc.property(steps, (steps) => {
      const { state } = play(steps, (state, send) => {
        send();
        return state;
      });
      const { granted, started, unused, lost, active } = state.stats;
      expect(granted).toBe(started + unused + lost + state.leases.length);
      expect(active).toBe(state.leases.length);
    }),
    { numRuns: 1_000 },
  );
});

test('whatever arrives, the state stays bounded', () => {
  fc.assert(
    fc.property(steps, (steps) => {
      play(steps, (state, send) => {
        send();
        expect(state.waiting.length).toBeLessThanOrEqual(12);
        const reserved = state.leases.filter(({ ask }) => !ask.atFront);
        expect(reserved.length).toBeLessThanOrEqual(4 + 3);
        expect(Object.keys(state.crawlDelays).length).toBeLessThanOrEqual(16);
        expect(state.stats.recentResponses.length).toBeLessThanOrEqual(20);
        return state;
      });
    }),
    { numRuns: 1_000 },
  );
});
