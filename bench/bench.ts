/**
 * `npm run bench [-- NAME]`: what Amble costs beside what this machine can do at best, in one run. Ratios travel from machine
 * to machine; absolute figures do not.
 */
import { frontier } from './frontier.ts';
import { parse } from './parse.ts';
import { polite } from './polite.ts';
import { rate } from './rate.ts';
import { scale } from './scale.ts';
import { workers } from './workers.ts';

const BENCHES: Record<string, (...args: string[]) => Promise<void>> = {
  rate,
  polite,
  parse,
  frontier,
  scale,
  workers,
};

const name = process.argv[2] ?? 'rate';
const bench = BENCHES[name];
if (bench === undefined) {
  console.error(`There is no benchmark "${name}": choose one of ${Object.keys(BENCHES).join(', ')}.`);
  process.exitCode = 2;
} else {
  await bench(...process.argv.slice(3));
}
