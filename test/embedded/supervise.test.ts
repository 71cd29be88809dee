import { afterEach, beforeEach, expect, test } from 'vitest';
import {
  type RunningEngineAt,
  type SupervisedEngine,
  type Supervisor,
  superviseEngines,
} from '../../src/embedded/supervise.ts';

const PORT = 7_000;

let running: RunningEngineAt | null;
let started: number;
let restarts: number;
let messages: string[];
let supervisor: Supervisor;

/** The port on which the engine starts, or why it does not start. Each start is a new process. */
let startsOn: number | Error;

beforeEach(() => {
  running = { pid: 1, port: PORT };
  startsOn = PORT;
  started = 0;
  restarts = 0;
  messages = [];
  const engine: SupervisedEngine = {
    name: 'The engine',
    port: PORT,
    find: async () => running,
    async start() {
      started += 1;
      if (startsOn instanceof Error) throw startsOn;
      running = { pid: 1 + started, port: startsOn };
    },
    onRestart: () => {
      restarts += 1;
    },
  };
  supervisor = superviseEngines([engine], (message) => messages.push(message), 1);
});

afterEach(() => supervisor.stop());

/** Waits for a few more polls. */
async function polls(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 20));
}

test('a running engine is left alone', async () => {
  await polls();
  expect({ started, restarts, messages }).toEqual({ started: 0, restarts: 0, messages: [] });
});

test('an engine that died is restarted, and its users are notified', async () => {
  await polls();
  running = null;
  await expect.poll(() => restarts).toBe(1);
  await polls();
  expect({ started, restarts, messages }).toEqual({ started: 1, restarts: 1, messages: [] });
});

test('users are also notified if another process restarted the engine', async () => {
  await polls();
  running = { pid: 99, port: PORT };
  await expect.poll(() => restarts).toBe(1);
  expect(started).toBe(0);
});

test('a failure to restart is reported once, and the restart is retried', async () => {
  await polls();
  startsOn = new Error('disk full');
  running = null;
  await expect.poll(() => started).toBeGreaterThan(2);
  expect(messages).toEqual(['The engine died and could not be restarted: disk full']);
  startsOn = PORT;
  await expect.poll(() => restarts).toBe(1);
});

test.each(['by this process', 'by another'])(
  'an engine restarted on another port, %s, ends the supervision with an error',
  async (by) => {
    await polls();
    startsOn = 8_000;
    running = by === 'by another' ? { pid: 99, port: 8_000 } : null;
    await expect(supervisor.moved).rejects.toThrow(
      'The engine died. Its port 7000 was taken, so it was restarted on port 8000. Run this command again to use it there.',
    );
  },
);
