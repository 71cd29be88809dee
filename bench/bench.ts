/**
 * `npm run bench [-- NAME]`: compares Amble with the best this machine can do, in the same run. Ratios can be compared
 * between machines; absolute figures cannot.
 */
import { BadInput } from '../src/core/errors.ts';
import { compare } from './compare.ts';
import { cost } from './cost.ts';
import { crowd } from './crowd.ts';
import { dashboards } from './dashboards.ts';
import { frontier } from './frontier.ts';
import { parse } from './parse.ts';
import { polite } from './polite.ts';
import { rate } from './rate.ts';
import { scale } from './scale.ts';
import { server } from './server.ts';
import { stalls } from './stalls.ts';
import { start } from './start.ts';
import { storage } from './storage.ts';
import { workers } from './workers.ts';

const BENCHES: Record<string, (...args: string[]) => Promise<void>> = {
  rate,
  polite,
  parse,
  frontier,
  scale,
  stalls,
  start,
  storage,
  workers,
  cost,
  crowd,
  compare,
  server,
  dashboards,
};

const name = process.argv[2] ?? 'rate';
const bench = BENCHES[name];
if (bench === undefined) {
  console.error(`Unknown benchmark "${name}". Choose one of ${Object.keys(BENCHES).join(', ')}.`);
  process.exitCode = 2;
} else {
  try {
    await bench(...process.argv.slice(3));
  } catch (error) {
    if (!(error instanceof BadInput)) throw error;
    console.error(error.message);
    process.exitCode = 2;
  }
}
