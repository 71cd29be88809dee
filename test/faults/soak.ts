/**
 * `npm run soak -- --minutes 30 --seed 7`: run after run on one lab, each with the next few faults of a shuffled deck, until
 * the time is up. Prints a table of what was injected and lost, and exits with 1 if anything was lost.
 */
import { parseArgs } from 'node:util';
import { FAULTS } from './faults.ts';
import { createLab } from './lab.ts';
import { renderReport } from './report.ts';
import { type Run, runOnce } from './run.ts';
import { seeded } from './seeded.ts';

const FAULTS_A_RUN = 5;

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '30' },
    seed: { type: 'string', default: '1' },
    workers: { type: 'string', default: '2' },
    /** Only faults whose name has this in it. */
    only: { type: 'string', default: '' },
  },
});
const seed = Number(values.seed);
const workers = Number(values.workers);
const random = seeded(seed);
const faults = FAULTS.filter(({ name }) => name.includes(values.only));
if (faults.length === 0 || !(Number(values.minutes) > 0) || !Number.isInteger(seed) || !(workers >= 1)) {
  console.error(
    'soak takes --minutes (more than 0), --seed (a whole number), --workers and --only (a part of the name of a fault).',
  );
  process.exit(2);
}
const deck: (typeof faults)[number][] = [];
const runs: Run[] = [];

const lab = await createLab({ workers });
console.log(`Seed ${seed}, ${workers} worker(s); the disk is filled by ${lab.disk.means}.`);
const until = performance.now() + Number(values.minutes) * 60_000;
// Leave nothing behind: a lab is two servers, a file system and a handful of processes.
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => void lab.remove().finally(() => process.exit(1)));
}
for (let number = 1; performance.now() < until && !runs.at(-1)?.broken; number += 1) {
  while (deck.length < FAULTS_A_RUN) deck.push(...random.shuffled(faults));
  const run = await runOnce(lab, {
    crawlId: `soak-${seed}-${number}`,
    seed: random.between(0, 2 ** 31),
    faults: deck.splice(0, FAULTS_A_RUN),
  });
  runs.push(run);
  for (const { fault, fromMs } of run.injected) console.log(`  ${new Date(fromMs).toISOString()} ${fault}`);
  console.log(
    `${run.crawlId}: ${run.pages} pages in ${run.seconds.toFixed(0)} s, ${run.repeats.length} fetched again; ${
      run.violations.length === 0 ? 'no violation' : run.violations.join('; ')
    }`,
  );
}
for (const line of renderReport(runs)) console.log(line);
const failed = runs.some(({ violations }) => violations.length > 0);
if (failed) for (const worker of lab.workers) console.error(`--- ${worker.name}\n${worker.log()}`);
await lab.remove();
process.exit(failed ? 1 : 0);
