import { expect, test } from 'vitest';
import { closingLines } from './closing-lines.ts';

test.each([
  [{ passed: 12, failed: 0, skipped: 0 }, '12 passed, 0 failed\n'],
  [{ passed: 12, failed: 1, skipped: 3 }, '3 skipped\n12 passed, 1 failed\n'],
])('a test run ends with exactly "N passed, N failed": %o', (count, lines) => {
  expect(closingLines(count)).toBe(lines);
});
