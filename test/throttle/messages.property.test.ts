/** Properties of the messages: they are idempotent, survive JSON, and account for every ticket. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { emptyStats, type LeaseUse } from '../../src/core/slot-protocol.ts';
import {
  ask,
  close,
  newThrottle,
  open,
  pause,
  release,
  reportStarted,
  reportUndelivered,
  reset,
  resume,
  setDelay,
  type ThrottleState,
  tick,
  toStoredDomain,
  view,
  withdraw,
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
    priority: fc.integer({ min: 1, max: 3 }),
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
  fc.constant<LeaseUse>({ kind: 'lost' }),
  fc.record({
    kind: fc.constant('started' as const),
    agoMs: fc.integer({ min: -100, max: 20_000 }),
    latestAt: fc.constantFrom(0, NOON, NOON + 1_000, Number.NaN),
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
  ['opened', (state, now) => open(state, reading(null), now)],
  [
    'opened',
    (state, now) =>
      open(state, reading({ ...toStoredDomain(state, false), backoffMs: 2_000, stats: emptyStats() }), now),
  ],
  ['close', close],
  ['tick', (state, now) => tick(state, now, middle)],
  ['started', (state, now, leaseId) => reportStarted(state, leaseId, { agoMs: 20, latestAt: null }, now)],
  ['reportUndelivered', (state, now, leaseId) => reportUndelivered(state, leaseId, now)],
  ['withdraw', (state, now) => withdraw(state, String(now % 30), now)],
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

/** Applies the steps, each followed by a tick as in the workflow, and returns the state after each. */
function play(steps: Step[], each: (state: ThrottleState, send: () => unknown, step: Step) => ThrottleState) {
  let state = newThrottle('example.org', {
    ...CONFIG,
    queueLimit: 12,
    idleTimeoutMs: 1_000,
    outageRetryMs: 2_000,
    outageGiveUpMs: 20_000,
  });
  let now = NOON;
  for (const step of steps) {
    now += step.afterMs;
    const ids = [...state.finished.map(({ id }) => id), ...state.leases.map(({ lease }) => lease.id)];
    const leaseId = ids.at(-1 - step.lease) ?? 'a lease of a previous execution';
    const current = state;
    const sendAt = now;
    state = each(current, () => step.send(current, sendAt, leaseId), step);
    tick(state, now, middle);
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
        // A tick returns its grants, and the second one has none.
        if (first !== undefined && !(first instanceof Object && 'grants' in first))
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

test('every ticket is queued, granted or withdrawn, and every grant ends', () => {
  fc.assert(
    fc.property(steps, (steps) => {
      let joined = 0;
      const { state } = play(steps, (state, send) => {
        const [grantedBefore, waitingBefore] = [state.stats.granted, state.queue.waiting.length];
        const withdrawnBefore = state.stats.withdrawn;
        send();
        const left = state.stats.granted - grantedBefore + state.stats.withdrawn - withdrawnBefore;
        joined += state.queue.waiting.length - waitingBefore + left;
        return state;
      });
      const { granted, withdrawn, started, unused, lost } = state.stats;
      expect(joined).toBe(granted + withdrawn + state.queue.waiting.length);
      expect(granted).toBe(started + unused + lost + state.leases.length);
      expect(state.stats.active).toBe(state.leases.length);
    }),
    { numRuns: 1_000 },
  );
});

test('whatever arrives, the last start never moves back and the state stays bounded', () => {
  fc.assert(
    fc.property(steps, (steps) => {
      play(steps, (state, send) => {
        const before = state.lastStart?.at ?? 0;
        send();
        expect(state.lastStart?.at ?? 0).toBeGreaterThanOrEqual(before);
        expect(state.queue.waiting.length).toBeLessThanOrEqual(12);
        expect(state.leases.length).toBeLessThanOrEqual(3);
        expect(Object.keys(state.crawlDelays).length).toBeLessThanOrEqual(16);
        expect(state.stats.recentResponses.length).toBeLessThanOrEqual(20);
        return state;
      });
    }),
    { numRuns: 1_000 },
  );
});
