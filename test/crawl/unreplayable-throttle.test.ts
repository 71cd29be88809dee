/** Every worker that takes over a throttle replays it; one that cannot be replayed must not stop its domain forever. */
import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { WithStartWorkflowOperation, type WorkflowHandle } from '@temporalio/client';
import { NativeConnection, Worker } from '@temporalio/worker';
import { pino } from 'pino';
import { afterEach, beforeEach, expect, inject, test, vi } from 'vitest';
import { throttleStart } from '../../activities/slot/throttle-client.ts';
import type { Ask, SlotAnswer } from '../../src/core/slot-protocol.ts';
import { type RunningWorker, startWorker } from '../../src/worker/worker.ts';
import { throttleId, throttleQueue } from '../../workflows/ids.ts';
import { acquireUpdate, releaseSignal } from '../../workflows/messages.ts';
import type { DomainThrottle } from '../../workflows/throttle/domain-throttle.ts';
import { type Amble, startAmble } from '../support/amble.ts';
import { testEngines } from '../support/engines.ts';

// A task for a worker that is gone is given to another only after ten seconds.
vi.setConfig({ testTimeout: 120_000 });

/** Unique to each test, as the throttles of all tests are on one server. */
let domain: string;

let amble: Amble;

beforeEach(async () => {
  // Its own worker serves another queue; the test starts and stops workers of its own.
  amble = await startAmble();
  domain = `${randomUUID()}.test`;
});

afterEach(async () => {
  await amble.stop();
});

function configOfTest(): Amble['config'] {
  // So short that the throttle's timer fires while no worker is there.
  const throttle = { ...amble.config.throttle, startWindowMs: 500, idleTimeoutMs: 1_000 };
  return { ...amble.config, throttle, taskQueue: `${amble.config.taskQueue}-other` };
}

function worker(): Promise<RunningWorker> {
  const { temporalAddress: address, namespace } = testEngines();
  return startWorker({
    config: configOfTest(),
    temporal: { address, namespace },
    databaseUrl: amble.databaseUrl,
    log: pino({ level: 'fatal' }),
    onlyThrottles: true,
    workflowCode: inject('workflowCode'),
  });
}

async function ask(number: number): Promise<SlotAnswer[]> {
  const question: Ask = {
    ticket: `ticket-${number}`,
    workflowId: `nobody-${number}`,
    crawlId: 'none',
    origin: `http://${domain}`,
    atFront: false,
    delay: { minMs: 0, maxMs: 0 },
    concurrency: 1,
    targetConcurrency: null,
    maxFetchMs: 1_000,
  };
  return amble.client.workflow.executeUpdateWithStart(acquireUpdate, {
    args: [[question], []],
    updateId: `ask-${number}`,
    startWorkflowOperation: new WithStartWorkflowOperation<typeof DomainThrottle>(
      'DomainThrottle',
      throttleStart(configOfTest(), domain, { searchAttributes: false, dashboardUrl: null }),
    ),
  });
}

/** The server no longer expects the worker that had the throttle, and the timer has fired. */
async function untilPassedOn(throttle: WorkflowHandle): Promise<void> {
  const isPassedOn = async () => {
    const { events } = await throttle.fetchHistory();
    return (
      events?.some((event) => event.workflowTaskTimedOutEventAttributes) &&
      events.some((event) => event.timerFiredEventAttributes)
    );
  };
  await expect.poll(isPassedOn, { timeout: 60_000 }).toBe(true);
}

/** Completes a task without a command. */
async function stir(throttle: WorkflowHandle): Promise<void> {
  const lengthOf = async () => (await throttle.describe()).historyLength;
  const before = await lengthOf();
  await throttle.signal(releaseSignal, []);
  await expect.poll(lengthOf, { timeout: 20_000 }).toBeGreaterThanOrEqual(before + 4);
}

test('a worker that sees two tasks where another saw one sends the same commands', async () => {
  const throttle = amble.client.workflow.getHandle(throttleId(domain));
  const first = await worker();
  await ask(1);
  await stir(throttle);
  await first.stop();

  // Arrives at a worker that does not have this throttle cached and sees one task for it and the signal before it.
  const answered = ask(2);
  await untilPassedOn(throttle);
  const second = await worker();
  expect(await answered).toMatchObject([{ kind: 'granted' }]);
  await second.stop();

  // This one sees two.
  const third = await worker();
  expect(await ask(3)).toMatchObject([{ kind: 'granted' }]);
  const { events } = await throttle.fetchHistory();
  expect(events?.filter((event) => event.workflowTaskFailedEventAttributes)).toEqual([]);
  await third.stop();
});

test('a throttle that cannot be replayed ends, and the next ask starts another', async () => {
  const { temporalAddress: address, namespace } = testEngines();
  const connection = await NativeConnection.connect({ address });
  const taskQueue = throttleQueue(configOfTest().taskQueue);
  const workflowsPath = fileURLToPath(new URL('other-throttle.ts', import.meta.url));
  const stranger = await Worker.create({ connection, namespace, taskQueue, workflowsPath });
  const start = throttleStart(configOfTest(), domain, { searchAttributes: false, dashboardUrl: null });
  const begun = stranger.runUntil(async () => {
    const throttle = await amble.client.workflow.start('DomainThrottle', start);
    const begins = async () => (await throttle.describe()).historyLength;
    await expect.poll(begins, { timeout: 20_000 }).toBeGreaterThan(4);
    return throttle.firstExecutionRunId;
  });
  const firstLife = await begun;
  await connection.close();

  const running = await worker();
  // Retried until it is answered, as an activity would.
  const answer = await vi.waitFor(() => ask(1), { timeout: 60_000, interval: 500 });
  expect(answer[0]?.kind).toBe('granted');
  expect(await amble.client.workflow.getHandle(start.workflowId, firstLife).describe()).toMatchObject({
    status: { name: 'FAILED' },
  });
  await running.stop();
});
