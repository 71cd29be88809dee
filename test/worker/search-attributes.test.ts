import { pino } from 'pino';
import { afterEach, expect, test } from 'vitest';
import { probeSearchAttributes, type SearchAttributeProbe } from '../../src/worker/search-attributes.ts';

const INVALID_ARGUMENT = 3;
const UNAVAILABLE = 14;

let probe: SearchAttributeProbe;
afterEach(() => probe.stop());

/** As the SDK wraps them. */
function refusal(code: number): Error {
  return new Error('Failed to count workflows', { cause: Object.assign(new Error('refused'), { code }) });
}

/** A Temporal server that answers queries with these errors, one after the other, and then with a number. */
async function start(...errors: Error[]): Promise<{ lines: string[]; queries: string[] }> {
  const lines: string[] = [];
  const queries: string[] = [];
  const log = pino({}, { write: (line: string) => void lines.push(JSON.parse(line).msg) });
  const count = async (query: string): Promise<number> => {
    queries.push(query);
    const error = errors.shift();
    if (error) throw error;
    return 0;
  };
  probe = await probeSearchAttributes(count, log, 1);
  return { lines, queries };
}

test('a namespace with the search attributes is asked once, and nothing is logged', async () => {
  const { lines, queries } = await start();
  expect(probe.present).toBe(true);
  expect(lines).toEqual([]);
  expect(queries).toEqual(["AmbleCrawl = 'probe' AND AmbleDomain = 'probe' AND AmbleOutcome = 'probe'"]);
});

test('search attributes that are added later are found, and each answer is logged once', async () => {
  const { lines } = await start(refusal(INVALID_ARGUMENT), refusal(INVALID_ARGUMENT));
  expect(probe.present).toBe(false);
  await expect.poll(() => probe.present).toBe(true);
  expect(lines).toEqual([expect.stringContaining('lacks'), expect.stringContaining('namespace has')]);
});

test('an error of the server does not mean that the search attributes are missing', async () => {
  const { lines } = await start(refusal(UNAVAILABLE));
  await expect.poll(() => probe.present).toBe(true);
  expect(lines).toEqual([
    expect.stringContaining('unknown whether'),
    expect.stringContaining('namespace has'),
  ]);
});
