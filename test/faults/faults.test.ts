/**
 * Whole crawls by real processes while things break: each fault once, dealt over a few runs by seed. `npm run soak` does the
 * same for as long as one likes.
 */
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { FAULTS } from './faults.ts';
import { type Lab, makeLab } from './lab.ts';
import { runOnce } from './run.ts';
import { seeded } from './seeded.ts';

vi.setConfig({ testTimeout: 240_000 });

const SEEDS = [11, 12, 13];

const decks = deal(seeded(SEEDS[0] ?? 0).shuffled(FAULTS), SEEDS.length);

let lab: Lab;

beforeAll(async () => {
  lab = await makeLab({ workers: 2 });
});

afterAll(async () => {
  await lab?.remove();
});

test.each(SEEDS.map((seed, i) => ({ seed, faults: decks[i] ?? [] })))(
  'nothing is lost, nothing is fetched twice for nothing and no gap is broken, with seed $seed',
  async ({ seed, faults }) => {
    const run = await runOnce(lab, { crawlId: `faults-${seed}`, seed, faults });
    const told = lab.workers.map((worker) => worker.log()).join('\n');
    expect(run.violations, `${faults.map(({ name }) => name).join('\n')}\n${told}`).toEqual([]);
    expect(run.injected.map(({ fault }) => fault)).toEqual(faults.map(({ name }) => name));
    expect(run.pages).toBeGreaterThan(20);
  },
);

function deal<T>(cards: readonly T[], hands: number): T[][] {
  return Array.from({ length: hands }, (_, hand) => cards.filter((_, i) => i % hands === hand));
}
