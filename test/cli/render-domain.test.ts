import { expect, it } from 'vitest';
import { renderDomains } from '../../src/cli/render/domain.ts';
import { newThrottle, toStoredDomain } from '../../src/throttle/index.ts';
import { CONFIG } from '../throttle/support.ts';

const NOW = new Date(2026, 0, 31, 14, 0, 0);

it.each([
  [[], 'idle'],
  [[at(14, 10), at(14, 30)], 'down until 14:30:00'],
  [[at(13, 50)], 'down at last attempt'],
])('a domain without a running throttle shows the outages in its row: %s', (untils, state) => {
  const stored = toStoredDomain(newThrottle('example.org', CONFIG));
  const outages = Object.fromEntries(
    untils.map((until, n) => [
      `http://example.org:${n}`,
      { since: 0, until, failures: 1, error: 'Refused.', validFrom: 1 },
    ]),
  );
  const known = { name: 'example.org', stored: { ...stored, outages }, lastStart: null, writtenAt: NOW };
  const lines = renderDomains([{ domain: 'example.org', live: null, known }], NOW);
  expect(lines.join('\n')).toMatch(new RegExp(`example\\.org +${state} `));
});

function at(hours: number, minutes: number): number {
  return new Date(2026, 0, 31, hours, minutes, 0).getTime();
}
