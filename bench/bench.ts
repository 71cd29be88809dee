/**
 * `npm run bench [-- NAME]`: compares Amble with the best this machine can do, in the same run. Ratios can be compared
 * between machines; absolute figures cannot.
 */
import { frontier } from './frontier.ts';
import { parse } from './parse.ts';
import { polite } from './polite.ts';
import { rate } from './rate.ts';
import { scale } from './scale.ts';
import { stalls } from './stalls.ts';
import { workers } from './workers.ts';

const BENCHES: Record<string, (...args: string[]) => Promise<void>> = {
  rate,
  polite,
  parse,
  frontier,
  scale,
  stalls,
  workers,
};

const name = process.argv[2] ?? 'rate';
const bench = BENCHES[name];
if (bench === undefined) {
  console.error(`Unknown benchmark "${name}". Choose one of ${Object.keys(BENCHES).join(', ')}.`);
  process.exitCode = 2;
} else {
  await bench(...process.argv.slice(3));
}
