import { expect, test } from 'vitest';
import { MAX_NAME_LENGTH } from '../../src/core/order.ts';
import { cleanName } from '../../src/server/operator-name.tsx';

test('a name for the record has no control characters, which Postgres or a terminal could not take', () => {
  expect(cleanName(' Ada\u0000 \u001b[31mLovelace\u009b\r\n')).toBe('Ada [31mLovelace');
});

test('a name for the record is cut at its limit', () => {
  expect(cleanName('x'.repeat(10_000))).toHaveLength(MAX_NAME_LENGTH);
});
