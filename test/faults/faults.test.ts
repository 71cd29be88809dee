/**
 * Whole crawls by real processes while faults are injected. `npm test` injects the faults that users meet most; a soak injects
 * each fault once, distributed over a few runs by seed, and then random ones for as long as you like.
 */
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { SOAK } from '../support/size.ts';
import { FAULTS } from './faults.ts';
import { createLab, type Lab } from './lab.ts';
import { runOnce } from './run.ts';
import { seeded } from './seeded.ts';

vi.setConfig({ testTimeout: 360_000 });

const RUNS = SOAK
  ? [
      { seed: 11, workers: 1 },
      { seed: 12, workers: 2 },
      { seed: 13, workers: 4 },
    ]
  : [{ seed: 12, workers: 2 }];

const faults = FAULTS.filter(({ inEveryTest }) => SOAK || inEveryTest === true);
const decks = deal(seeded(11).shuffled(faults), RUNS.length);

let lab: Lab;

beforeAll(async () => {
  lab = await createLab({ workers: 1 });
});

afterAll(async () => {
  await lab?.remove();
});

test.each(RUNS.map((run, i) => ({ ...run, faults: decks[i] ?? [] })))(
  'no page is lost, none is refetched without need and every gap holds: seed $seed, $workers worker(s)',
  async ({ seed, workers, faults }) => {
    await lab.ensureWorkers(workers);
    const run = await runOnce(lab, { crawlId: `faults-${seed}`, seed, faults });
    const logs = lab.workers.map((worker) => worker.log()).join('\n');
    expect(run.violations, `${faults.map(({ name }) => name).join('\n')}\n${logs}`).toEqual([]);
    expect(run.injected.map(({ fault }) => fault)).toEqual(faults.map(({ name }) => name));
    expect(run.pages).toBeGreaterThan(20);
  },
);

// The last one: it leaves its crawl behind.
test('a fault that throws ends its run early and is reported as a violation', async () => {
  const name = 'a fault that fails itself';
  const faults = [{ name, inject: () => Promise.reject(new Error('no such thing')) }];
  const run = await runOnce(lab, { crawlId: 'faults-broken', seed: 14, faults });
  expect(run).toMatchObject({
    broken: true,
    violations: [`the run broke off: ${name}: no such thing`],
    injected: [{ fault: name }],
  });
});

function deal<T>(cards: readonly T[], hands: number): T[][] {
  return Array.from({ length: hands }, (_, hand) => cards.filter((_, i) => i % hands === hand));
}
