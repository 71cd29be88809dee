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
let anew: number;
let said: string[];
let kept: Supervisor;

/** Where it comes back, or why it does not; each time as a new process. */
let comesBackAt: number | Error;

beforeEach(() => {
  running = { pid: 1, port: PORT };
  comesBackAt = PORT;
  started = 0;
  anew = 0;
  said = [];
  const engine: SupervisedEngine = {
    name: 'The engine',
    port: PORT,
    find: async () => running,
    async start() {
      started += 1;
      if (comesBackAt instanceof Error) throw comesBackAt;
      running = { pid: 1 + started, port: comesBackAt };
    },
    onRestart: () => {
      anew += 1;
    },
  };
  kept = superviseEngines([engine], (line) => said.push(line), 1);
});

afterEach(() => kept.stop());

/** Until it has been looked at a few times more. */
async function looks(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 20));
}

test('an engine that runs is left alone', async () => {
  await looks();
  expect({ started, anew, said }).toEqual({ started: 0, anew: 0, said: [] });
});

test('an engine that ended is started, and its users hear that it is another', async () => {
  await looks();
  running = null;
  await expect.poll(() => anew).toBe(1);
  await looks();
  expect({ started, anew, said }).toEqual({ started: 1, anew: 1, said: [] });
});

test('an engine that another user of the home was faster to start is another all the same', async () => {
  await looks();
  running = { pid: 99, port: PORT };
  await expect.poll(() => anew).toBe(1);
  expect(started).toBe(0);
});

test('an engine that does not start is told of once, and started when it can be', async () => {
  await looks();
  comesBackAt = new Error('no room');
  running = null;
  await expect.poll(() => started).toBeGreaterThan(2);
  expect(said).toEqual(['The engine ended and could not be started again: no room']);
  comesBackAt = PORT;
  await expect.poll(() => anew).toBe(1);
});

test.each(['by this process', 'by another'])(
  'an engine that was started on another port, %s, is where its users cannot follow',
  async (by) => {
    await looks();
    comesBackAt = 8_000;
    running = by === 'by another' ? { pid: 99, port: 8_000 } : null;
    await expect(kept.moved).rejects.toThrow(
      'The engine ended, its port 7000 was taken, and it had to be started on 8000, where this command cannot follow: start the command again.',
    );
  },
);
