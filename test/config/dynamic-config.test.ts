import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { packageRoot } from '../../src/core/package-root.ts';
import { SERVER_SETTINGS } from '../../src/embedded/temporal.ts';

test('the dynamic config file for a server of your own says what the embedded server is told', () => {
  const text = readFileSync(join(packageRoot, 'deploy', 'temporal', 'dynamicconfig.yaml'), 'utf8');
  const settings = [...text.matchAll(/^(\S+):\n {2}- value: (.+)$/gm)].map(([, key, value]) => [key, value]);
  expect(Object.fromEntries(settings)).toEqual(
    Object.fromEntries(Object.entries(SERVER_SETTINGS).map(([key, value]) => [key, String(value)])),
  );
});
