import { expect, test } from 'vitest';
import { loadConfig } from '../../src/config/index.ts';
import { workStatusOf } from '../../src/operator/work-status.ts';

test.each([
  ['an embedded server that is not running', {}, 'no Temporal server is running'],
  [
    'the address of a server that does not answer',
    { TEMPORAL_ADDRESS: 'temporal.internal:7233' },
    'the Temporal server at temporal.internal:7233 does not answer',
  ],
])('a crawl without Temporal is stalled, and its reason names %s', async (_, env, reason) => {
  const config = loadConfig({ env, cwd: '/' });
  expect(await workStatusOf(null, config, ['a', 'b'])).toEqual(
    new Map(['a', 'b'].map((id) => [id, { active: false, reason }])),
  );
});
